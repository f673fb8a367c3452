import type { App } from './app-type.ts'

const drainMs = 5_000
const idlePollMs = 50

/**
 * What is under way when the listener closes may finish, for so long. Node closes the connections that are idle at that moment;
 * one that becomes idle later, because its last request was answered, would be waited for until its client lets go.
 */
export const registerDrain = (app: App): void => {
  let timers: NodeJS.Timeout[] = []
  app.addHook('preClose', async () => {
    timers = [
      setInterval(() => app.server.closeIdleConnections(), idlePollMs),
      setTimeout(() => app.server.closeAllConnections(), drainMs),
    ]
  })
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer)
  })
}
