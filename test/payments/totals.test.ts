import { expect, test } from 'vitest'
import { createTestClock } from '../harness/clock.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

// Shortly before midnight in Nairobi (UTC+3), the zone of these days.
const service = await openService({ clock: createTestClock(new Date('2026-03-10T20:30:00Z')) })

const hour = 3600

test('totals cover everything that the filter matches; days are the workspace’s, and count sent payments', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 5_000_000n)
  const phone = await newBeneficiary(person.api)
  const refusing = await newBeneficiary(person.api, { destination: '254700002001' })
  const pay = (beneficiary_id: string, amount_minor: string) => person.api.post('/v1/payments', { beneficiary_id, amount_minor })
  await pay(phone, '10000')
  await pay(refusing, '70000')
  await service.settle()
  service.clock.advance(hour)
  await pay(phone, '20000')
  await pay(phone, '30000')
  await service.settle()
  const { status, body } = await person.api.get('/v1/payments/summary?days=3')
  expect(status).toBe(200)
  expect(body).toMatchObject({ currency: 'KES', count: 4, amount_minor: '130000' })
  // The failed payment is not spending: the figure is the sum of the days.
  expect(body.spent).toEqual({ count: 3, amount_minor: '60000' })
  expect(body.by_status).toContainEqual({ status: 'failed', count: 1, amount_minor: '70000' })
  expect(body.by_day).toEqual([
    { date: '2026-03-09', count: 0, amount_minor: '0' },
    { date: '2026-03-10', count: 1, amount_minor: '10000' },
    { date: '2026-03-11', count: 2, amount_minor: '50000' },
  ])
  const failed = (await person.api.get('/v1/payments/summary?status=failed')).body
  expect(failed).toMatchObject({ count: 1, amount_minor: '70000' })
  expect((await person.api.get(`/v1/payments/summary?beneficiary_id=${phone}`)).body.count).toBe(3)
  expect((await person.api.get('/v1/payments/summary?days=91')).status).toBe(400)
  expect((await person.api.get('/v1/payments/summary?limit=3')).body.error).toBe('invalid_request')
})

test('money in and out, and what was available at its end, are listed by day; a hold and its release are neither in nor out', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  const phone = await newBeneficiary(person.api)
  const refusing = await newBeneficiary(person.api, { destination: '254700002001' })
  await person.api.post('/v1/payments', { beneficiary_id: phone, amount_minor: '40000' })
  await person.api.post('/v1/payments', { beneficiary_id: refusing, amount_minor: '70000' })
  await service.settle()
  const first = { date: '2026-03-11', in_minor: '1000000', out_minor: '40000', available_minor: '960000' }
  const summary = async (days: number) => (await person.api.get(`/v1/accounts/me/history/summary?days=${days}`)).body
  const before = { date: '2026-03-10', in_minor: '0', out_minor: '0', available_minor: '0' }
  expect(await summary(2)).toEqual({ currency: 'KES', days: [before, first] })
  service.clock.advance(2 * 24 * hour)
  await person.api.post('/v1/payments', { beneficiary_id: phone, amount_minor: '10000' })
  const quiet = { date: '2026-03-12', in_minor: '0', out_minor: '0', available_minor: '960000' }
  const held = { date: '2026-03-13', in_minor: '0', out_minor: '0', available_minor: '950000' }
  expect((await summary(3)).days).toEqual([first, quiet, held])
  expect((await person.api.get('/v1/accounts/me/history/summary')).body.days).toHaveLength(30)
})

test('a policy shows the usage of its limits today and this month', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  const phone = await newBeneficiary(person.api)
  const policy = await person.api.post('/v1/spending-policies', { name: 'Office', daily_limit_minor: '100000' })
  await person.api.post('/v1/payments', { beneficiary_id: phone, amount_minor: '40000' })
  const usage = { today_minor: '40000', month_minor: '40000' }
  expect((await person.api.get(`/v1/spending-policies/${policy.body.id}`)).body.usage).toEqual(usage)
  expect((await person.api.get('/v1/spending-policies')).body.data[0].usage).toEqual(usage)
  service.clock.advance(24 * hour)
  expect((await person.api.get(`/v1/spending-policies/${policy.body.id}`)).body.usage).toEqual({ ...usage, today_minor: '0' })
})

test('totals cover the caller’s own workspace and account, and need the permission to read their rows', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 1_000_000n)
  const phone = await newBeneficiary(person.api)
  await person.api.post('/v1/payments', { beneficiary_id: phone, amount_minor: '40000' })
  await service.settle()
  const stranger = await signIn(service.api)
  expect((await stranger.api.get('/v1/payments/summary')).body.count).toBe(0)
  const { body } = await stranger.api.get('/v1/accounts/me/history/summary?days=1')
  expect(body.days[0]).toMatchObject({ in_minor: '0', out_minor: '0' })
  const blind = await createKey(person, { permissions: ['topup.read'] })
  for (const path of ['/v1/payments/summary', '/v1/accounts/me/history/summary']) {
    expect((await service.api.get(path)).status).toBe(401)
    expect((await blind.api.get(path)).body).toMatchObject({ error: 'forbidden' })
  }
})
