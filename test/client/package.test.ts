import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '../../client/build.ts'
import { apiTypes, apiTypesFile } from '../../scripts/api-types.ts'

const run = promisify(execFile)
let dist: string
let folder: string
beforeAll(async () => {
  dist = await build()
  folder = await mkdtemp(join(tmpdir(), 'payments-client-'))
  await symlink(dist, join(folder, 'payments-service-client'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('its types are those of the API document: after a change, node scripts/api-types.ts writes them anew', async () => {
  expect(await readFile(apiTypesFile, 'utf8')).toBe(await apiTypes())
})

test('publint finds nothing wrong with what would be published', async () => {
  const published = JSON.parse(await readFile(join(dist, 'package.json'), 'utf8'))
  const { messages } = await publint({ pkgDir: dist, level: 'suggestion', strict: true })
  expect(messages.map((message) => formatMessage(message, published))).toEqual([])
})

test('it has no dependencies, and says so of viem, which only the wallet’s owner needs', async () => {
  const published = JSON.parse(await readFile(join(dist, 'package.json'), 'utf8'))
  expect(published.dependencies).toBeUndefined()
  expect(published.peerDependenciesMeta).toEqual({ viem: { optional: true } })
})

test('it runs where only JavaScript does, on every Node of this machine that it is for', async () => {
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
