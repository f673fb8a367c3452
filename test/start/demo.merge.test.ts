import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBrowser } from '../harness/browser.ts'
import { createClient } from '../harness/client.ts'
import { createKey, signIn } from '../harness/people.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { compiledOnce, programs } from '../harness/programs.ts'
import { callbackUrl } from '../identity/sign-in/providers.ts'
import { connectAgent } from '../mcp/connect.ts'
import { type CollectedSpan, startCollector } from '../tracing/collector.ts'
import { killAll, patience, spawnServer } from './process.ts'

const source = fileURLToPath(new URL('../../src/dev/demo/demo.ts', import.meta.url))
const admin = fileURLToPath(new URL('../../src/operate/admin/admin.ts', import.meta.url))

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'demo-'))
})
afterAll(async () => {
  await killAll()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const root = fileURLToPath(new URL('../..', import.meta.url))

const run = async (variables: Record<string, string>, program: string, ...words: string[]) => {
  const child = spawn(process.execPath, [program, ...words], {
    // A scene that starts its own service runs where npm would run it.
    cwd: words[0] === 'month' ? root : dataDir,
    env: { PATH: process.env.PATH, ...compiledOnce, ...variables },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, output }
}
const runDemo = (variables: Record<string, string>, ...scene: string[]) => run(variables, programs.demo, ...scene)

describe('npm run demo', patience, () => {
  it('pays to the end several times against one bundled server, whose spans arrive', async () => {
    const collector = await startCollector()
    const variables = { DATABASE_URL: database.url, DATA_DIR: dataDir, SANDBOX_DELAY_MS: '50' }
    const traced = { ...variables, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }
    const server = spawnServer(traced, { command: ['npm', 'start'] })
    const { url, operatorUrl } = await server.ready()
    for (const program of [source, programs.demo]) {
      const { code, output } = await run({ PUBLIC_URL: url }, program)
      expect(output).toContain('All steps succeeded.')
      expect(code).toBe(0)
    }
    const payday = await runDemo({ PUBLIC_URL: url, OPERATOR_PORT: new URL(operatorUrl).port }, 'payday')
    expect(payday.output).toContain('All steps succeeded.')
    const key = await createKey(await signIn(createClient(url)))
    const agent = await connectAgent(url, { bearer: key.key })
    await agent.call('get_balance')
    await agent.close()
    // The end of the process sends the remaining events.
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
    const verified = await run(variables, admin, 'verify')
    expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('0 broken')])
    const byId = new Map(collector.spans.map((span) => [span.spanId, span]))
    const above = (span: CollectedSpan | undefined): string[] => {
      const parent = byId.get(span?.parentSpanId ?? '')
      return parent ? [parent.name, ...above(parent)] : []
    }
    const aboveAny = (name: string) => collector.spans.filter((span) => span.name === name).flatMap(above)
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'payments.create',
        'payments.insert',
        'job payments.MPESA_B2C',
        'rail POST',
        'job deliveries',
        'mcp.call',
      ]),
    )
    expect(aboveAny('rail POST')).toContain('job payments.MPESA_B2C')
    expect(aboveAny('tools/call get_balance')).toContain('mcp.call')
    await collector.close()
  })

  it('plays a month in a new folder, which a later start opens as it was, with every promise kept', async () => {
    const folder = join(dataDir, 'month')
    const played = await runDemo({}, 'month', folder)
    expect(played.output).toContain('All steps succeeded.')
    const again = await runDemo({}, 'month', folder)
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('already exists')])
    const server = spawnServer({ DATA_DIR: folder })
    const { url } = await server.ready()
    const browser = createBrowser()
    const start = `${url}/v1/auth/google/start?return_to=/`
    await browser.step(await callbackUrl(browser, start, { email: 'amina@example.com', name: 'Amina Otieno' }))
    const cookie = browser.cookies.get('service_session') ?? ''
    const read = async (path: string) => (await createClient(url).get(path, { cookie })).body
    const named = (await read('/v1/workspaces')).data.find(
      ({ workspace }: { workspace: { kind: string } }) => workspace.kind === 'team',
    )
    expect(named.workspace.name).toBe('Demo · Kilimo Fresh')
    const inTeam = { cookie, headers: { 'workspace-id': named.workspace.id } }
    const { by_status, by_day } = (await createClient(url).get('/v1/payments/summary', inTeam)).body
    const counts = Object.fromEntries(by_status.map(({ status, count }: { status: string; count: number }) => [status, count]))
    expect(counts).toMatchObject({ pending_approval: 1, rejected: 1, returned: 1, scheduled: 1 })
    expect(counts.failed).toBeGreaterThanOrEqual(3)
    expect(by_day.filter(({ count }: { count: number }) => count > 0).length).toBeGreaterThan(20)
    const verified = await run({ DATA_DIR: folder }, admin, 'verify')
    expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('0 broken')])
  }, 900_000)

  it('fails if a step has an unexpected result, and names the step', async () => {
    // A database of its own: a service does not start with another currency than its amounts have.
    const other = await createTestDatabase()
    const otherDir = await mkdtemp(join(tmpdir(), 'demo-ugx-'))
    const server = spawnServer({ DATABASE_URL: other.url, DATA_DIR: otherDir, SANDBOX_DELAY_MS: '50', CURRENCY: 'UGX' })
    const { url } = await server.ready()
    const { code, output } = await runDemo({ PUBLIC_URL: url })
    expect(output).toContain('"KES"')
    expect(code).toBe(1)
    await killAll()
    await other.drop()
    await rm(otherDir, { recursive: true, force: true })
  })

  it('never runs against real rails or another machine', async () => {
    const elsewhere: Record<string, string>[] = [{ RAILS: 'daraja' }, { PUBLIC_URL: 'https://pay.example' }]
    for (const variables of elsewhere) {
      const { code, output } = await runDemo(variables)
      expect(output).toMatch(/for a service with simulated rails on this machine/)
      expect(code).toBe(1)
    }
  })
})
