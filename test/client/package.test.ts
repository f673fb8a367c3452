import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '../../client/build.ts'
import { apiTypes, apiTypesFile } from '../../scripts/api-types.ts'
import { chromiumPath, openBrowser } from '../dashboard/browser.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { startService } from '../harness/service.ts'

const run = promisify(execFile)
let dist: string
let folder: string
beforeAll(async () => {
  dist = await build()
  folder = await mkdtemp(join(tmpdir(), 'payments-client-'))
  await symlink(dist, join(folder, 'payments-service-client'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('its types are those of the API document: after a change, npm run check:types writes them again', async () => {
  expect(await readFile(apiTypesFile, 'utf8')).toBe(await apiTypes())
})

test('publint finds nothing wrong with what would be published', async () => {
  const published = JSON.parse(await readFile(join(dist, 'package.json'), 'utf8'))
  const { messages } = await publint({ pkgDir: dist, level: 'suggestion', strict: true })
  expect(messages.map((message) => formatMessage(message, published))).toEqual([])
})

test('it has no dependencies, and viem is an optional peer for wallets', async () => {
  const published = JSON.parse(await readFile(join(dist, 'package.json'), 'utf8'))
  expect(published.dependencies).toBeUndefined()
  expect(published.peerDependenciesMeta).toEqual({ viem: { optional: true } })
})

test('the built package runs on every supported Node of this machine', async () => {
  const program = join(folder, 'program.mjs')
  await writeFile(
    program,
    `import { Payments } from ${JSON.stringify(`${dist}/index.js`)}
import { decideByWallet } from ${JSON.stringify(`${dist}/wallet.js`)}
const client = new Payments({ baseUrl: 'http://127.0.0.1:9', apiKey: 'none', retries: 0 })
const error = await client.payments.list().page().catch((caught) => caught)
console.log(error.name, typeof decideByWallet)`,
  )
  const hosts = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))
  for (const node of hosts) {
    const { stdout: version } = await run(node, ['--version'])
    if (Number(version.slice(1).split('.')[0]) < 20) continue
    expect((await run(node, [program])).stdout, version).toBe('ConnectionError function\n')
    expect((await run(node, [join(dist, 'cli', 'main.js'), 'help'])).stdout, version).toMatch(/payments login/)
  }
})

test.skipIf(!chromiumPath)('in a browser, a page of an allowed origin can pay, list and follow events', async () => {
  const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' }
  const site = createServer(async (request, response) => {
    const path = request.url === '/' ? undefined : join(dist, new URL(request.url ?? '/', 'http://site').pathname)
    response.writeHead(200, { 'content-type': types[path ? extname(path) : '.html'] ?? 'text/plain' })
    response.end(
      path
        ? await readFile(path).catch(() => '')
        : `<!doctype html><title>An integrator</title><script type="module">import * as all from '/index.js'; window.all = all</script>`,
    )
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const service = await startService({ env: { CORS_ORIGINS: origin } })
  const browser = await openBrowser()
  try {
    const person = await signIn(service.api)
    await fund(service, person, 100_000n)
    const beneficiary = await newBeneficiary(person.api)
    const { key } = await createKey(person)
    const page = await browser.newPage()
    await page.goto(origin)
    await page.waitForFunction('window.all')
    const settings = { baseUrl: service.api.url, apiKey: key, beneficiary }
    const seen = await page.evaluate(async ({ baseUrl, apiKey, beneficiary: id }) => {
      const { Payments, NotFoundError } = (globalThis as unknown as { all: typeof import('payments-service-client') }).all
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
    await service.close()
    site.close()
  }
})
