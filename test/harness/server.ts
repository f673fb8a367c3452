import { request } from 'node:http'
import { startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'

export type RunningServer = { kind: 'configured' | 'container' | 'embedded'; adminUrl: string; stop: () => Promise<void> }

/** TEST_DATABASE_URL, else a container if a Docker daemon answers, else npm's Postgres with its data in `dataDir`. */
export const startTestServer = async (dataDir: string): Promise<RunningServer> => {
  const configured = process.env.TEST_DATABASE_URL
  if (configured) return { kind: 'configured', adminUrl: configured, stop: async () => undefined }
  if (await dockerAnswers()) {
    try {
      return await startContainer()
    } catch (error) {
      // Tests still run if the daemon has no registry to pull from.
      console.warn(`tests: no container (${error instanceof Error ? error.message : error}), taking the embedded PostgreSQL`)
    }
  }
  return startEmbedded(dataDir)
}

const startEmbedded = async (dataDir: string): Promise<RunningServer> => {
  const server = await startEmbeddedPostgres({ dataDir, durable: false })
  return { kind: 'embedded', adminUrl: server.url, stop: server.stop }
}

const startContainer = async (): Promise<RunningServer> => {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer('postgres:18-alpine')
    .withEnvironment({ POSTGRES_USER: 'payments', POSTGRES_PASSWORD: 'payments', POSTGRES_DB: 'payments' })
    .withCommand([
      'postgres',
      '-c',
      'fsync=off',
      '-c',
      'synchronous_commit=off',
      '-c',
      'full_page_writes=off',
      '-c',
      'max_connections=200',
    ])
    .withTmpFs({ '/var/lib/postgresql': 'rw' })
    .withExposedPorts(5432)
    // Twice: the image starts a first server for its own set-up.
    .withWaitStrategy(Wait.forLogMessage('database system is ready to accept connections', 2))
    .withStartupTimeout(60_000)
    .start()
  const adminUrl = `postgresql://payments:payments@${container.getHost()}:${container.getMappedPort(5432)}/payments`
  return { kind: 'container', adminUrl, stop: async () => void (await container.stop()) }
}

/** Asks the daemon itself, because a docker command or a socket file without a daemon is common. */
const dockerAnswers = () => {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  const target = host.startsWith('unix://')
    ? { socketPath: host.slice('unix://'.length) }
    : { host: URL.parse(host)?.hostname ?? '', port: URL.parse(host)?.port ?? '' }
  return new Promise<boolean>((answer) => {
    const probe = request({ ...target, path: '/_ping', signal: AbortSignal.timeout(1_000) }, (response) => {
      response.resume()
      answer(response.statusCode === 200)
    })
    probe.once('error', () => answer(false))
    probe.end()
  })
}
