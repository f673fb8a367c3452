import type { Socket } from 'node:net'
import type { App } from './app-type.ts'

const drainMs = 5_000
const idlePollMs = 50

/**
 * What is under way when the listener closes may finish, for so long. Node closes the connections that are idle at that moment. Two
 * kinds it would wait for: one that becomes idle later, because its last request was answered, and one that was opened in advance, as
 * browsers do, and never asked for anything.
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
