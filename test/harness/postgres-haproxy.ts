import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { connected } from './connected.ts'
import { freePort } from './ports.ts'

type Member = { port: number; restPort: number }

/** haproxy with the file of `deploy/`, before a cluster's members: one port that leads to the primary. */
export const startHaproxy = async (members: readonly Member[]) => {
  const port = await freePort()
  const settings = ['ONE', 'TWO', 'THREE'].flatMap((name, index): [string, string][] => {
    const member = members[index]
    return [
      [`POSTGRES_${name}`, `127.0.0.1:${member?.port ?? 1}`],
      [`PATRONI_${name}`, String(member?.restPort ?? 1)],
    ]
  })
  const env = { PATH: process.env.PATH, POSTGRES: `127.0.0.1:${port}`, ...Object.fromEntries(settings) }
  const haproxy = spawn('haproxy', ['-db', '-f', 'deploy/haproxy/postgres.cfg'], { env, stdio: 'ignore' })
  return {
    port,
    close: async () => {
      haproxy.kill('SIGTERM')
      if (haproxy.exitCode === null) await new Promise((ended) => haproxy.once('exit', ended))
    },
  }
}

/** Patroni's answer at `/primary`, from the server itself. */
export const startHealthCheck = async (url: string) => {
  const server = createServer((_, response) => {
    void connected(url, (client) => client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby'))
      .then(({ rows }) => (rows[0]?.standby ? 503 : 200))
      .catch(() => 503)
      .then((status) => response.writeHead(status).end())
  })
  const restPort = await freePort()
  await new Promise<void>((ready) => server.listen(restPort, '127.0.0.1', ready))
  return { restPort, close: () => new Promise((closed) => server.close(closed)) }
}
