import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { checkInstallation } from '../../src/db/installation.ts'
import { withClient } from '../../src/db/start.ts'
import { StartupError } from '../../src/lib/errors.ts'
import { parseKeyRing } from '../../src/lib/key-ring.ts'
import { withFiles } from '../../src/process/environment.ts'
import { adapter as daraja } from '../../src/rails/daraja/adapter.ts'
import { startPostgresProxy } from '../faults/postgres-proxy.ts'
import { connected } from '../harness/connected.ts'
import { freePort } from '../harness/ports.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { makeCertificate } from '../operations/balancer.ts'
import { killAll, patience, type SpawnOptions, spawnServer } from './process.ts'

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'refusals-'))
  database = await createTestDatabase()
})
afterEach(killAll)
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** The whole standard error of a failing start: one sentence, and nothing on standard output. */
const refusal = async (variables: Record<string, string>, options?: SpawnOptions): Promise<string> => {
  const server = spawnServer({ DATA_DIR: folder, ...variables }, options)
  expect(await server.ended).toEqual({ code: 1, signal: null })
  expect(server.stdout()).toBe('')
  expect(server.stderr()).toMatch(/^[^\n]+\n$/)
  return server.stderr().trim()
}

const listenSomewhere = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: String((server.address() as AddressInfo).port), close: () => server.close() }
}

const closedPort = async () => String(await freePort())

const key = () => `k:${randomBytes(32).toString('base64')}`
const needed = ['ENCRYPTION_KEYS', 'TOKEN_SECRETS', 'ORDER_KEY', 'RECEIPT_KEYS', 'PUBLIC_URL', 'RAILS', 'SIGN_UP', 'DATABASE_URL']
const production = () => ({
  NODE_ENV: 'production',
  ENCRYPTION_KEYS: key(),
  TOKEN_SECRETS: key(),
  RECEIPT_KEYS: key(),
  ORDER_KEY: key(),
  PUBLIC_URL: 'https://pay.example',
  RAILS: 'sandbox',
  SIGN_UP: 'invited',
  DATABASE_URL: database.url,
})

