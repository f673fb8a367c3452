import { randomInt } from 'node:crypto'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type Config, loadConfig } from '../config.ts'
import { StartupError } from '../lib/errors.ts'

type Listener = { host: string; port: number; prefix: '' | 'OPERATOR_' }

const sentences: Record<string, (listener: Listener) => string> = {
  EADDRINUSE: ({ host, port, prefix }) =>
    `Port ${port} on ${host} is already in use: stop the process that uses it, or choose another ${prefix}PORT.`,
  EACCES: ({ port, prefix }) => `This user may not open port ${port}: choose a ${prefix}PORT of 1024 or above.`,
  EADDRNOTAVAIL: ({ host, prefix }) => `${host} is not an address of this machine: correct ${prefix}HOST.`,
  ENOTFOUND: ({ host, prefix }) => `${host} is not a known host name: correct ${prefix}HOST.`,
  EAI_AGAIN: ({ host, prefix }) => `${host} is not a known host name: correct ${prefix}HOST.`,
}

const explain = (error: NodeJS.ErrnoException, listener: Listener): StartupError => {
  const sentence = sentences[error.code ?? '']?.(listener)
  return new StartupError(sentence ?? `Cannot listen on ${listener.host}:${listener.port} (${error.message}).`, {
    cause: error,
  })
}

export const publicListener = ({ HOST: host, PORT: port }: Config): Listener => ({ host, port, prefix: '' })

export const operatorListener = ({ OPERATOR_HOST: host, OPERATOR_PORT: port }: Config): Listener => ({
  host,
  port,
  prefix: 'OPERATOR_',
})

/** Picks a port below the ephemeral range for port 0, so that no outgoing connection takes it before the service listens. */
const probe = (listener: Listener): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    const listen = () => {
      const port = listener.port || randomInt(10_000, 20_000)
      server.listen({ host: listener.host, port, exclusive: true }, () => resolve(server))
    }
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (listener.port === 0 && error.code === 'EADDRINUSE') listen()
      else reject(explain(error, listener))
    })
    listen()
  })

const portOf = (server: Server) => String((server.address() as AddressInfo).port)

/** Replaces each port 0 with a free port, because public URLs need it, and detects used ports before a database is started. */
export const loadConfigWithPorts = async (variables: Record<string, string | undefined>): Promise<Config> => {
  const requested = loadConfig(variables)
  const open: Server[] = []
  try {
    for (const listener of [publicListener(requested), operatorListener(requested)]) open.push(await probe(listener))
    const [PORT, OPERATOR_PORT] = open.map(portOf)
    return loadConfig({ ...variables, PORT, OPERATOR_PORT })
  } finally {
    await Promise.all(open.map((server) => new Promise((closed) => server.close(closed))))
  }
}

export const listen = (app: Pick<FastifyInstance, 'listen'>, listener: Listener): Promise<string> =>
  app.listen({ host: listener.host, port: listener.port }).catch((error: NodeJS.ErrnoException) => {
    throw explain(error, listener)
  })
