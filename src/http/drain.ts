import { Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { App, Departure } from './app-type.ts'

/** From its beginning every answer closes its connection: the client's next request goes to another process. */
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
/** Who opens a connection for a request sends it at once; also a busy machine at the other side has sent it by then. */
const silentMs = 1_000
/** The most connections that wait to be accepted: Node's backlog. Who came after as many as that did not wait when the end began. */
const mostWaiting = 511
/** Under load that never pauses the listener closes all the same. */
const quietMs = 3_000

/**
 * Ends the process without losing a request, as far as it can decide that itself:
 *
 * - Closing the listener resets the connections that the system has accepted and Node has not: it takes one a turn of its event loop. Their
 *   requests have been sent, and a balancer may not repeat them. So the listener closes in the turn after which none waits.
 * - Requests under way may finish within a limit, and a connection whose request has not arrived yet waits for it.
 * - Node closes the connections that are idle when the listener closes. It waits for two other kinds, which this closes: one that becomes
 *   idle later, after its last answer, and one that a browser opened in advance and never used. Connections are closed only directly after all
 *   that arrived was read.
 *
 * What remains is a request that is on its way on an idle connection in the moment in which that is closed.
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
  /** Until a whole turn of the event loop found no connection to accept. */
  const untilQuiet = async () => {
    const giveUp = performance.now() + quietMs
    const mostAccepted = acceptedCount + mostWaiting
    // The turn that has begun may have looked at the listener already.
    await turn()
    for (let count = -1; count !== acceptedCount && acceptedCount < mostAccepted && performance.now() < giveUp; ) {
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
    // The listener alone: Fastify closes the rest of the server after all hooks of this kind.
    if (app.server.listening) Server.prototype.close.call(app.server)
    timers = [setInterval(() => setImmediate(closeIdle), idlePollMs), setTimeout(() => app.server.closeAllConnections(), drainMs)]
  })
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer)
  })
}
