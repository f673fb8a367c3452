import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import {
  alerts,
  balanceOf,
  deliver,
  initiate,
  isLedgerSound,
  lastOrder,
  pass,
  stkCallback,
  topupOf,
  verdicts,
} from '../rails-flows/scene.ts'

let service: TestService
let second: TestService
let person: Person
beforeAll(async () => {
  service = await startService()
  second = await startService({ database: service.database, clock: service.clock, provider: service })
})
beforeEach(async () => {
  person = await signIn(service.api)
  service.log.length = 0
})
afterEach(async () => expect(await isLedgerSound(service)).toBe(true))
afterAll(async () => {
  await second.close()
  await service.close()
})

const silent = '254700004999'
const accepted = { status: 200, body: '{"ResultCode":0,"ResultDesc":"Accepted"}' }
const nothing = { available: '0', held: '0' }

/** A top-up without reports from the provider: the test delivers. */
const ask = async () => {
  const id = await initiate(person, silent)
  await service.settle()
  return { id, order: lastOrder(service) }
}
const settleBoth = async () => {
  await Promise.all([service.deps.jobs.drain(), second.deps.jobs.drain()])
  await service.settle()
}

test('one callback that both processes get ten times each at once is posted once', async () => {
  const { id, order } = await ask()
  const elsewhere = order.resultUrl.replace(service.operatorUrl, second.operatorUrl)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => deliver(index % 2 ? order.resultUrl : elsewhere, stkCallback(order))),
  )
  expect(answers).toEqual(Array(20).fill(accepted))
  await settleBoth()
  expect((await verdicts(service, order.resultUrl)).sort()).toEqual(['applied', ...Array(19).fill('repeated')])
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
  expect((await balanceOf(person)).available).toBe('150000')
})

test('a wrong secret, an unknown attempt and a malformed path get the same answer, are stored, and move nothing', async () => {
  const { id, order } = await ask()
  const [, , attemptId = '', secret = ''] = new URL(order.resultUrl).pathname.split('/')
  const forged = [
    order.resultUrl.replace(secret, `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`),
    order.resultUrl.replace(secret, 'x'),
    order.resultUrl.replace(attemptId, '0192f0c4-5b1e-7cc3-9a53-3f0f6a9d1b11'),
    order.resultUrl.replace(attemptId, 'nobody'),
    order.resultUrl.replace(attemptId, "'; drop table topups; --"),
  ]
  for (const url of forged) expect(await deliver(url, stkCallback(order))).toEqual(accepted)
  await settleBoth()
  const kept = await service.deps.db.query(
    `select verdict, authentic from callback_deliveries order by received_at desc, id desc limit 5`,
  )
  expect(kept.map((row) => JSON.stringify(row)).sort()).toEqual(
    [...Array(2).fill('forged'), ...Array(3).fill('unknown_attempt')]
      .map((verdict) => JSON.stringify({ verdict, authentic: false }))
      .sort(),
  )
  expect((await topupOf(person, id)).status).toBe('pending')
  expect(await balanceOf(person)).toEqual(nothing)
})

test('of deliveries that come at the same moment each counts for its own attempt, and a forged one among them spoils none', async () => {
  const asked = [await ask(), await ask(), await ask()]
  const urls = asked.map(({ order }) => order.resultUrl)
  const forged = urls.map((url) => url.replace(/[^/]+\/result$/, 'guessed/result'))
  const sent = asked.flatMap(({ order }, index) => [
    deliver(forged[index] ?? '', stkCallback(order)),
    deliver(urls[index] ?? '', stkCallback(order)),
  ])
  expect(await Promise.all(sent)).toEqual(Array(6).fill(accepted))
  await settleBoth()
  for (const { id, order } of asked) {
    expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
    expect((await verdicts(service, order.resultUrl)).sort()).toEqual(['applied', 'forged'])
  }
})

test('every delivery is accepted and stored; one that cannot be parsed ends nothing, and one that reports money waits for a person', async () => {
  const { id, order } = await ask()
  const bodies = [
    '',
    'not json',
    '[]',
    'null',
    '{"Body":{}}',
    '{"__proto__":{"ResultCode":0}}',
    'x'.repeat(60_000),
    '{"Body":{"stkCallback":{"ResultCode":"0"}}}',
  ]
  for (const body of bodies) expect(await deliver(order.resultUrl, body)).toEqual(accepted)
  await settleBoth()
  const [money, ...others] = (await verdicts(service, order.resultUrl)).sort()
  expect([money, new Set(others)]).toEqual(['contradiction', new Set(['inconclusive'])])
  expect((await topupOf(person, id)).status).toBe('pending')
  const items = await service.deps.db.query<{ reason: string; direction: string }>(
    'select reason, direction from suspense_items where subject_id = $1',
    [parseId('topup', id)],
  )
  expect(items).toEqual([{ reason: 'contradiction', direction: 'in' }])
})

