import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Client, createClient } from '../harness/client.ts'
import { connected } from '../harness/connected.ts'
import { createKey, newWallet, signIn, walletMessage } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { startReplicated } from '../harness/replicated.ts'
import { killAll, type ServerProcess, spawnServer } from '../start/process.ts'
import { deploy, isInstalled, makeCertificate, run } from './balancer.ts'
import { freePlaces, type Place } from './pair.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const end of ends.splice(0).toReversed()) await end()
})

const newFolder = async (name: string) => {
  const folder = await mkdtemp(join(tmpdir(), name))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** deploy/cells/haproxy.cfg before two cells, with two host names of this machine. */
const startProxy = async (one: readonly [Place, Place], two: readonly [Place, Place]) => {
  const folder = await newFolder('cells-')
  const { key, certificate } = makeCertificate(folder)
  await mkdir(join(folder, 'certificates'))
  await writeFile(join(folder, 'certificates', 'both.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
  await writeFile(join(folder, 'cells.map'), 'localhost one\n127.0.0.1 two\n')
  const [http, https, callbacks] = [await freePort(), await freePort(), await freePort()]
  const placed = Object.entries({ ONE: one, TWO: two }).flatMap(([name, [a, b]]) => [
    [`${name}_A`, `127.0.0.1:${a.port}`],
    [`${name}_B`, `127.0.0.1:${b.port}`],
    [`${name}_OPERATOR_A`, `127.0.0.1:${a.operatorPort}`],
    [`${name}_OPERATOR_B`, `127.0.0.1:${b.operatorPort}`],
  ])
  const haproxy = run('haproxy', ['-db', '-f', deploy('cells/haproxy.cfg')], {
    ...Object.fromEntries(placed),
    PUBLIC_HTTP: `127.0.0.1:${http}`,
    PUBLIC_HTTPS: `127.0.0.1:${https}`,
    CALLBACKS_HTTPS: `127.0.0.1:${callbacks}`,
    CERTIFICATES: join(folder, 'certificates'),
    CELLS: join(folder, 'cells.map'),
    MAXCONN_CELL: '8',
  })
  ends.push(haproxy.stop)
  const address = (host: string) => ({ PUBLIC_URL: `https://${host}:${https}`, OPERATOR_URL: `https://${host}:${callbacks}` })
  return { certificate, isUp: (server: string) => haproxy.waitFor(new RegExp(`${server} is UP`)), address, https }
}

type Cell = { settings: Record<string, string>; api: Client; server: ServerProcess }

const startCell = async (settings: Record<string, string>, { port, operatorPort }: Place): Promise<Cell> => {
  // The demo pays in at the private listener.
  const own = { ...settings, OPERATOR_PORT: String(operatorPort) }
  const server = spawnServer({ ...own, PORT: String(port) })
  await server.waitForOutput(/is ready after/)
  return { settings: own, api: createClient(settings.PUBLIC_URL ?? ''), server }
}

const ended = async (program: string, settings: Record<string, string>, ...words: string[]) => {
  const process = spawnServer(settings, { command: [globalThis.process.execPath, program, ...words] })
  const { code } = await process.ended
  return { code, said: process.stdout() + process.stderr() }
}
const play = async ({ settings }: Cell, scene: string) =>
  expect(await ended(programs.demo, settings, scene)).toEqual({ code: 0, said: expect.stringContaining('All steps succeeded') })

type Sums = Record<string, readonly [bigint, bigint]>
const day = () => new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Nairobi' }).format()
const query = readFileSync(deploy('cells/report.sql'), 'utf8').replaceAll(":'zone'", `'Africa/Nairobi'`)
/** The report's line for each kind, rail, status and currency: count and minor units. */
const report = async (url: string, days: ReadonlySet<string>): Promise<Sums[]> =>
  connected(url, async (client) => {
    const sums: Sums[] = []
    for (const one of days) {
      const { rows } = await client.query(query.replaceAll(":'day'", `'${one}'`))
      sums.push(
        Object.fromEntries(
          rows.map((row) => [[row.kind, row.by, row.status, row.currency].join(' '), [BigInt(row.entries), BigInt(row.minor)]]),
        ),
      )
    }
    return sums
  })
const addUp = (parts: readonly Sums[]): Sums => {
  const sums: Record<string, [bigint, bigint]> = {}
  for (const [name, [entries, minor]] of parts.flatMap((part) => Object.entries(part))) {
    const [before, amount] = sums[name] ?? [0n, 0n]
    sums[name] = [before + entries, amount + minor]
  }
  return sums
}

const missing = !isInstalled('haproxy')
if (missing) process.stderr.write('haproxy is not installed here: deploy/cells/haproxy.cfg is not run\n')
test.skipIf(missing)(
  'two cells behind one proxy share nothing, and one moves to another server',
  { timeout: 240_000 },
  async () => {
    const [first, second] = [await freePlaces(), await freePlaces()]
    const proxy = await startProxy(first, second)
    const days = new Set([day()])
    const plain = await createTestDatabase()
    ends.push(plain.drop)
    const servers = await startReplicated({ synchronous: true, prepare: async () => undefined })
    ends.push(servers.close)
    const settingsOf = async (host: string, url: string) => ({
      ...proxy.address(host),
      DATABASE_URL: url,
      DATA_DIR: await newFolder('cell-'),
      TRUST_PROXY: '127.0.0.1',
      SANDBOX_DELAY_MS: '30',
      NODE_EXTRA_CA_CERTS: proxy.certificate,
    })
    const one = await startCell(await settingsOf('localhost', plain.url), first[0])
    let two = await startCell(await settingsOf('127.0.0.1', servers.url), second[0])
    await Promise.all(['one/a', 'two/a', 'one-callbacks/a', 'two-callbacks/a'].map(proxy.isUp))
    for (const cell of [one, two]) for (const scene of ['payment', 'payday']) await play(cell, scene)

    // A person in two cells has two accounts. Their signatures and credentials in one are worth nothing in the other.
    const wallet = newWallet()
    const [here, there] = [await signIn(one.api, wallet), await signIn(two.api, wallet)]
    expect(here.accountId).not.toBe(there.accountId)
    const key = await createKey(here)
    for (const credentials of [{ bearer: key.key }, { cookie: here.cookie }])
      expect((await two.api.as(credentials).get('/v1/accounts/me')).status).toBe(401)
    expect((await one.api.as({ bearer: key.key }).get('/v1/accounts/me')).status).toBe(200)
    const message = await walletMessage(one.api, wallet)
    const signed = { message, signature: await wallet.signMessage({ message }) }
    expect((await two.api.post('/v1/auth/wallet/verify', signed)).status).toBe(401)
    expect((await one.api.post('/v1/auth/wallet/verify', signed)).status).toBe(200)
    for (const cell of [one, two]) {
      const { body } = await cell.api.get('/.well-known/oauth-authorization-server')
      expect(new URL(body.issuer).origin).toBe(cell.api.url)
    }
    const stranger = { headers: { host: 'three.pay.example' } }
    expect(await one.api.get('/v1/accounts/me', stranger)).toMatchObject({ status: 421, body: { error: 'not_found' } })

    // A hanging cell fills its own share of the proxy, and the other one serves.
    one.server.kill('SIGSTOP')
    const waiting = Array.from({ length: 12 }, () => one.api.get('/healthz'))
    const refused = await Promise.any(
      waiting.map(async (asked) => {
        const answer = await asked
        if (answer.status !== 503) throw new Error(answer.text)
        return answer
      }),
    )
    expect(refused).toMatchObject({ body: { error: 'unavailable' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await there.api.get('/v1/accounts/me')).status).toBe(200)
    one.server.kill('SIGCONT')
    await Promise.all(waiting)

    // The cell moves: its processes end, its standby is promoted, and they start elsewhere with their send logs.
    two.server.kill('SIGTERM')
    expect(await two.server.ended).toEqual({ code: 0, signal: null })
    await servers.failOver()
    const DATA_DIR = await newFolder('moved-')
    await cp(two.settings.DATA_DIR ?? '', DATA_DIR, { recursive: true })
    two = await startCell({ ...two.settings, DATA_DIR }, second[1])
    await Promise.all(['two/b', 'two-callbacks/b'].map(proxy.isUp))
    expect((await there.api.get('/v1/accounts/me')).body.id).toBe(there.accountId)
    await play(two, 'payday')

    days.add(day())
    const [ofOne, ofTwo] = [addUp(await report(plain.url, days)), addUp(await report(servers.url, days))]
    expect(ofOne).toMatchObject({
      'payment MPESA_B2C succeeded KES': [50n, 117_625_000n],
      'topup MPESA_STK succeeded KES': [1n, 100_000n],
    })
    expect(addUp([ofOne, ofTwo])).toMatchObject({
      'payment MPESA_B2C succeeded KES': [149n, 352_850_000n],
      'payment MPESA_B2C failed KES': [3n, 9_075_000n],
    })
    for (const cell of [one, two])
      expect(await ended(programs.admin, cell.settings, 'verify')).toMatchObject({
        code: 0,
        said: expect.stringContaining('0 broken'),
      })
  },
)
