import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { migrate } from '../../src/db/migrate.ts'
import { runningPostmaster } from '../../src/dev/embedded-postgres/postmaster.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { type SilentProxy, startSilentProxy } from '../harness/silent-proxy.ts'
import { findBreaches } from '../harness/verify.ts'

const run = promisify(execFile)
const leftWithinMs = 10_000

let folder: string
let server: EmbeddedPostgres
let peer: SilentProxy
let service: TestService
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frozen-'))
  // For root, the server runs as another user, who needs access.
  await chmod(folder, 0o755)
  server = await startEmbeddedPostgres({ dataDir: folder })
  await migrate(server.url)
  peer = await startSilentProxy(server.url)
  const { DATABASE_STATEMENT_TIMEOUT_MS, REQUEST_TIMEOUT_MS } = loadConfig({ NODE_ENV: 'test' })
  service = await startService({
    database: { url: peer.url, drop: async () => undefined },
    fixed: { DATABASE_STATEMENT_TIMEOUT_MS, REQUEST_TIMEOUT_MS },
  })
})
afterEach(async () => {
  await service.close()
  await service.sandbox.close()
  await peer.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const person = async () => {
  const { api, accountId } = await signIn(service.api)
  await credit(service, accountId, 1_000_000n)
  const beneficiary_id = await newBeneficiary(api)
  const pay = (key: string) => api.post('/v1/payments', { beneficiary_id, amount_minor: '100000' }, { key })
  return { api, pay }
}

/** Signals the server and all of its processes. */
const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
  const running = await runningPostmaster(join(folder, 'cluster', 'data'))
  if (!running) throw new Error('no server is running')
  const { stdout } = await run('pgrep', ['-P', String(running.pid)])
  for (const each of [running.pid, ...stdout.trim().split('\n').map(Number)]) process.kill(each, signal)
}

const timed = async <T>(work: Promise<T>): Promise<{ result: T; ms: number }> => {
  const from = performance.now()
  return { result: await work, ms: performance.now() - from }
}

test('a server that is frozen is left within ten seconds, with the settings as they come: 503, and it goes on when the server does', async () => {
  const { api, pay } = await person()
  expect((await pay('before')).status).toBe(201)
  await signalAll('SIGSTOP')
  const answers = await Promise.all([timed(pay('frozen')), timed(api.get('/v1/payments'))]).finally(() => signalAll('SIGCONT'))
  expect(answers.map(({ result }) => result.status)).toEqual([503, 503])
  for (const { ms } of answers) expect(ms).toBeLessThan(leftWithinMs)
  await expect.poll(async () => (await pay('frozen')).status).toBe(201)
  await service.settle()
  expect(await findBreaches(service)).toEqual([])
})

test('connections that fall silent are left within ten seconds: new ones lead to the server that answers, and the same key has one effect', async () => {
  const { api, pay } = await person()
  const first = await pay('before')
  expect(first.status).toBe(201)
  peer.silence()
  peer.serveNew()
  const answers = await Promise.all([timed(pay('silent')), timed(api.get('/v1/payments'))])
  expect(answers.map(({ result }) => result.status)).toEqual([503, 503])
  for (const { ms } of answers) expect(ms).toBeLessThan(leftWithinMs)
  await expect.poll(async () => (await pay('silent')).status).toBe(201)
  expect((await pay('before')).body.id).toBe(first.body.id)
  await service.settle()
  expect(await findBreaches(service)).toEqual([])
})
