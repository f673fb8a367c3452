import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { localDateTime } from '../../src/policy/calendar.ts'
import { holdAccount } from '../harness/account-hold.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false', APPROVAL_TTL_HOURS: '2000' } })

type Payer = Person & { beneficiary: string }

const payer = async (): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
  return { ...person, beneficiary: await newBeneficiary(person.api) }
}
const pay = (from: Payer, amount: string) =>
  from.api.post('/v1/payments', { beneficiary_id: from.beneficiary, amount_minor: amount })
const approve = (from: Payer, approval: string) => from.api.post(`/v1/approvals/${approval}/decide`, { decision: 'approve' })
const statusOf = async (from: Payer, id: string) => {
  const { status, failure_code } = (await from.api.get(`/v1/payments/${id}`)).body
  return [status, failure_code]
}
/** These tests' clock runs ahead of the jobs behind other promises. */
const wrongCounters = async () => (await findBreaches(service)).filter((breach) => /counter|totals/.test(breach))
/** A separate time for each test, so that no session outlives another test: the next instant at this hour, UTC. */
const advanceTo = (hour: number, minute: number, second: number) => {
  const now = service.clock.now()
  const next = new Date(now)
  next.setUTCHours(hour, minute, second, 0)
  if (next <= now) next.setUTCDate(next.getUTCDate() + 1)
  service.clock.set(next)
}

describe('a payment counts in one day', () => {
  test("of two payments that one day's limit fits once, held at the lock across midnight in Nairobi, one passes", async () => {
    advanceTo(20, 59, 59)
    const someone = await payer()
    await someone.api.post('/v1/spending-policies', { name: 'A day', daily_limit_minor: '10000' })
    const hold = await holdAccount(service, someone.accountId)
    const first = pay(someone, '10000')
    await hold.waiting(1)
    service.clock.advance(2)
    const second = pay(someone, '10000')
    await hold.release()
    const answers = await Promise.all([first, second])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403])
    expect(answers.find(({ status }) => status === 403)?.body.error).toBe('policy_denied')
  })

  test("of two payments that wait for the lock in two processes across midnight, one passes: the second sees today's usage by the first", async () => {
    advanceTo(20, 59, 59)
    const someone = await payer()
    await someone.api.post('/v1/spending-policies', { name: 'A day', daily_limit_minor: '10000' })
    const other = await startService({ database: service.database, clock: service.clock, env: { RATE_LIMIT_ENABLED: 'false' } })
    const elsewhere: Payer = { ...someone, api: other.api.as({ cookie: someone.cookie }) }
    const hold = await holdAccount(service, someone.accountId)
    const both = [pay(someone, '10000'), pay(elsewhere, '10000')]
    await hold.waiting(2)
    service.clock.advance(2)
    await hold.release()
    const answers = await Promise.all(both)
    await other.close()
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403])
  })

  test('a batch that waits for the lock over midnight counts whole in the new day: no item is counted yesterday, and one more shilling is refused', async () => {
    advanceTo(20, 59, 59)
    const someone = await payer()
    await someone.api.post('/v1/spending-policies', { name: 'A day', daily_limit_minor: '30000' })
    const item = (n: number) => ({ beneficiary_id: someone.beneficiary, amount_minor: '10000', account_reference: `S-${n}` })
    const submit = (count: number) =>
      someone.api.post('/v1/payment-batches', {
        items: Array.from({ length: count }, (_, n) => item(n)),
        duplicates_intended: true,
      })
    expect((await pay(someone, '30000')).status).toBe(201)
    const hold = await holdAccount(service, someone.accountId)
    const waits = submit(3)
    await hold.waiting(1)
    service.clock.advance(2)
    await hold.release()
    const batch = await waits
    expect([batch.status, batch.body.total_minor]).toEqual([201, '30000'])
    expect((await pay(someone, '1000')).body.error).toBe('policy_denied')
    // The batch's items are counted in one day of the workspace, the current one.
    const days = await service.deps.db.query<{ day: string; count: number }>(
      `select counted_day::text as day, count(*)::int as count from payments where batch_id = $1 group by counted_day`,
      [parseId('payment_batch', batch.body.id)],
    )
    expect(days).toEqual([{ day: localDateTime(service.clock.now(), 'Africa/Nairobi').slice(0, 10), count: 3 }])
    service.clock.advance(86_400)
    expect((await submit(3)).status).toBe(201)
    expect(await wrongCounters()).toEqual([])
  })

  test('a payment that is approved on a later day is decided again for that day, and counts there', async () => {
    const someone = await payer()
    const rules = { name: 'A day', daily_limit_minor: '100000', approval_threshold_minor: '1' }
    await someone.api.post('/v1/spending-policies', rules)
    const yesterday = (await pay(someone, '100000')).body
    service.clock.advance(86_400)
    const today = (await pay(someone, '100000')).body
    expect(today.status).toBe('pending_approval')
    expect((await approve(someone, yesterday.approval_id)).body).toMatchObject({ status: 'approved' })
    expect(await statusOf(someone, yesterday.id)).toEqual(['failed', 'policy_changed'])
    await approve(someone, today.approval_id)
    await service.settle()
    expect(await statusOf(someone, today.id)).toEqual(['succeeded', null])
    expect((await pay(someone, '1000')).body.error).toBe('policy_denied')
  })

  test('when it counts today, it no longer counts yesterday', async () => {
    const someone = await payer()
    const rules = { name: 'A day', daily_limit_minor: '100000', approval_threshold_minor: '50000' }
    await someone.api.post('/v1/spending-policies', rules)
    const waiting = (await pay(someone, '100000')).body
    service.clock.advance(86_400)
    await approve(someone, waiting.approval_id)
    await service.settle()
    expect(await statusOf(someone, waiting.id)).toEqual(['succeeded', null])
    expect((await pay(someone, '10000')).body.error).toBe('policy_denied')
    expect(await wrongCounters()).toEqual([])
  })
})