test('a delivery to the secret address of a top-up is about it, whatever other id it names', async () => {
  const { id, order } = await ask()
  await deliver(order.resultUrl, stkCallback(order, { request: 'ws_CO_somebody_elses' }))
  await settleBoth()
  expect(await verdicts(service, order.resultUrl)).toEqual(['applied'])
  expect((await topupOf(person, id)).status).toBe('succeeded')
})

test('a receipt credits only one top-up', async () => {
  const other = await ask()
  await deliver(other.order.resultUrl, stkCallback(other.order))
  await settleBoth()
  const before = await balanceOf(person)
  const { id, order } = await ask()
  await deliver(order.resultUrl, stkCallback(order, { receipt: other.order.receipt }))
  await settleBoth()
  expect(await verdicts(service, order.resultUrl)).toEqual(['mismatch'])
  expect((await topupOf(person, id)).status).toBe('pending')
  expect(await balanceOf(person)).toEqual(before)
})

test('one receipt for two top-ups of different accounts at the same moment credits one of them', async () => {
  const one = { person, ...(await ask()) }
  person = await signIn(service.api)
  const two = { person, ...(await ask()) }
  await Promise.all([one, two].map(({ order }) => deliver(order.resultUrl, stkCallback(order, { receipt: 'SAMERECEIPT' }))))
  await settleBoth()
  const balances = await Promise.all([one, two].map((each) => balanceOf(each.person)))
  expect(balances.map(({ available }) => available).sort()).toEqual(['0', '150000'])
})

test('a failure after a success changes nothing and raises an alert; a success after a failure is credited', async () => {
  const { id, order } = await ask()
  await deliver(order.resultUrl, stkCallback(order))
  await settleBoth()
  await deliver(order.resultUrl, stkCallback(order, { code: 1032 }))
  await settleBoth()
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', failure_code: null })
  expect([...alerts(service), ...alerts(second)]).toContain('evidence_contradiction')

  const late = await ask()
  await deliver(late.order.resultUrl, stkCallback(late.order, { code: 1032 }))
  await settleBoth()
  expect(await topupOf(person, late.id)).toMatchObject({
    status: 'failed',
    failure_code: 'prompt_cancelled',
    provider_code: '1032',
  })
  await deliver(late.order.resultUrl, stkCallback(late.order))
  await settleBoth()
  expect(await topupOf(person, late.id)).toMatchObject({ status: 'succeeded', failure_code: null, failure_message: null })
  expect((await balanceOf(person)).available).toBe('300000')
})

test('a second receipt for a top-up that was credited is a contradiction, and credits nothing', async () => {
  const { order } = await ask()
  await deliver(order.resultUrl, stkCallback(order))
  await settleBoth()
  await deliver(order.resultUrl, stkCallback(order, { receipt: 'ANOTHERONE' }))
  await settleBoth()
  expect(await verdicts(service, order.resultUrl)).toEqual(['applied', 'contradiction'])
  expect((await balanceOf(person)).available).toBe('150000')
})

test('a receipt that comes after the proof of a success completes the top-up', async () => {
  const id = await initiate(person, '254711000001')
  await service.settle()
  await pass(service, 31)
  const order = lastOrder(service)
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: null })
  await deliver(order.resultUrl, stkCallback(order))
  await settleBoth()
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: order.receipt })
  expect((await balanceOf(person)).available).toBe('150000')
})

test('a delivery whose process died before processing it is processed by another', async () => {
  const { id, order } = await ask()
  await deliver(order.resultUrl, stkCallback(order))
  const other = await startService({ database: service.database, clock: service.clock, provider: service })
  await other.settle()
  expect((await topupOf(person, id)).status).toBe('succeeded')
  await other.close()
})

