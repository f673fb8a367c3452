import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createClient } from '../harness/client.ts'
import { connected } from '../harness/connected.ts'
import { newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { startHaproxy, startHealthCheck } from '../harness/postgres-haproxy.ts'
import { programs } from '../harness/programs.ts'
import { type Replicated, startReplicated } from '../harness/replicated.ts'
import { isInstalled } from '../operations/balancer.ts'
import { killAll, spawnServer } from '../start/process.ts'

const missing = !isInstalled('haproxy')
if (missing) process.stderr.write('haproxy is not installed here: deploy/haproxy/postgres.cfg is not run\n')

let servers: Replicated
const closing: (() => Promise<unknown>)[] = []
let folder: string
afterEach(async () => {
  await killAll()
  for (const close of closing.splice(0)) await close()
  await servers.close()
  await rm(folder, { recursive: true, force: true })
})

test.skipIf(missing)(
  'a service behind haproxy migrates and pays, and goes on with the standby that was promoted',
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'several-'))
    servers = await startReplicated({ synchronous: true, prepare: async () => undefined })
    const members: { port: number; restPort: number }[] = []
    for (const url of servers.urls) {
      const { restPort, close } = await startHealthCheck(url)
      closing.push(close)
      members.push({ port: Number(new URL(url).port), restPort })
    }
    const haproxy = await startHaproxy(members)
    closing.push(haproxy.close)
    const [primary] = servers.urls
    const DATABASE_URL = primary.replace(`:${new URL(primary).port}/`, `:${haproxy.port}/`)
    await expect.poll(() => connected(DATABASE_URL, async () => true).catch(() => false)).toBe(true)
    const shared = { DATABASE_URL, DATA_DIR: folder, SANDBOX_DELAY_MS: '30' }
    const command = async (...args: string[]) => {
      const run = spawnServer(shared, { command: [process.execPath, programs.admin, ...args] })
      const { code } = await run.ended
      return { code, said: run.stdout() + run.stderr() }
    }
    // On a loaded machine the proxy may remove the primary for a moment.
    await expect.poll(() => command('migrate')).toMatchObject({ code: 0, said: expect.stringContaining('0000_create_schema') })
    const service = spawnServer({ ...shared, MIGRATE: 'off' })
    const { url } = await service.ready()
    const person = await signIn(createClient(url))
    const topup = await person.api.post('/v1/topups/initiate', { amount_minor: '1000000', phone_number: '254722000001' })
    const statusOf = async (path: string) => (await person.api.get(path)).body.status
    await expect.poll(() => statusOf(`/v1/topups/${topup.body.id}`)).toBe('succeeded')
    const beneficiary_id = await newBeneficiary(person.api)
    const pay = (key: string) => person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1000' }, { key })
    const before = await pay('before')
    expect(before.status).toBe(201)

    await servers.failOver()
    await expect.poll(async () => (await createClient(url).get('/readyz')).status).toBe(200)
    // Repeated until a connection is open again. The answers in between are 503.
    const answers: number[] = []
    await expect
      .poll(async () => {
        answers.push((await pay('after')).status)
        return answers.at(-1)
      })
      .toBe(201)
    expect(answers.slice(0, -1).every((status) => status === 503)).toBe(true)
    // A result that met no writable server is lost with its 503, and is queried once the send counts as lost: after 45 seconds.
    for (const answer of [before, await pay('after')])
      await expect.poll(() => statusOf(`/v1/payments/${answer.body.id}`), { timeout: 100_000 }).toBe('succeeded')
    expect((await command('verify')).code).toBe(0)

    service.kill('SIGTERM')
    await service.ended
    const again = await spawnServer(shared).ready()
    expect((await createClient(again.url).get('/readyz')).status).toBe(200)
  },
  300_000,
)
