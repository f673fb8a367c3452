import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startPayments } from '../../client/src/testing.ts'
import { loadConfig } from '../../src/config.ts'
import { prepareReadyFile } from '../../src/process/ready-file.ts'
import { createClient } from '../harness/client.ts'
import { newWallet, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { programs } from '../harness/programs.ts'
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

const root = fileURLToPath(new URL('../..', import.meta.url))
const statusFor = (url: string, method: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { method, headers }, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end()
  })

describe('--ready-file', patience, () => {
  it('names the addresses and the key of an account with money, to this user alone, and replaces an earlier file', async () => {
    const file = join(dataDir, 'ready.json')
    await writeFile(file, 'of an earlier start')
    const command = [process.execPath, programs.server, '--ready-file', file] as const
    const server = spawnServer({ DATA_DIR: join(dataDir, 'ready'), SANDBOX_DELAY_MS: '50' }, { command })
    const { url, operatorUrl } = await server.ready()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const ready = JSON.parse(await readFile(file, 'utf8'))
    expect(ready).toMatchObject({ url, control_url: `${operatorUrl}/sandbox`, control_token: null, pid: server.pid })
    const { workspace } = (await createClient(url, { bearer: ready.api_key }).get('/v1/workspaces/current')).body
    expect(workspace.balance).toMatchObject({ available_minor: '10000000' })
    expect(server.stdout()).toContain('API keys start with service_live_, but move no real money here')
  })

  it('is refused with real rails, before anything starts', async () => {
    const config = { ...loadConfig({}), RAILS: ['daraja' as const] }
    await expect(prepareReadyFile(join(dataDir, 'never.json'), config)).rejects.toThrow('it needs RAILS=sandbox')
  })
})

it('startPayments starts services side by side, whose sandbox a test controls; others need the token', patience, async () => {
  const env = { SANDBOX_TOKEN: 'of a job in another container' }
  const [payments, beside] = await Promise.all([startPayments({ directory: root, env }), startPayments({ directory: root })])
  try {
    expect(payments.url).not.toBe(beside.url)
    const order = { type: 'person', display_name: 'Wanjiru', payment_rail: 'MPESA_B2C', destination: '0722000111' } as const
    const payee = await payments.client.beneficiaries.create(order)
    await payments.addRule({ effect: 'lose_callback', times: null })
    await payments.setName('254722000111', 'WANJIRU KAMAU')
    await payments.reset()
    const payment = await payments.client.payments.create({ beneficiary_id: payee.id, amount_minor: '25000' })
    expect(await payments.client.payments.waitFor(payment.id)).toMatchObject({ status: 'succeeded' })
    const other = await payments.newAccount()
    expect([other.accountId === payments.accountId, await other.client.payments.list().toArray(1)]).toEqual([false, []])

    const noon = new Date(Date.now() + 86_400_000)
    expect((await payments.setTime(noon)).getTime()).toBeGreaterThanOrEqual(noon.getTime())
    await expect(payments.setTime(new Date())).rejects.toThrow('Time can only move forward')

    const clock = (of: typeof payments) => `${of.controlUrl}/clock`
    const authorization = `Bearer ${env.SANDBOX_TOKEN}`
    for (const [of, headers, expected] of [
      [payments, { host: 'payments:3001', authorization }, 200],
      [payments, { host: 'payments:3001' }, 403],
      [payments, { host: 'payments:3001', authorization: `${authorization}!` }, 403],
      [payments, { host: 'localhost', origin: 'https://evil.example' }, 403],
      [beside, { host: 'payments:3001', authorization }, 403],
      [beside, { host: 'localhost' }, 200],
    ] as const)
      expect([headers, await statusFor(clock(of), 'GET', headers)]).toEqual([headers, expected])
    // The token opens the sandbox, and nothing else on the private listener.
    const metrics = payments.controlUrl.replace('/sandbox', '/metrics')
    expect(await statusFor(metrics, 'GET', { host: 'payments:3001', authorization })).toBe(403)
  } finally {
    await Promise.all([payments.stop(), beside.stop()])
  }
})