describe('counters follow from the payments', () => {
  test('after a new time zone and an edited policy, the end of a payment still corrects every counter', async () => {
    const someone = await payer()
    const policy = (
      await someone.api.post('/v1/spending-policies', {
        name: 'Month',
        monthly_limit_minor: '1000000',
        approval_threshold_minor: '1',
      })
    ).body
    await someone.api.patch('/v1/workspaces/current', { time_zone: 'Pacific/Kiritimati' })
    const waiting = (await pay(someone, '20000')).body
    service.clock.advance(31 * 86_400)
    someone.api = (await signIn(service.api, someone.wallet)).api
    const { version } = (await someone.api.get(`/v1/spending-policies/${policy.id}`)).body
    const altered = await someone.api.patch(`/v1/spending-policies/${policy.id}`, { version, monthly_limit_minor: '2000000' })
    expect(altered.status).toBe(200)
    expect((await someone.api.post(`/v1/payments/${waiting.id}/cancel`)).status).toBe(200)
    expect(await wrongCounters()).toEqual([])
  })

  test('a policy counts the payments made before it on the same day, and subtracts those that end unpaid', async () => {
    const someone = await payer()
    await someone.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })
    const morning = (await pay(someone, '60000')).body
    await pay(someone, '20000')
    await someone.api.post('/v1/spending-policies', { name: 'Noon', daily_limit_minor: '90000' })
    expect((await pay(someone, '20000')).body.error).toBe('policy_denied')
    await someone.api.post(`/v1/payments/${morning.id}/cancel`)
    expect((await pay(someone, '20000')).status).toBe(201)
    expect(await wrongCounters()).toEqual([])
  })

  type Step =
    | { kind: 'pay'; amount: number }
    | { kind: 'approve' | 'cancel'; index: number }
    | { kind: 'wait'; hours: number }
    | { kind: 'zone'; zone: string }
    | { kind: 'alter'; limit: number }

  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pay' as const), amount: fc.integer({ min: 10, max: 90 }) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('approve' as const, 'cancel' as const), index: fc.nat(20) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(1, 7, 24, 26, 31 * 24) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('zone' as const),
        // Zones ahead of Nairobi, behind it, and with clock changes in autumn and spring.
        zone: fc.constantFrom('Pacific/Kiritimati', 'America/New_York', 'Africa/Cairo', 'Africa/Nairobi'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('alter' as const), limit: fc.integer({ min: 100, max: 300 }) }) },
  )

  test('over midnights, ends of months, changed clocks, zones and policies no day exceeds its limit, and every counter is its sum', async () => {
    const oneHistory = async (steps: readonly Step[]) => {
      let someone = await payer()
      const wallet = someone.wallet
      const minor = (shillings: number) => String(shillings * 100)
      const asks = { name: 'Asks', approval_threshold_minor: minor(50) }
      const policy = (await someone.api.post('/v1/spending-policies', { ...asks, daily_limit_minor: minor(150) })).body
      const made: { id: string; approval_id: string | null }[] = []
      let largest = 150
      for (const next of steps) {
        const chosen = 'index' in next ? made[next.index % Math.max(1, made.length)] : undefined
        if (next.kind === 'pay') {
          const answer = await pay(someone, minor(next.amount))
          if (answer.status === 201) made.push(answer.body)
        } else if (next.kind === 'approve' && chosen?.approval_id) await approve(someone, chosen.approval_id)
        else if (next.kind === 'cancel' && chosen) await someone.api.post(`/v1/payments/${chosen.id}/cancel`)
        else if (next.kind === 'wait') {
          service.clock.advance(next.hours * 3600)
          someone = { ...someone, ...(await signIn(service.api, wallet)) }
        } else if (next.kind === 'zone') await someone.api.patch('/v1/workspaces/current', { time_zone: next.zone })
        else if (next.kind === 'alter') {
          largest = Math.max(largest, next.limit)
          const { version } = (await someone.api.get(`/v1/spending-policies/${policy.id}`)).body
          const change = { version, daily_limit_minor: minor(next.limit) }
          expect((await someone.api.patch(`/v1/spending-policies/${policy.id}`, change)).status).toBe(200)
        }
      }
      const days = await service.deps.db.query<{ spent: bigint }>(
        `select sum(amount_minor)::bigint as spent from payments where workspace_id = (select workspace_id from spending_policies order by id desc limit 1)
           and status not in ('rejected', 'failed', 'cancelled', 'expired') group by counted_day`,
      )
      for (const { spent } of days) expect(spent).toBeLessThanOrEqual(BigInt(largest * 100))
      expect(await wrongCounters()).toEqual([])
    }
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), oneHistory), { numRuns: 10 })
  })
})
