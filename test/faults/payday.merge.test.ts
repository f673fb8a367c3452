import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type Client, createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { killAll, type ServerProcess } from '../start/process.ts'
import { report } from './report.ts'
import { isFull, startWorld, type World } from './world.ts'

/** The number of items in one batch. The provider refuses the payee of a third. */
const itemsCount = isFull ? 999 : 90
/** A single payment, of the same account or another, must end within this time while the batch is being sent. */
const singleWithinMs = isFull ? 20_000 : 120_000

let folder: string
let world: World
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payday-'))
  world = await startWorld(folder)
})
afterAll(async () => {
  await killAll()
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const endStates = ['succeeded', 'failed', 'rejected', 'cancelled', 'expired', 'returned']

const until = async (what: string, met: () => Promise<boolean>, withinMs: number): Promise<number> => {
  const from = performance.now()
  while (!(await met())) {
    if (performance.now() - from > withinMs) throw new Error(`${what}: not within ${withinMs} ms`)
    await wait(50)
  }
  return performance.now() - from
}

const funded = async (url: string, topups: number) => {
  const person = await signIn(createClient(url))
  for (let n = 0; n < topups; n += 1) {
    const body = { amount_minor: '25000000', phone_number: '254722000001' }
    const { id } = (await person.api.post('/v1/topups/initiate', body)).body
    await until('a top-up', async () => (await person.api.get(`/v1/topups/${id}`)).body.status === 'succeeded', 30_000)
  }
  return person
}

/** The time of a single payment from its request to its end. */
const payOnce = async (api: Client, beneficiary_id: string, n: number): Promise<number> => {
  const from = performance.now()
  const order = { beneficiary_id, amount_minor: '1000', narrative: `single ${n}` }
  const { id } = (await api.post('/v1/payments', order)).body
  await until(
    'a single payment',
    async () => endStates.includes((await api.get(`/v1/payments/${id}`)).body.status),
    singleWithinMs,
  )
  return performance.now() - from
}

test(`a payroll of ${itemsCount}, asked for with one key at two processes, of which a third fails and one process is killed, is paid once to the last item while single payments go on`, async () => {
  const start = async (more: Record<string, string> = {}): Promise<ServerProcess & { url: string }> =>
    world.start({ PORT: String(await freePort()), OPERATOR_PORT: String(await freePort()), ...more })
  const [one, two] = await Promise.all([start(), start({ OPERATOR_PORT: String(world.operatorPort) })])
  const [employer, neighbour] = [await funded(two.url, 2), await funded(two.url, 1)]
  const { api } = employer
  const payees = [
    await newBeneficiary(api),
    await newBeneficiary(api, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' }),
    await newBeneficiary(api, { destination: '254700000001' }),
  ]
  const other = await newBeneficiary(neighbour.api)
  const before = BigInt((await api.get('/v1/accounts/me')).body.balance.available_minor)
  const items = Array.from({ length: itemsCount }, (_, n) => ({
    beneficiary_id: payees[n % payees.length],
    amount_minor: '1000',
    narrative: `salary ${n}`,
  }))
  // A busy process may answer 503 while the other holds the key: the same request again gets the one answer.
  const submit = async (url: string): Promise<Answer> => {
    const answer = await createClient(url, api.credentials).post(
      '/v1/payment-batches',
      { items, duplicates_intended: true },
      { key: 'payday' },
    )
    return answer.status === 503 && answer.headers.has('retry-after') ? submit(url) : answer
  }
  const answers = await Promise.all([submit(one.url), submit(two.url)])
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  const { id } = answers[0].body
  const batch = async () => (await api.get(`/v1/payment-batches/${id}`)).body
  const endedIn = (counts: Record<string, number>) =>
    Object.entries(counts).reduce((sum, [status, count]) => sum + (endStates.includes(status) ? count : 0), 0)

  await until('some items are sent', async () => (await world.provider.orders()).length > itemsCount / 5, 60_000)
  one.kill('SIGKILL')
  await one.ended
  // Neither starves: single payments of both accounts end, and the batch continues.
  const [beforeSingles, took] = [endedIn((await batch()).counts), [] as number[]]
  const singles = 5
  for (let n = 0; n < singles; n += 1)
    took.push(...(await Promise.all([payOnce(api, payees[0] ?? '', n), payOnce(neighbour.api, other, n)])))
  const duringSingles = endedIn((await batch()).counts)
  report('payday_slowest_single_ms', Math.round(Math.max(...took)))
  report('payday_items_during_singles', duringSingles - beforeSingles)
  if (beforeSingles < itemsCount) expect(duringSingles).toBeGreaterThan(beforeSingles)

  const from = performance.now()
  while ((await batch()).status !== 'completed') {
    if (performance.now() - from > 600_000) throw new Error(JSON.stringify(await batch()))
    await wait(500)
    // The killed process's sends stay leased to it until their time is up.
    await world.provider.advance(5)
  }
  const third = itemsCount / 3
  expect((await batch()).counts).toEqual({ succeeded: 2 * third, failed: third })
  const paid = BigInt(2 * third + singles) * 1000n
  expect((await api.get('/v1/accounts/me')).body.balance).toMatchObject({
    available_minor: (before - paid).toString(),
    held_minor: '0',
  })
  const payouts = (await world.provider.movements()).filter(({ rail }) => rail !== 'MPESA_STK')
  expect(payouts).toHaveLength(2 * third + 2 * singles)
  expect(new Set(payouts.map(({ key }) => key)).size).toBe(payouts.length)
  expect((await world.sql<{ count: number }>("select count(*)::int from rail_attempts where state = 'lost'"))[0]?.count).toBe(0)
  expect(await world.faults()).toEqual([])
}, 900_000)
