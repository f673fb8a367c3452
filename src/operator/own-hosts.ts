import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-type.ts'

const loopback = ['localhost', '127.0.0.1', '[::1]']

/** The name in a Host header, without its port. */
const nameIn = (host: string): string => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

/** An IPv4 client of a dual-stack socket has `::ffff:` before its address. */
const localName = ({ socket }: FastifyRequest): string => {
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? ''
  return address.includes(':') ? `[${address}]` : address
}

/**
 * Answers 403 to a request for another host: a page whose name was pointed at this address could otherwise read metrics and move the sandbox's
 * clock from a browser behind our firewall. Browsers always send `Host`, so a probe without one is answered.
 */
export const registerOwnHosts = (app: App, config: { operatorUrl: string; OPERATOR_ALLOWED_HOSTS: readonly string[] }): void => {
  const own = new Set([...loopback, nameIn(new URL(config.operatorUrl).host), ...config.OPERATOR_ALLOWED_HOSTS.map(nameIn)])
  app.addHook('onRequest', (request, reply, done) => {
    const { host } = request.headers
    if (host === undefined || own.has(nameIn(host)) || nameIn(host) === localName(request)) return done()
    void reply.code(403).send({ error: 'forbidden', message: 'This listener has no such host name: OPERATOR_ALLOWED_HOSTS.' })
  })
}
