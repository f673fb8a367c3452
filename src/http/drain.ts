import { Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { App, Shutdown } from './app-type.ts'

/** Once the process is leaving, every response closes its connection: the client's next request reaches another process. */
export const registerShutdown = (app: App, shutdown: Shutdown): void => {
  app.decorate('shutdown', shutdown)
  app.addHook('onRequest', (_request, reply, done) => {
    if (shutdown.hasBegun) reply.header('connection', 'close')
    done()
  })
  app.addHook('preClose', async () => {
    shutdown.hasBegun = true
  })
}

const drainMs = 5_000
const idlePollMs = 50
/** Even a slow client has sent its request this long after opening a connection for it. */
const unusedConnectionMs = 1_000
/** Node's backlog: at most this many connections can wait to be accepted, so any later one arrived after shutdown began. */
const maxWaiting = 511
/** The listener closes after this time even if new connections keep arriving. */
const maxAcceptMs = 3_000

/**
 * Shuts down without losing requests, except one that arrives on an idle connection while it is being closed. Closing the
 * listener resets connections that are waiting to be accepted, although their requests were sent and may not be repeatable. Node
 * accepts one per turn, so the listener closes after a turn without a new connection. Running requests may finish within a time
 * limit. Node would then wait for connections that become idle later or that a browser opened but never used: this hook closes
 * both, after reading everything that has arrived.
 */
export const registerDrain = (app: App): void => {
  const accepted = new Map<Socket, number>()
  let acceptedCount = 0
  let timers: NodeJS.Timeout[] = []
  const closeIdle = () => {
    app.server.closeIdleConnections()
    const before = performance.now() - unusedConnectionMs
    for (const [socket, at] of accepted) if (socket.bytesRead === 0 && at < before) socket.destroy()
  }
  const untilQuiet = async () => {
    const giveUp = performance.now() + maxAcceptMs
    const maxAccepted = acceptedCount + maxWaiting
    // The current turn may already have polled the listener.
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
    // Fastify closes the rest of the server after all preClose hooks.
    if (app.server.listening) Server.prototype.close.call(app.server)
    timers = [setInterval(() => setImmediate(closeIdle), idlePollMs), setTimeout(() => app.server.closeAllConnections(), drainMs)]
  })
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer)
  })
}
