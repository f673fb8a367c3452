import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, expect, test } from 'vitest'
import { Payments } from '#client'
import { apiTypes, apiTypesFile } from '../../scripts/api-types.ts'
import { chromiumPath, openBrowser } from '../dashboard/browser.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

const run = promisify(execFile)
/** A reader's empty folder, after the one command of the README. */
const service = await openService()
const folder = await mkdtemp(join(tmpdir(), 'payments-client-'))
await writeFile(join(folder, 'package.json'), '{}')
await run('npm', ['install', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), `${service.api.url}/client.tgz`], {
  cwd: folder,
})
const installed = join(folder, 'node_modules/payments-service-client')
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Programs that can run JavaScript. Node 20 is the host's where the host has it; Deno and Bun where somebody has installed them. */
const runtimes = () => {
  const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))
  const others = (process.env.PATH ?? '').split(':').flatMap((place) => [join(place, 'deno'), join(place, 'bun')])
  return [...nodes.map((node) => [node]), ...others.filter((path) => existsSync(path)).map((path) => [path, 'run'])]
}

/** Prints what each runtime prints. */
const everywhere = async (file: string, program: string, env: Record<string, string> = {}): Promise<[string, string][]> => {
  await writeFile(join(folder, file), program)
  const printed: [string, string][] = []
  for (const [command = '', ...args] of runtimes()) {
    const { stdout: version } = await run(command, ['--version'])
    if (/^v1\d\./.test(version)) continue
    const permissions = command.endsWith('deno') ? ['--allow-all'] : []
    const { stdout } = await run(command, [...args, ...permissions, join(folder, file)], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', ...env },
    })
    printed.push([version.trim(), stdout])
  }
  expect(printed.length).toBeGreaterThan(0)
  return printed
}

test('its types are those of the API document: after a change, npm run check:types writes them again', async () => {
  expect(await readFile(apiTypesFile, 'utf8')).toBe(await apiTypes())
})

test('publint finds nothing in it', async () => {
  const published = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const { messages } = await publint({ pkgDir: installed, level: 'suggestion', strict: true, pack: false })
  expect(messages.map((message) => formatMessage(message, published))).toEqual([])
})

test('it has no dependencies, and viem is an optional peer for wallets', async () => {
  const published = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  expect(published.dependencies).toBeUndefined()
  expect(published.peerDependenciesMeta).toEqual({ viem: { optional: true } })
  expect(existsSync(join(folder, 'node_modules/viem'))).toBe(false)
})

test('installed in an empty folder by the command of the README, it pays with every runtime of this machine', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  const beneficiary = await newBeneficiary(person.api)
  const { key } = await createKey(person)
  const printed = await everywhere(
    'pay.mjs',
    `import { Payments } from 'payments-service-client'
const client = new Payments({ baseUrl: ${JSON.stringify(service.api.url)}, apiKey: process.env.PAYMENTS_API_KEY })
const payment = await client.payments.create({ beneficiary_id: ${JSON.stringify(beneficiary)}, amount_minor: '1000', metadata: { order: '17' } })
const found = await client.payments.list({ metadata: { order: '17' } }).toArray(10)
console.log(payment.status, found.some(({ id }) => id === payment.id), (await client.payments.csv({ metadata: { order: '18' } })).split('\\n').length)`,
    { PAYMENTS_API_KEY: key },
  )
  for (const [version, text] of printed) expect(text, version).toBe('processing true 2\n')
})

test('its types are found from TypeScript, with and without Node’s own resolution', async () => {
  await writeFile(
    join(folder, 'types.mts'),
    `import { Payments, type Payment } from 'payments-service-client'
const client = new Payments({ baseUrl: 'http://localhost:3000' })
export const paid: Promise<Payment> = client.payments.create({ beneficiary_id: 'ben_1', amount_minor: '100' })
// @ts-expect-error: an amount is a string of minor units
client.payments.create({ beneficiary_id: 'ben_1', amount_minor: 100 })
`,
  )
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
  for (const resolution of ['nodenext', 'bundler']) {
    const module = resolution === 'nodenext' ? 'nodenext' : 'esnext'
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--lib',
      'es2023,dom,dom.iterable,dom.asynciterable',
      '--types',
      '',
    ]
    await run(process.execPath, [tsc, ...options, '--module', module, '--moduleResolution', resolution, 'types.mts'], {
      cwd: folder,
    })
  }
})

test('the command line runs from the installed package', async () => {
  await mkdir(join(folder, 'empty'), { recursive: true })
  for (const [version, text] of await everywhere(
    'help.mjs',
    `process.argv[2] = 'help'; await import('./node_modules/payments-service-client/dist/cli/main.js')`,
  ))
    expect(text, version).toMatch(/payments login/)
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
  expect(stdout).toMatch(/ok {3}signature[\s\S]*The receipt holds/)
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
