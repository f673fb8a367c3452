import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { Payments } from '#client'
import { apiTypes, apiTypesFile } from '../../scripts/api-types.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import type { App } from '../../src/http/app-type.ts'
import { registerDownloads } from '../../src/http/downloads.ts'
import { version } from '../../src/lib/version.ts'
import { chromiumPath, openBrowser } from '../dashboard/browser.ts'
import { workAfterAnswers } from '../harness/at-work.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { runtimes } from './runtimes.ts'

const run = promisify(execFile)
/** A reader's empty folder after the README's one command. */
const service = await openService()
const folder = await mkdtemp(join(tmpdir(), 'payments-client-'))
await writeFile(join(folder, 'package.json'), '{}')
await run('npm', ['install', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), `${service.api.url}/client.tgz`], {
  cwd: folder,
})
const releases = fileURLToPath(new URL('../../client/releases', import.meta.url))
const installed = join(folder, 'node_modules/payments-service-client')
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The program's output on one runtime. */
const runOn = async (
  { runtime, command, args }: (typeof runtimes)[number],
  program: string,
  env: Record<string, string> = {},
  extension = 'mjs',
): Promise<string[]> => {
  const file = join(folder, `${runtime.replace(' ', '-')}.${extension}`)
  await writeFile(file, program)
  const { stdout } = await run(command, [...args, file], { cwd: folder, env: { PATH: process.env.PATH ?? '', ...env } })
  return stdout.trimEnd().split('\n')
}

test('its types are those of the API document: after a change, npm run check:types writes them again', async () => {
  expect(await readFile(apiTypesFile, 'utf8')).toBe(await apiTypes())
})

test('has an address for each version, to which the plain one leads, and those of releases never change', async () => {
  const plain: [path: string, pattern: RegExp][] = [
    ['/client.tgz', /^\/client-\d+\.\d+\.\d+(-[0-9a-f]{12})?\.tgz$/],
    ['/payments.py', /^\/payments-\d+\.\d+\.\d+(-[0-9a-f]{12})?\.py$/],
    ['/verify-receipt.mjs', /^\/verify-receipt-\d+\.\d+\.\d+(-[0-9a-f]{12})?\.mjs$/],
  ]
  for (const [path, pattern] of plain) {
    const answer = await fetch(service.api.url + path, { redirect: 'manual' })
    const to = answer.headers.get('location') ?? ''
    expect([answer.status, to]).toEqual([302, expect.stringMatching(pattern)])
    const named = await fetch(service.api.url + to)
    expect(await named.bytes()).toEqual(await answer.bytes())
    expect((await fetch(service.api.url + path.replace('.', '-0.0.1.'))).status).toBe(404)
  }
  const { location } = Object.fromEntries((await fetch(`${service.api.url}/client.tgz`, { redirect: 'manual' })).headers)
  const guide = await (await fetch(`${service.api.url}/docs/guides/quickstart`)).text()
  expect(guide).toContain(`npm install ${service.api.url}${location}`)
  const hashes: Record<string, string> = JSON.parse(await readFile(`${releases}/hashes.json`, 'utf8'))
  const shipped = (await readdir(releases)).filter((name) => /-\d+\.\d+\.\d+\./.test(name))
  expect(shipped.toSorted()).toEqual(Object.keys(hashes).toSorted())
  for (const [name, sha256] of Object.entries(hashes)) {
    const answer = await fetch(`${service.api.url}/${name}`)
    expect([name, sha256Hex(await answer.bytes())]).toEqual([name, sha256])
    expect(answer.headers.get('cache-control')).toContain('immutable')
  }
})

test('what a release shipped is served as it was, and what was built since has an address of its own', async () => {
  const shelf = await mkdtemp(join(tmpdir(), 'payments-releases-'))
  const earlier = {
    'client-0.0.1.tgz': gzipSync('an earlier client'),
    [`payments-${version}.py`]: Buffer.from('as it was released'),
  }
  for (const [name, bytes] of Object.entries(earlier)) await writeFile(join(shelf, name), bytes)
  const hashes = Object.fromEntries(Object.entries(earlier).map(([name, bytes]) => [name, sha256Hex(bytes)]))
  await writeFile(join(shelf, 'hashes.json'), JSON.stringify(hashes))
  const app: App = fastify()
  registerDownloads(app, shelf)
  const get = async (url: string) => {
    const { statusCode, headers, rawPayload } = await app.inject({ url })
    return { statusCode, to: String(headers.location), bytes: rawPayload }
  }
  for (const [name, bytes] of Object.entries(earlier)) expect(await get(`/${name}`)).toMatchObject({ statusCode: 200, bytes })
  const { to } = await get('/payments.py')
  expect(to).toMatch(new RegExp(`^/payments-${version}-[0-9a-f]{12}\\.py$`))
  expect((await get(to)).bytes.toString()).toContain('class Payments')
  await app.close()
  await rm(shelf, { recursive: true })
})

