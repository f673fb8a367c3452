import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Caller, refreshTokens } from './callers.ts'
import { type Load, measure, type Timing } from './load.ts'
import { measured } from './operation-list.ts'
import { type Bench, type Started, startProgram } from './processes.ts'
import type { Notes } from './results.ts'

/** Installed into the bench's own folder for the run: never dependencies of the service. */
const packages = ['better-auth@1.7.5', '@better-auth/api-key@1.7.5', 'oidc-provider@9', 'viem@2', 'pg@8', 'fastify@5']

/** P5, on the same Postgres, in turn. */
export const measurePeers = async (bench: Bench, service: Started, callers: readonly Caller[], notes: Notes, timing: Timing) => {
  const folder = join(bench.folder, 'peers')
  await mkdir(folder)
  const install = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', folder, ...packages]
  await promisify(execFile)('npm', install, { maxBuffer: 1e7 })
  await cp(fileURLToPath(new URL('./peer-servers.ts', import.meta.url)), join(folder, 'servers.mts'))
  const peers = await startProgram([join(folder, 'servers.mts'), bench.databaseUrl], {}, folder)
  const { authUrl, key, tokens, ...oidc } = JSON.parse(peers.line)
  const load = { url: service.url, connections: 32, seconds: timing.seconds }
  // Ours waits before it answers, so that fewer connections would measure the wait.
  const rotating = { ...load, kind: 'refresh', connections: 256 } as const
  const check = measured['workspaces.current']
  const checks: Load = { ...load, kind: 'requests', requests: check ? callers.map(check.request) : [] }
  const ours = { path: '/v1/oauth/token', clientId: callers[0]?.client ?? '' }
  type Side = () => Load | Promise<Load>
  const pairs: readonly (readonly [name: string, goal: string, ours: Side, theirs: Side])[] = [
    [
      "check of an API key ÷ better-auth's",
      '≥ 8',
      () => checks,
      () => ({ ...load, url: authUrl, kind: 'requests', requests: [{ method: 'GET', path: '/check', credential: key }] }),
    ],
    [
      "rotation of a refresh token ÷ oidc-provider's",
      '≥ 2',
      async () => ({ ...rotating, ...ours, tokens: await refreshTokens(bench, service.url, callers.slice(0, 256)) }),
      () => ({ ...rotating, ...oidc, tokens: tokens.splice(0, 256) }),
    ],
    [
      "sign-in with a wallet ÷ better-auth's",
      '≥ 2',
      () => ({ ...load, kind: 'sign_in' }),
      () => ({ ...load, url: authUrl, kind: 'siwe' }),
    ],
  ]
  for (const [name, goal, mine, theirs] of pairs) {
    for (const side of [mine, theirs]) await measure({ ...(await side()), seconds: timing.warmSeconds })
    for (let round = 1; round <= timing.rounds; round += 1)
      notes.note(name, (await measure(await mine())).perSecond / (await measure(await theirs())).perSecond, goal)
  }
  for (let round = 1; round <= timing.rounds; round += 1) {
    const alone = await measure({ ...checks, connections: 4 })
    const signIns = measure({ ...load, kind: 'sign_in', perSecond: 100 })
    const beside = await measure({ ...checks, connections: 4 })
    notes.note("ms more at a reading's p99 with 100 sign-ins a second", beside.p99Ms - alone.p99Ms, '≤ 5')
    await signIns
  }
  await peers.stop()
}
