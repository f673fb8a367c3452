import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { asked, compare, type Load, measure, type Run } from './load.ts'
import { freeUrl, start } from './processes.ts'

/** Installed into the bench's own folder for the run, never dependencies of the service. */
const packages = ['better-auth@1.7.5', '@better-auth/api-key@1.7.5', 'oidc-provider@9', 'viem@2', 'pg@8', 'fastify@5']

/** P5, on the same Postgres, in turn. */
export const measurePeers = async (run: Run): Promise<void> => {
  const { bench, service, readers, notes, size } = run
  const folder = join(bench.folder, 'peers')
  await mkdir(folder)
  const install = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', folder, ...packages]
  await promisify(execFile)('npm', install, { maxBuffer: 1e7 })
  await cp(join(import.meta.dirname, 'peer-servers.ts'), join(folder, 'servers.mts'))
  const peers = await start([join(folder, 'servers.mts'), bench.databaseUrl], await freeUrl())
  const { key, ...theirTokens } = JSON.parse(await (await fetch(`${peers.url}/readyz`)).text())
  const ours = { url: service.url, connections: 32 }
  const theirs = { ...ours, url: peers.url }
  const checks = asked(run, 'workspaces.current', service, readers)
  const theirChecks: Load = { ...theirs, kind: 'requests', requests: [{ method: 'GET', path: '/check', credential: key }] }
  await compare(run, "check of an API key ÷ better-auth's", '≥ 8', checks, theirChecks)
  const tokens = readers.slice(0, 256).map(({ refreshToken }) => refreshToken)
  // Our server waits before it answers: few connections would measure the wait.
  const rotation = { kind: 'refresh', connections: tokens.length } as const
  const rotations: Load = { ...ours, ...rotation, path: '/v1/oauth/token', clientId: readers[0]?.client ?? '', tokens }
  const theirRotations: Load = { ...theirs, ...rotation, ...theirTokens }
  await compare(run, "rotation of a refresh token ÷ oidc-provider's", '≥ 2', rotations, theirRotations)
  const signIns: Load = { ...ours, kind: 'sign_in' }
  await compare(run, "sign-in with a wallet ÷ better-auth's", '≥ 2', signIns, { ...theirs, kind: 'siwe' })
  for (let round = 1; round <= size.rounds; round += 1) {
    const alone = await measure({ ...checks, connections: 4 }, size.seconds)
    const signingIn = measure({ ...signIns, perSecond: 100 }, size.seconds)
    const beside = await measure({ ...checks, connections: 4 }, size.seconds)
    notes.note("ms more at a reading's p99 with 100 sign-ins a second", beside.p99Ms - alone.p99Ms, '≤ 5')
    await signingIn
  }
  await peers.stop()
}