describe('a start that cannot succeed ends with one sentence and a failure', patience, () => {
  it.each([['PORT'], ['OPERATOR_PORT']])('when the port of %s is taken, naming both', async (variable) => {
    const taken = await listenSomewhere()
    expect(await refusal({ [variable]: taken.port })).toBe(
      `Port ${taken.port} on 127.0.0.1 is already in use: stop the process that uses it, or choose another ${variable}.`,
    )
    taken.close()
  })

  it('when both listeners have the same port', async () => {
    const port = await closedPort()
    expect(await refusal({ PORT: port, OPERATOR_PORT: port })).toContain('OPERATOR_PORT')
  })

  it('when the host is not an address of this machine', async () => {
    expect(await refusal({ HOST: '192.0.2.1' })).toBe('192.0.2.1 is not an address of this machine: correct HOST.')
  })

  it('when the data folder cannot be written', async () => {
    const below = join(folder, 'a-file', 'data')
    await writeFile(join(folder, 'a-file'), '')
    const sentence = await refusal({ DATA_DIR: below })
    expect(sentence).toContain(`The data folder ${below} is not writable (ENOTDIR`)
    expect(sentence).toContain('choose another DATA_DIR.')
  })

  it('when nothing answers at DATABASE_URL, without printing its password', async () => {
    const port = await closedPort()
    const sentence = await refusal({ DATABASE_URL: `postgresql://somebody:hidden@127.0.0.1:${port}/payments` })
    expect(sentence).toBe(
      `The database payments at 127.0.0.1:${port} cannot be used (ECONNREFUSED): start it, or correct DATABASE_URL.`,
    )
  })

  it('when an address of the database is malformed, in a sentence without its password', async () => {
    const sentence = await refusal({
      DATABASE_URL: 'postgres://u:hidden@h1,h2/payments',
      DATABASE_READ_URL: 'postgres://u:hidden@h1:port/payments',
    })
    expect(sentence).toContain(
      'DATABASE_URL: it names several servers: use one address that leads to the primary, such as that of haproxy',
    )
    expect(sentence).toContain('DATABASE_READ_URL: "h1:port" is not host:port')
    expect(sentence).not.toContain('hidden')
  })

  it('when the database does not know the user or the password', async () => {
    const url = new URL(database.url)
    url.username = 'stranger'
    url.password = 'hidden'
    const sentence = await refusal({ DATABASE_URL: url.href })
    expect(sentence).toContain('rejects the user or password: correct DATABASE_URL.')
    expect(sentence).not.toContain('hidden')
  })

  it('when there is no such database', async () => {
    const url = new URL(database.url)
    url.pathname = '/no_such_database'
    expect(await refusal({ DATABASE_URL: url.href })).toContain('does not exist: create it, or correct DATABASE_URL.')
  })

  it("when the database is another program's", async () => {
    const foreign = await createEmptyDatabase()
    await connected(foreign.url, (client) => client.query('create table customers (id int); create table payments (id int)'))
    expect(await refusal({ DATABASE_URL: foreign.url })).toBe(
      'The database belongs to another program (customers, payments): create a separate database for this service and set DATABASE_URL.',
    )
    await foreign.drop()
  })

  it('when the options of an address name a setting that the service fixes', async () => {
    const withOptions = (options: string) => `${database.url}?options=${encodeURIComponent(options)}`
    expect(await refusal({ DATABASE_URL: withOptions('-c search_path=tenant --statement-timeout=5 -c work_mem=8MB') })).toBe(
      'The options of the database address set search_path, statement_timeout, which the service sets itself: remove them from DATABASE_URL, DATABASE_DIRECT_URL and DATABASE_READ_URL.',
    )
    expect(await refusal({ DATABASE_URL: database.url, DATABASE_READ_URL: withOptions('-cjit=on') })).toContain('set jit, which')
  })

  it('when a certificate of an address, or the authorities of Node, cannot be read', () => {
    const missing = 'names the file /no/ca.pem, which cannot be read (ENOENT)'
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL']) {
      const url = `${database.url}?sslmode=verify-full&sslrootcert=/no/ca.pem`
      expect(() => loadConfig({ DATABASE_URL: database.url, [name]: url })).toThrow(`${name}: sslrootcert ${missing}`)
    }
    expect(() => withFiles({ NODE_EXTRA_CA_CERTS: '/no/ca.pem' })).toThrow(`NODE_EXTRA_CA_CERTS ${missing}`)
  })

  it('when the certificate of the database is not trusted', async () => {
    const { key, certificate } = makeCertificate(folder)
    const secure = { isServer: true, key: await readFile(key), cert: await readFile(certificate) }
    // "S" accepts TLS.
    const server = createServer((socket) =>
      socket.once('data', () => {
        socket.write('S')
        new TLSSocket(socket, secure).on('error', () => socket.destroy())
      }),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sentence = await refusal({ DATABASE_URL: `postgres://payments@127.0.0.1:${port}/payments?sslmode=verify-full` })
    server.close()
    expect(sentence).toMatch(/ has an untrusted certificate \(self-signed certificate.*\): set sslrootcert to its authority/)
  })

  it('when variables are bad, naming every one of them, from the sources too', async () => {
    const variables = { PORT: 'many', RAILS: 'pigeon', ENCRYPTION_KEYS: 'short:AAAA' }
    const sentence = await refusal(variables)
    expect(await refusal(variables, { command: [process.execPath, 'src/server.ts'] })).toBe(sentence)
    for (const name of ['PORT', 'RAILS', 'ENCRYPTION_KEYS']) expect(sentence).toContain(name)
  })

  it.each([
    ['PUBLIC_URL', 'pay.example', 'must be an http or https URL'],
    ['GOOGLE_ISSUER', 'x', 'must be an http or https URL'],
    ['PORT', '70000', 'must be at most 65535'],
    ['DATABASE_POOL_SIZE', '1', 'must be at least 2'],
    ['JOBS', 'on', 'must be one of "inline", "off"'],
    ['ADJUSTMENT_CONFIRM_MINOR', '1.00', 'must be a whole number of minor units'],
    ['REDIS_URL', 'http://cache', 'must be a redis or rediss URL'],
    ['PESALINK_API_KEY', 'a\nb', 'must be printable ASCII without spaces'],
    ['SESSION_COOKIE_DOMAIN', 'https://x', 'must be a host name, such as example.com'],
    ['SESSION_COOKIE_DOMAIN', 'pay example.com', 'must be a host name, such as example.com'],
  ])('when %s is %j, in words that say what to write', (name, value, sentence) => {
    expect(() => loadConfig({ [name]: value })).toThrow(new StartupError(`${name}: ${sentence}`))
  })

  it('when the cookie of sessions is for another host than that of PUBLIC_URL', () => {
    const domain = (SESSION_COOKIE_DOMAIN: string) => () =>
      loadConfig({ PUBLIC_URL: 'https://pay.example.com', SESSION_COOKIE_DOMAIN })
    for (const fits of ['example.com', '.example.com', 'Pay.Example.com']) expect(domain(fits)).not.toThrow()
    for (const other of ['ample.com', 'app.example.com', 'a.pay.example.com', 'example.org'])
      expect(domain(other)).toThrow('SESSION_COOKIE_DOMAIN must be the host of PUBLIC_URL (pay.example.com) or a domain above it')
  })
})

