import type { Socket } from 'node:net'
import type { App } from './app-type.ts'

const drainMs = 5_000
const idlePollMs = 50

/**
 * Requests under way when the listener closes may finish within a limit. Node closes connections that are idle at that moment, but waits
 * for two other kinds: one that becomes idle later, after its last answer, and one that a browser opened in advance and never used. This
 * closes both.
 */
export const registerDrain = (app: App): void => {
  const sockets = new Set<Socket>()
  let timers: NodeJS.Timeout[] = []
  const closeIdle = () => {
    app.server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('preClose', async () => {
    timers = [setInterval(closeIdle, idlePollMs), setTimeout(() => app.server.closeAllConnections(), drainMs)]
  })
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer)
  })
}
