import { Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { App, Departure } from './app-type.ts'

/** Once the departure has begun, every answer closes its connection: the client's next request goes to another process. */
export const registerDeparture = (app: App, departure: Departure): void => {
  app.decorate('departure', departure)
  app.addHook('onRequest', (_request, reply, done) => {
    if (departure.hasBegun) reply.header('connection', 'close')
    done()
  })
  app.addHook('preClose', async () => {
    departure.hasBegun = true
  })
}

const drainMs = 5_000
const idlePollMs = 50
/** Even a busy client has sent its request this long after it opened a connection for it. */
const silentMs = 1_000
/** Node's backlog: at most this many connections wait to be accepted, so any later one arrived after the end began. */
const maxWaiting = 511
/** The listener closes after this time even under load that never pauses. */
const quietMs = 3_000

/**
 * Ends the process without losing a request, except one that arrives on an idle connection as it is closed. Closing the listener
 * resets connections that wait to be accepted: their requests were sent and may not be repeated. Node accepts one a turn, so the
 * listener closes after a turn in which none came. Requests under way may finish within a limit. Node then waits for connections
 * that become idle later, and for those that a browser opened and never used. Both are closed here, directly after everything
 * that arrived was read.
 */
export const registerDrain = (app: App): void => {
  const accepted = new Map<Socket, number>()
  let acceptedCount = 0
  let timers: NodeJS.Timeout[] = []
  const closeIdle = () => {
    app.server.closeIdleConnections()
    const before = performance.now() - silentMs
    for (const [socket, at] of accepted) if (socket.bytesRead === 0 && at < before) socket.destroy()
  }
  const untilQuiet = async () => {
    const giveUp = performance.now() + quietMs
    const maxAccepted = acceptedCount + maxWaiting
    // The turn under way may already have looked at the listener.
    await turn()
    for (let count = -1; count !== acceptedCount && acceptedCount < maxAccepted && performance.now() < giveUp; ) {
      count = acceptedCount
      await turn()
    }
  }
  app.server.on('connection', (socket: Socket) => {
    acceptedCount += 1
    accepted.set(socket, performance.now())
    socket.on('close', () => accepted.delete(socket))
  })
  app.addHook('preClose', async () => {
    await untilQuiet()
    // Fastify closes the rest of the server after all hooks of this kind.
    if (app.server.listening) Server.prototype.close.call(app.server)
    timers = [setInterval(() => setImmediate(closeIdle), idlePollMs), setTimeout(() => app.server.closeAllConnections(), drainMs)]
  })
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer)
  })
}