const WorkflowFile = z.object({
  jobs: z.object({
    test: z.object({
      defaults: z.object({ run: z.object({ 'working-directory': z.string() }) }),
      steps: z.array(
        z.object({
          run: z.string().optional(),
          'working-directory': z.string().optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
  }),
})

test('the workflow of the guide, run step by step, passes the tests of the guide and no other', {
  timeout: 600_000,
}, async () => {
  const guide = await (await fetch(`${service.api.url}/docs/guides/testing.md`)).text()
  const part = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? ''
  const { defaults, steps } = WorkflowFile.parse(parse(part('yaml'))).jobs.test
  const workspace = await mkdtemp(join(tmpdir(), 'payments-workflow-'))
  const app = join(workspace, defaults.run['working-directory'])
  await mkdir(app)
  for (const name of ['package.json', 'package-lock.json']) await copyFile(join(folder, name), join(app, name))
  await writeFile(join(app, 'pay.test.mjs'), part('javascript'))
  // The result of its own `npm ci`.
  await symlink(fileURLToPath(new URL('../..', import.meta.url)), join(workspace, 'payments-service'))
  let printed = ''
  for (const { run: line, 'working-directory': place = defaults.run['working-directory'], env = {} } of steps) {
    const command = place === 'payments-service' ? line?.replace(/^npm ci && /, '') : line
    if (command === undefined) continue
    const named = Object.entries(env).map(([name, value]) => [name, value.replace(/\$\{\{ github.workspace \}\}/, workspace)])
    const path = `${fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))}:${process.env.PATH}`
    const own = { PATH: path, HOME: process.env.HOME, npm_config_cache: join(folder, 'cache'), ...Object.fromEntries(named) }
    const { stdout } = await run('bash', ['-e', '-c', command], { cwd: join(workspace, place), env: own })
    printed += stdout
  }
  expect(printed).toMatch(/tests 2\n[\s\S]*pass 2\n/)
  await rm(workspace, { recursive: true })
})

test('publint finds nothing in it', async () => {
  const published = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const { messages } = await publint({ pkgDir: installed, level: 'suggestion', strict: true, pack: false })
  expect(messages.map((message) => formatMessage(message, published))).toEqual([])
})

test('npm has nothing to correct in it when it is published', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'payments-publish-'))
  const written = await readFile(join(installed, 'package.json'), 'utf8')
  await writeFile(join(copy, 'package.json'), written)
  await run('npm', ['pkg', 'fix'], { cwd: copy })
  expect(JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'))).toEqual(JSON.parse(written))
  await rm(copy, { recursive: true })
})

test('it has no dependencies, and viem is an optional peer for wallets', async () => {
  const published = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  expect(published.dependencies).toBeUndefined()
  expect(published.peerDependenciesMeta).toEqual({ viem: { optional: true } })
  expect(existsSync(join(folder, 'node_modules/viem'))).toBe(false)
})

test.each(runtimes)(
  'installed in an empty folder by the command of the README, it tops up, adds a payee, pays, waits, lists, follows events and pays a list on $runtime',
  async (runtime) => {
    const owner = await signIn(service.api)
    const { key } = await createKey(owner, { spending_controls: { new_payees: 'allow' } })
    const atWork = workAfterAnswers(service)
    const printed = await runOn(
      runtime,
      `import { Payments, PaymentsError } from 'payments-service-client'
const client = new Payments({ baseUrl: ${JSON.stringify(service.api.url)}, apiKey: process.env.PAYMENTS_API_KEY })
const topup = await client.topups.initiate({ amount_minor: '100000', phone_number: '0712345678' })
console.log((await client.topups.waitFor(topup.id)).status)
const payee = await client.beneficiaries.create({
  type: 'person', display_name: 'Wanjiru Kamau', payment_rail: 'MPESA_B2C', destination: '0722000111' })
console.log((await client.payments.simulate({ beneficiary_id: payee.id, amount_minor: '2500' })).outcome)
const order = { beneficiary_id: payee.id, amount_minor: '2500', metadata: { order: '17' } }
const [newest] = await client.notifications.list().toArray(1)
const payment = await client.payments.create(order, { idempotencyKey: 'order-17' })
for await (const event of client.events({ lastEventId: newest.id, types: ['payment.*'] }))
  if (event.type === 'payment.succeeded') {
    console.log(event.data.id === payment.id)
    break
  }
console.log((await client.payments.waitFor(payment.id)).status)
console.log((await client.payments.create(order, { idempotencyKey: 'order-17' })).id === payment.id)
console.log((await client.payments.list({ metadata: { order: '17' } }).toArray(10)).map(({ id }) => id).join() === payment.id)
console.log((await client.payments.csv({ status: ['succeeded', 'failed'] })).trim().split('\\n').length)
const people = 'name,phone,amount\\nAchieng,0722000222,12.00\\nOtieno,0722000333,13.00\\n'
console.log((await client.batches.checkCsv(people)).items_count)
const batch = await client.batches.fromCsv(people, { name: 'March' }, { idempotencyKey: 'march' })
console.log(JSON.stringify((await client.batches.waitFor(batch.id)).counts))
console.log((await client.account.get()).balance.available_minor, (await client.credentials.current()).permissions.length > 0)
const made = await client.apiKeys.create({ name: 'Reader', permissions: ['payment.read'] })
console.log((await client.apiKeys.revoke(made.id)).status)
const refusal = await client.payments.create({ ...order, amount_minor: '20000000' }).catch((error) => error)
console.log(refusal instanceof PaymentsError, refusal.code)`,
      { PAYMENTS_API_KEY: key },
    ).finally(atWork.stop)
    expect(printed).toEqual([
      'succeeded',
      'allow',
      'true',
      'succeeded',
      'true',
      'true',
      '2',
      '2',
      '{"succeeded":2}',
      '95000 true',
      'revoked',
      'true insufficient_funds',
    ])
  },
)

const inTypeScript = `import { Payments, type Payment } from 'payments-service-client'
import { startPayments, type TestPayments } from 'payments-service-client/testing'
import { signInWithWallet } from 'payments-service-client/wallet'
const client = new Payments({ baseUrl: 'http://localhost:3000' })
export const paid: Promise<Payment> = client.payments.create({ beneficiary_id: 'ben_1', amount_minor: '100' })
export const started: Promise<TestPayments> = startPayments()
export { signInWithWallet }
// @ts-expect-error: an amount is a string of minor units
client.payments.create({ beneficiary_id: 'ben_1', amount_minor: 100 })
`

const compile = async (tsc: string, file: string, module: string, resolution: string, lib: string) => {
  await writeFile(join(folder, file), inTypeScript)
  const settings = { target: 'es2022', lib, module, moduleResolution: resolution, skipLibCheck: 'false' }
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  await run(process.execPath, [tsc, '--noEmit', '--strict', ...options, file], { cwd: folder })
}

test('its types are found from TypeScript, with and without Node’s own resolution, and from CommonJS', async () => {
  const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))
  const lib = 'es2023,dom,dom.iterable,dom.asynciterable'
  await compile(tsc, 'types.mts', 'nodenext', 'nodenext', lib)
  await compile(tsc, 'types.cts', 'nodenext', 'nodenext', lib)
  await compile(tsc, 'types.mts', 'esnext', 'bundler', lib)
})

/** TypeScript 5.0 and Jest, if .ci/run has fetched them. */
const tools = process.env.CLIENT_TOOLS
if (!tools) console.warn('CLIENT_TOOLS names no folder: the client is NOT compiled with TypeScript 5.0, and NOT run in Jest.')

test.skipIf(!tools).each([
  ['types.ts', 'commonjs', 'node'],
  ['types.cts', 'nodenext', 'nodenext'],
  ['types.mts', 'node16', 'node16'],
  ['types.mts', 'esnext', 'bundler'],
])('TypeScript 5.0 compiles it and checks its declarations: %s, %s, %s', async (file, module, resolution) => {
  await compile(`${tools}/typescript/lib/tsc.js`, file, module, resolution, 'es2022,dom,dom.iterable')
})

const inCommonJs = `const { ConnectionError, Payments, PaymentsError } = require('payments-service-client')
const { startPayments } = require('payments-service-client/testing')
const { signInWithWallet } = require('payments-service-client/wallet')
const client = new Payments({ baseUrl: ${JSON.stringify(service.api.url)}, apiKey: process.env.PAYMENTS_API_KEY })
const seen = async () => {
  const { id } = await client.account.get()
  const missing = await client.payments.get('pay_nothing').catch((error) => error)
  const nowhere = { address: '0x0', signMessage: async () => '0x' }
  const refused = await signInWithWallet({ baseUrl: ${JSON.stringify(service.api.url)} }, nowhere).catch((error) => error)
  return [id, missing instanceof PaymentsError, refused instanceof PaymentsError, typeof startPayments, typeof ConnectionError]
}
`

test.each(runtimes)(
  'a program in CommonJS requires all its entries, which have the same classes, on $runtime',
  async (runtime) => {
    const owner = await signIn(service.api)
    const { key } = await createKey(owner)
    const program = `${inCommonJs}seen().then((values) => console.log(values.join()))`
    const printed = await runOn(runtime, program, { PAYMENTS_API_KEY: key }, 'cjs')
    expect(printed).toEqual([`${owner.accountId},true,true,function,function`])
  },
)

test.skipIf(!tools)('a test of Jest imports it', async () => {
  const owner = await signIn(service.api)
  const { key } = await createKey(owner)
  const program = `${inCommonJs}test('a client', async () => {
  expect(await seen()).toEqual([${JSON.stringify(owner.accountId)}, true, true, 'function', 'function'])
})`
  await writeFile(join(folder, 'jest.test.js'), program)
  const env = { PATH: process.env.PATH ?? '', PAYMENTS_API_KEY: key }
  const { stderr } = await run(process.execPath, [`${tools}/jest/bin/jest.js`, 'jest.test.js'], { cwd: folder, env })
  expect(stderr).toContain('Tests:       1 passed, 1 total')
})

test('the command line runs from the installed package', async () => {
  await mkdir(join(folder, 'empty'), { recursive: true })
  const program = `process.argv[2] = 'help'; await import('./node_modules/payments-service-client/dist/cli/main.js')`
  for (const runtime of runtimes) expect((await runOn(runtime, program)).join('\n'), runtime.runtime).toMatch(/payments login/)
  const { stdout } = await run('npx', ['--no-install', 'payments', 'help'], { cwd: folder })
  expect(stdout).toMatch(/payments login/)
})

test('verifies a receipt by the command line', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  const payment = await person.api.post('/v1/payments', {
    beneficiary_id: await newBeneficiary(person.api),
    amount_minor: '1000',
  })
  const receipt = (await person.api.get(`/v1/payments/${payment.body.id}/receipt`)).body
  await writeFile(join(folder, 'receipt.json'), JSON.stringify(receipt))
  const args = ['--no-install', 'payments', 'verify-receipt', 'receipt.json', '--issuer', service.api.url]
  const { stdout } = await run('npx', args, { cwd: folder })
  expect(stdout).toMatch(/ok {3}signature[\s\S]*The receipt is valid/)
})