it('a start whose connections are reset, at any step, tries again', patience, async () => {
  const proxy = await startPostgresProxy(database.url)
  let cuts = 0
  const next = [1, 3, 4, 7, 9, 12, 15, 19, 23, 28, 34, 41, 49]
  proxy.arm(({ number }) => {
    if (number !== next[0]) return 'forward'
    next.shift()
    cuts += 1
    return 'cut'
  })
  const { url } = await spawnServer({ DATA_DIR: folder, DATABASE_URL: proxy.url }).ready()
  proxy.disarm()
  expect(cuts).toBeGreaterThan(8)
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
  await killAll()
  await proxy.close()
})

describe('production', patience, () => {
  it('starts with keys, a public URL over https and rails that were named, and logs JSON', async () => {
    // A database of its own, for which no other keys have signed.
    const own = await createTestDatabase()
    const server = spawnServer({ DATA_DIR: folder, LOG_LEVEL: 'info', ...production(), DATABASE_URL: own.url })
    const [line] = await server.waitForOutput(/^\{"level":30.*\}$/m)
    expect(JSON.parse(line)).toMatchObject({ level: 30, msg: expect.any(String) })
    await server.ready()
    // The tests' database has no standby: a failover would lose acknowledged writes.
    expect(server.stdout()).toContain('synchronous_standby_names is empty: a failover may lose acknowledged payments')
  })

  it('does not start without them, and names every one', async () => {
    const sentence = await refusal({ NODE_ENV: 'production' })
    for (const name of needed) expect(sentence).toContain(`${name} must be`)
  })

  it.each([
    ...needed.map((name) => ({ name, value: '' })),
    { name: 'PUBLIC_URL', value: 'http://pay.example' },
    { name: 'RAILS', value: 'sandbox,daraja' },
  ])('does not start when $name alone is "$value"', ({ name, value }) => {
    expect(() => loadConfig(production())).not.toThrow()
    expect(() => loadConfig({ ...production(), [name]: value })).toThrow(name)
  })

  const real = () => ({
    ...Object.fromEntries(
      ['DARAJA', 'PESALINK'].flatMap((rail) =>
        ['CONSUMER_KEY', 'CONSUMER_SECRET', 'SHORTCODE', 'PASSKEY', 'INITIATOR_NAME', 'INITIATOR_PASSWORD', 'CERTIFICATE']
          .concat(['API_KEY', 'MERCHANT_CODE', 'PRIVATE_KEY', 'ACCOUNT_NUMBER', 'ACCOUNT_NAME'])
          .map((name) => [`${rail}_${name}`, 'x']),
      ),
    ),
    ...production(),
    RAILS: 'daraja,pesalink',
    DARAJA_URL: 'https://api.safaricom.example',
    PESALINK_URL: 'https://bank.example',
    OPERATOR_URL: 'https://callbacks.example',
  })
  it.each([
    ['DATABASE_URL', 'postgresql://payments:payments@postgres:5432/payments'],
    ['DATABASE_URL', 'postgresql://app:p%61ssword@db/payments'],
    ['DATABASE_DIRECT_URL', 'postgresql://app:postgres@db/payments'],
    ['DATABASE_READ_URL', 'postgresql://app:changeme@db/payments'],
    ['REDIS_URL', 'redis://:redis@redis:6379'],
  ])('does not start when %s has a well-known password', (name, value) => {
    expect(() => loadConfig({ ...production(), [name]: value })).toThrow(`${name} has a well-known password`)
    expect(() => loadConfig({ [name]: value })).not.toThrow()
  })

  it('says how a percent sign is written in the address of the database', () => {
    const start = () => loadConfig({ ...production(), DATABASE_URL: 'postgresql://app:50%off@db/payments' })
    expect(start).toThrow(/write % itself as %25/)
  })

  it.each([
    ['DATABASE_URL', 'postgresql://app:pw4@db.example:5432/payments'],
    ['DATABASE_READ_URL', 'postgresql://app:pw4@10.0.0.7/payments?sslmode=prefer'],
    ['REDIS_URL', 'redis://:pw4@cache.example:6379'],
  ])('does not start when %s goes to another machine without encryption', (name, value) => {
    expect(() => loadConfig({ ...production(), [name]: value })).toThrow(`${name} must be encrypted in production`)
    expect(() => loadConfig({ [name]: value })).not.toThrow()
  })

  it.each([
    ['DATABASE_URL', 'postgresql://app:pw4@db.example/payments?sslmode=verify-full'],
    ['DATABASE_URL', 'postgresql://app:pw4@postgres:5432/payments'],
    ['DATABASE_URL', 'postgresql://app:pw4@[::1]:5432/payments'],
    ['REDIS_URL', 'rediss://:pw4@cache.example:6379'],
  ])('starts when %s is encrypted, or a container beside it: %s', (name, value) => {
    expect(() => loadConfig({ ...production(), [name]: value })).not.toThrow()
  })

  it('reads a setting from the file that NAME_FILE names, without its last line break, and refuses both at once', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'secret-')), 'redis')
    await writeFile(path, 'redis://:pw4@redis:6379\n')
    expect(withFiles({ REDIS_URL_FILE: path }).REDIS_URL).toBe('redis://:pw4@redis:6379')
    expect(() => withFiles({ REDIS_URL_FILE: path, REDIS_URL: 'x' })).toThrow('both set')
    expect(() => withFiles({ REDIS_URL_FILE: `${path}.none` })).toThrow(
      `REDIS_URL_FILE names the file ${path}.none, which cannot be read (ENOENT)`,
    )
  })

  const zeros = (name: string) => `${name}:${Buffer.alloc(32).toString('base64')}`

  it.each([
    ...['DARAJA_URL', 'PESALINK_URL', 'OPERATOR_URL', 'GOOGLE_ISSUER', 'GITHUB_URL'].flatMap((name) => [
      { name, value: 'http://provider.example', because: 'https' },
      { name, value: 'ftp://provider.example', because: name },
    ]),
    { name: 'EVM_RPC_URLS', value: '1=http://rpc.example', because: 'decides who signs in' },
    { name: 'EVM_RPC_URLS', value: '1=ftp://rpc.example', because: 'chainId=url' },
    { name: 'EVM_RPC_URLS', value: '1=https://rpc.example,8453=http://rpc.example', because: 'chain 8453' },
    { name: 'CORS_ORIGINS', value: 'https://app.example,http://app.example', because: 'http://app.example' },
    { name: 'CORS_ORIGINS', value: 'http://localhost:5173', because: 'cookie' },
    { name: 'ENCRYPTION_KEYS', value: zeros('k1'), because: 'weak key ("k1")' },
    { name: 'TOKEN_SECRETS', value: `${key()},${zeros('old')}`, because: 'weak key ("old")' },
    {
      name: 'TOKEN_SECRETS',
      value: `t:${Buffer.from('abababababababababababababababab').toString('base64')}`,
      because: 'weak key ("t")',
    },
    { name: 'RATE_LIMIT_ENABLED', value: 'false', because: 'could guess credentials' },
    ...['0.0.0.0/0', '::/0', '0.0.0.0/1,128.0.0.0/1', '::ffff:0.0.0.0/96', '::ffff:0:0/97', '10.0.0.1,0.0.0.0/0'].map(
      (value) => ({
        name: 'TRUST_PROXY',
        value,
        because: 'must not trust everyone',
      }),
    ),
    { name: 'TRUST_PROXY', value: 'true', because: 'neither an address nor a network' },
    { name: 'TRUST_PROXY', value: '10.0.0.0/33', because: 'neither an address nor a network' },
  ])('does not start when $name is "$value", and says why', ({ name, value, because }) => {
    expect(() => loadConfig(real())).not.toThrow()
    expect(() => loadConfig({ ...real(), [name]: value })).toThrow(name)
    expect(() => loadConfig({ ...real(), [name]: value })).toThrow(because)
  })

  it('does not start when one key is in both rings, or twice in one under two names', () => {
    const shared = randomBytes(32).toString('base64')
    const both = { ...production(), ENCRYPTION_KEYS: `e:${shared}`, TOKEN_SECRETS: `${key()},t:${shared}` }
    expect(() => loadConfig(both)).toThrow('TOKEN_SECRETS has a key "t" that is the same as ENCRYPTION_KEYS "e"')
    expect(() => loadConfig({ ...production(), TOKEN_SECRETS: `a:${shared},b:${shared}` })).toThrow(
      'that is the same as TOKEN_SECRETS "a"',
    )
  })

  it('takes what stays on this machine or in a private network', () => {
    const near = {
      DARAJA_URL: 'http://127.0.0.1:9000',
      EVM_RPC_URLS: '1=http://localhost:8545',
      GITHUB_URL: 'http://localhost:3',
    }
    for (const TRUST_PROXY of ['10.0.0.0/8,192.168.1.1', 'loopback,uniquelocal', 'fc00::/7', '::ffff:10.0.0.0/104'])
      expect(() => loadConfig({ ...real(), ...near, TRUST_PROXY })).not.toThrow()
  })

  it('names everything that is wrong at once, with a sentence each', () => {
    const wrong = { ...real(), DARAJA_URL: 'http://a.example', RATE_LIMIT_ENABLED: 'false', TRUST_PROXY: '0.0.0.0/0' }
    expect(() => loadConfig(wrong)).toThrow(/DARAJA_URL .*; RATE_LIMIT_ENABLED .*; TRUST_PROXY /)
  })

  it('does not start with another currency than that of the amounts in the database', async () => {
    const own = await createTestDatabase()
    const rings = { ENCRYPTION_KEYS: parseKeyRing(key()) }
    const installation = await checkInstallation(own.url, { currency: 'KES', rings })
    expect(await checkInstallation(own.url, { currency: 'KES', rings })).toBe(installation)
    expect(await refusal({ DATABASE_URL: own.url, CURRENCY: 'USD', PORT: '0', OPERATOR_PORT: '0' })).toBe(
      'CURRENCY is USD, but the amounts in the database are KES: set CURRENCY=KES, or use another database.',
    )
    await own.drop()
  })

  it('does not charge fees before an upgrade is finished: the version before would settle payments without them', async () => {
    const own = await createTestDatabase()
    const start = (hasFees: boolean) => checkInstallation(own.url, { currency: 'KES', rings: {}, hasFees })
    await start(true)
    const set = (at: string) =>
      withClient(own.url, (client) => client.query(`update installation set upgrade_finished_at = ${at}`))
    await set('null')
    await expect(start(true)).rejects.toThrow('FEES is set during an upgrade')
    await start(false)
    await set('now()')
    await start(true)
    await own.drop()
  })

  it('reads a tariff from a file that is named with @', async () => {
    const path = join(folder, 'fees.json')
    await writeFile(path, '{"MPESA_B2C": [{"up_to_minor": null, "fee_minor": "1500"}]}\n')
    const { FEES } = loadConfig(withFiles({ FEES: `@${path}` }))
    expect(FEES).toEqual({ MPESA_B2C: [{ upToMinor: null, feeMinor: 1500n }] })
    expect(() => withFiles({ FEES: '@/nowhere.json' })).toThrow(
      'FEES names the file /nowhere.json, which cannot be read (ENOENT).',
    )
  })

  it('does not start without a key under which data are stored, or with another one under its name', async () => {
    const own = await createTestDatabase()
    const [old, next] = [key(), key()]
    const startWith = (text: string) =>
      checkInstallation(own.url, { currency: 'KES', rings: { ENCRYPTION_KEYS: parseKeyRing(text) } })
    await startWith(old)
    await expect(startWith(key())).rejects.toThrow('The key "k" in ENCRYPTION_KEYS is not the one that encrypts stored data')
    await expect(startWith(next.replace('k:', 'next:'))).rejects.toThrow(
      'ENCRYPTION_KEYS lacks the key "k", which encrypts stored data',
    )
    await startWith(`${next.replace('k:', 'next:')},${old}`)
    await expect(startWith(old)).rejects.toThrow('lacks the key "next"')
    // `rotate-keys` does the same. Until the old key is taken out of the settings, every start still has it.
    await withClient(own.url, (client) => client.query(`delete from installation_keys where key_id = 'k'`))
    await startWith(`${next.replace('k:', 'next:')},${old}`)
    await startWith(next.replace('k:', 'next:'))
    await own.drop()
  })

  it.each(['https://mpesa.example', 'https://EXEcutive.example', 'https://nosql.example'])(
    'does not start with %s as the address of callbacks, which Daraja refuses',
    (OPERATOR_URL) => {
      expect(() => loadConfig({ ...production(), RAILS: 'daraja', OPERATOR_URL })).toThrow(/OPERATOR_URL contains "/)
      expect(() => loadConfig({ ...production(), OPERATOR_URL })).not.toThrow()
    },
  )

  it('does not start with two keys that name orders: neither could be told from the other', () => {
    const two = `a:${randomBytes(32).toString('base64')},b:${randomBytes(32).toString('base64')}`
    expect(() => loadConfig({ ...production(), ORDER_KEY: two })).toThrow('ORDER_KEY: must be exactly one key')
  })

  it('does not start with a real rail that lacks its credentials', () => {
    expect(() => loadConfig({ ...production(), RAILS: 'daraja' })).toThrow(
      'DARAJA_CONSUMER_KEY must be set when RAILS has daraja',
    )
  })

  it.each([
    [{ DARAJA_TILL_NUMBER: '51' }, 'DARAJA_TILL_NUMBER'],
    [{ DARAJA_B2B_SHORTCODE: 'six' }, 'DARAJA_B2B_SHORTCODE'],
  ])("does not start with a number that cannot be the organisation's: %o", (numbers, because) => {
    expect(() => loadConfig({ ...real(), ...numbers })).toThrow(because)
  })

  it.each([
    ['DARAJA_TRANSACTION_TYPE', 'CustomerBuyGoodsOnline', 'DARAJA_TILL_NUMBER'],
    ['MPESA_C2B_ENABLED', 'true', 'MPESA_C2B_SHORTCODE'],
  ])('does not start with a left-over %s=%s where nothing says the same today', (name, value, by) => {
    expect(() => loadConfig({ ...real(), [name]: value })).toThrow(
      `${name}=${value} no longer has an effect: set ${by}, or remove it`,
    )
    expect(() => loadConfig({ ...real(), [name]: value, [by]: '5174379' })).not.toThrow()
    expect(() => loadConfig({ [name]: value })).not.toThrow()
  })

  it('asks for payments to a till, and pays organisations from a shortcode of their own, where they are set', () => {
    const optionsOf = (numbers: Record<string, string>) => daraja.options(loadConfig({ ...real(), ...numbers }))
    expect(optionsOf({ DARAJA_TILL_NUMBER: '5174379', DARAJA_B2B_SHORTCODE: '600997' })).toMatchObject({
      tillNumber: '5174379',
      b2bShortcode: '600997',
    })
    expect(optionsOf({}).tillNumber).toBeUndefined()
  })

  it('does not start where PesaLink is to be asked for names and nobody has said where: no path is guessed', () => {
    const asked = (variables: Record<string, string>) => () => loadConfig({ ...production(), RAILS: 'pesalink', ...variables })
    const missing = 'PESALINK_LOOKUP_PATH must be set when NAME_LOOKUPS has PESALINK'
    expect(asked({ NAME_LOOKUPS: 'PESALINK' })).toThrow(missing)
    expect(asked({ NAME_LOOKUPS: 'on' })).toThrow(missing)
    expect(asked({ NAME_LOOKUPS: 'PESALINK', PESALINK_LOOKUP_PATH: '/names' })).not.toThrow(missing)
    expect(asked({ NAME_LOOKUPS: 'MPESA_B2C' })).not.toThrow(missing)
  })
})
