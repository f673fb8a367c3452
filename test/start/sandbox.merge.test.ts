import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newWallet, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { killAll, patience, spawnServer } from './process.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-start-'))
})
afterEach(killAll)
afterAll(() => rm(dataDir, { recursive: true, force: true }))

it(
  'a service that is killed while money is under way gets the outcome from its sandbox, and time moves for both',
  patience,
  async () => {
    const variables = { DATA_DIR: dataDir, SANDBOX_DELAY_MS: '2500', OPERATOR_PORT: String(await freePort()) }
    const wallet = newWallet()
    const first = spawnServer(variables)
    const before = await signIn(createClient((await first.ready()).url), wallet)
    const topup = await before.api.post('/v1/topups/initiate', { amount_minor: '500000', phone_number: '254722000001' })
    const hasAsked = async (process: typeof first, count: number) => {
      const sandbox = createClient(/at (http\S+)\/control/.exec(process.stdout())?.[1] ?? '')
      await vi.waitFor(async () => expect((await sandbox.get('/control/orders')).body.data).toHaveLength(count), 60_000)
    }
    await hasAsked(first, 1)
    first.kill('SIGKILL')
    await first.ended

    const second = spawnServer(variables)
    const { url, operatorUrl } = await second.ready()
    const person = await signIn(createClient(url), wallet)
    const read = async () => (await person.api.get(`/v1/topups/${topup.body.id}`)).body.status
    await vi.waitFor(async () => expect(await read()).toBe('succeeded'), 60_000)

    const never = await person.api.post('/v1/topups/initiate', { amount_minor: '500000', phone_number: '254700004999' })
    await hasAsked(second, 2)
    const moved = await createClient(operatorUrl).post('/sandbox/clock', { advance_seconds: 3_600 })
    expect(Date.parse(moved.body.now) - Date.now()).toBeGreaterThan(3_500_000)
    // The provider may have the order before the service has recorded its answer.
    const status = async () => (await person.api.get(`/v1/topups/${never.body.id}`)).body.status
    await vi.waitFor(async () => expect(await status()).toBe('expired'), 60_000)
  },
)