test('only allowed addresses are accepted, and a forwarded address only from a trusted proxy', async () => {
  const guarded = await startService({
    database: service.database,
    clock: service.clock,
    provider: service,
    env: { CALLBACK_ALLOWED_IPS: '196.201.214.200,10.20.0.0/16' },
  })
  const proxied = await startService({
    database: service.database,
    clock: service.clock,
    provider: service,
    env: { CALLBACK_ALLOWED_IPS: '196.201.214.200', TRUST_PROXY: '127.0.0.1' },
  })
  const { id, order } = await ask()
  const from = (target: TestService) => order.resultUrl.replace(service.operatorUrl, target.operatorUrl)
  const forwarded = (url: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '196.201.214.200:51234' },
      body: JSON.stringify(stkCallback(order)),
    })
  expect((await deliver(from(guarded), stkCallback(order))).status).toBe(200)
  expect((await forwarded(from(guarded))).status).toBe(200)
  expect((await deliver(from(proxied), stkCallback(order))).status).toBe(200)
  await settleBoth()
  expect((await topupOf(person, id)).status).toBe('pending')
  expect(await verdicts(service, order.resultUrl)).toEqual(Array(3).fill('foreign_source'))
  expect(
    await service.deps.db.query('select from callback_bodies b join callback_deliveries d on d.id = b.id where not d.authentic'),
  ).toEqual([])
  expect((await forwarded(from(proxied))).status).toBe(200)
  await settleBoth()
  expect((await topupOf(person, id)).status).toBe('succeeded')
  await guarded.close()
  await proxied.close()
})

test('refused deliveries store no body, a few rows a minute at most, and those for a week', async () => {
  const { order } = await ask()
  service.clock.advance(60)
  const [, , attemptId = '', secret = ''] = new URL(order.resultUrl).pathname.split('/')
  const refused = async () =>
    (
      await service.deps.db.query<{ rows: number; bytes: number }>(
        `select count(*)::int as rows, coalesce(sum(pg_column_size(d.*)), 0)::int as bytes from callback_deliveries d where not authentic and attempt_id = $1`,
        [attemptId],
      )
    )[0]
  const flood = Array.from({ length: 60 }, () => deliver(order.resultUrl.replace(secret, 'x'), 'y'.repeat(60_000)))
  expect(await Promise.all(flood)).toEqual(Array(60).fill(accepted))
  expect(await refused()).toMatchObject({ rows: 20 })
  expect((await refused())?.bytes).toBeLessThan(20 * 300)
  expect((await deliver(order.resultUrl, 'z'.repeat(70_000))).status).toBe(413)
  // The provider's own report still counts.
  await deliver(order.resultUrl, stkCallback(order))
  await settleBoth()
  expect(await verdicts(service, order.resultUrl)).toContain('applied')
  service.clock.advance(6 * 86_400)
  await service.deps.jobs.sweep()
  expect(await refused()).toMatchObject({ rows: 20 })
  service.clock.advance(86_401)
  await service.deps.jobs.sweep()
  expect(await refused()).toMatchObject({ rows: 0 })
})

test('a sender that knows the secret of an attempt cannot fill the table, and a later day’s report is read', async () => {
  const { order } = await ask()
  for (let round = 0; round < 5; round += 1)
    await Promise.all(Array.from({ length: 40 }, () => deliver(order.resultUrl, '{"Body":{"stkCallback":{"ResultCode":"0"}}}')))
  const kept = (await verdicts(service, order.resultUrl)).length
  expect(kept).toBe(100)
  await settleBoth()
  service.clock.advance(86_401)
  await deliver(order.resultUrl, stkCallback(order))
  await settleBoth()
  expect((await balanceOf(person)).available).toBe(String(order.amountMinor))
})

test('the public listener serves no callbacks, and the document does not list them', async () => {
  const { id, order } = await ask()
  const answer = await deliver(order.resultUrl.replace(service.operatorUrl, service.api.url), stkCallback(order))
  expect(answer.status).toBe(404)
  expect(JSON.parse(answer.body).error).toBe('not_found')
  await settleBoth()
  expect((await topupOf(person, id)).status).toBe('pending')
  expect((await service.api.get('/openapi.json')).text).not.toContain('/callbacks')
})

test('bodies are stored encrypted, and no log line contains a secret, a path or a phone number', async () => {
  const { order } = await ask()
  const secret = new URL(order.resultUrl).pathname.split('/')[3] ?? 'none'
  await deliver(order.resultUrl, stkCallback(order))
  await deliver(order.resultUrl.replace('/result', '/nonsense'), stkCallback(order))
  await settleBoth()
  const [row] = await service.deps.db.query<{ body: Buffer }>(
    'select body_ciphertext as body from callback_bodies order by id desc limit 1',
  )
  expect(row?.body.toString('latin1')).not.toContain('MpesaReceiptNumber')
  const logged = [...service.log, ...second.log].join('\n')
  for (const canary of [secret, silent, '/callbacks/']) expect(logged).not.toContain(canary)
})