test('without the service’s address it says what to give', () => {
  expect(() => new Payments({} as never)).toThrow(/baseUrl/)
  expect(() => new Payments({ baseUrl: 'localhost:3000' })).toThrow(/baseUrl/)
  for (const apiKey of ['', undefined as never])
    expect(() => new Payments({ baseUrl: 'http://localhost:3000', apiKey })).toThrow(/PAYMENTS_API_KEY/)
  expect(() => new Payments(undefined as never)).toThrow(/baseUrl/)
})

test.skipIf(!chromiumPath)('in a browser, a page of an allowed origin can pay, list and follow events', async () => {
  const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' }
  const site = createServer(async (request, response) => {
    const path = request.url === '/' ? undefined : join(installed, 'dist', new URL(request.url ?? '/', 'http://site').pathname)
    response.writeHead(200, { 'content-type': types[path ? extname(path) : '.html'] ?? 'text/plain' })
    response.end(
      path
        ? await readFile(path).catch(() => '')
        : `<!doctype html><title>An integrator</title><script type="module">import * as all from '/index.js'; window.all = all</script>`,
    )
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const allowing = await startService({ env: { CORS_ORIGINS: origin } })
  const browser = await openBrowser()
  try {
    const person = await signIn(allowing.api)
    await fund(allowing, person, 100_000n)
    const beneficiary = await newBeneficiary(person.api)
    const { key } = await createKey(person)
    const page = await browser.newPage()
    await page.goto(origin)
    await page.waitForFunction('window.all')
    const settings = { baseUrl: allowing.api.url, apiKey: key, beneficiary }
    const seen = await page.evaluate(async ({ baseUrl, apiKey, beneficiary: id }) => {
      const { Payments, NotFoundError } = (globalThis as unknown as { all: typeof import('#client') }).all
      const client = new Payments({ baseUrl, apiKey })
      const opened = Promise.withResolvers<void>()
      const first = (async () => {
        for await (const event of client.events({ onOpen: opened.resolve })) return event.type
        return 'nothing'
      })()
      await opened.promise
      const payment = await client.payments.create({ beneficiary_id: id, amount_minor: '1000' })
      const listed = await client.payments.list().toArray(10)
      const missing = await client.payments.get('pay_nothing').catch((error: unknown) => error)
      const refusal =
        missing instanceof NotFoundError ? [missing.code, typeof missing.requestId, missing.shouldRetry] : [String(missing)]
      return { status: payment.status, isListed: listed.map((one) => one.id).includes(payment.id), event: await first, refusal }
    }, settings)
    expect(seen).toEqual({
      status: 'processing',
      isListed: true,
      event: expect.stringMatching(/^(payment|balance)\./),
      refusal: ['not_found', 'string', false],
    })
  } finally {
    await browser.close()
    await allowing.close()
    site.close()
  }
})
