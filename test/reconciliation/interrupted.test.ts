import { afterAll, beforeAll, expect, test } from 'vitest'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { newId, parseId } from '../../src/lib/ids.ts'
import { reconcilePaidIn, reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { type Administered, startAdministered } from '../admin/administrators.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { alerts, deliver, initiate, lastOrder, pass, paymentOf, stkCallback, topupOf } from '../rails-flows/scene.ts'

let administered: Administered
let service: TestService
let person: Person
beforeAll(async () => {
  administered = await startAdministered()
  service = administered.service
  person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
})
afterAll(async () => {
  // Seals the past days here, as the regular job does elsewhere.
  await pass(service, 1)
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const statement = () => statementCsv(service.sandbox.movements(), 'MPESA')
const reconcile = (text: string) => reconcileStatement(service.deps, shellOperator('a test'), { source: 'statement.csv', text })
const open = async () => (await administered.admin.api.get('/v1/admin/reconciliation-differences?status=open')).body.data
const runs = async () => (await administered.admin.api.get('/v1/admin/reconciliations')).body.data
const files = async () => (await runs()).filter(({ source }: { source: string }) => source === 'statement.csv').length
const statusOf = async (id: string): Promise<string> => (await paymentOf(person, id)).status

/** Stops a comparison after it was recorded: nothing can be booked. */
const interrupt = async (work: () => Promise<unknown>) => {
  await service.deps.db.query('alter table ledger_transfers rename to ledger_transfers_away')
  await work().finally(() => service.deps.db.query('alter table ledger_transfers_away rename to ledger_transfers'))
}

/** A payment that was paid, while its answer and its callback were lost. */
const payUnknown = async (amount_minor: string): Promise<string> => {
  const beneficiary_id = await newBeneficiary(person.api, { payment_rail: 'MPESA_B2B', destination: '400202' })
  service.sandbox.rules.add({ effect: 'lose_callback', times: 1, delay_ms: 0 })
  service.sandbox.failNext({ kind: 'reset', takesEffect: true })
  const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor })).body
  await service.settle()
  await pass(service, 60)
  return id
}

test('a comparison that was interrupted is finished by the same command, and each difference is evidence once', async () => {
  const ids = [await payUnknown('150000'), await payUnknown('160000')]
  const statuses = () => Promise.all(ids.map(statusOf))
  const text = statement()
  await interrupt(() => reconcile(text))
  expect([await statuses(), (await open()).length]).toEqual([['unknown', 'unknown'], 2])
  expect(await reconcile(text)).toMatchObject({ differences: 2 })
  expect([await statuses(), await open(), await files()]).toEqual([['succeeded', 'succeeded'], [], 1])
  await expect(reconcile(text)).rejects.toMatchObject({ code: 'conflict' })
})

test('evidence that was not booked stays open with the reason, and is not judged again', async () => {
  const id = await payUnknown('180000')
  const text = statement().replaceAll('1800.00', '1700.00')
  service.log.length = 0
  await reconcile(text)
  expect(alerts(service)).toContain('evidence_mismatch')
  const [difference] = await open()
  expect(difference).toMatchObject({ kind: 'under_way', payment_id: id, note: 'Not booked: mismatch.' })
  service.log.length = 0
  await expect(reconcile(text)).rejects.toMatchObject({ code: 'conflict' })
  expect([await open(), alerts(service)]).toEqual([[difference], []])
})

const day = 86_400
/** Advances to four o'clock of the next day in Nairobi, UTC+3. */
const nextDay = () => {
  const now = Math.floor(service.clock.now().getTime() / 1000) + 3 * 3_600
  service.clock.advance(day - (now % day) + 4 * 3_600)
}

test("the provider's daily list that was interrupted is evidence at its next run", async () => {
  nextDay()
  await reconcilePaidIn(service.deps)
  const id = await initiate(person, '254711000001')
  await service.settle()
  nextDay()
  await interrupt(() => reconcilePaidIn(service.deps))
  expect([(await runs())[0].differences, (await topupOf(person, id)).status]).toEqual([1, 'pending'])
  await reconcilePaidIn(service.deps)
  expect([(await runs())[0].differences, (await topupOf(person, id)).status]).toEqual([1, 'succeeded'])
})

test('a difference that fails stops no other of its day, and is taken as evidence later, even after another day was compared', async () => {
  nextDay()
  await reconcilePaidIn(service.deps)
  const ids = [await initiate(person, '254711000001'), await initiate(person, '254711000002')]
  await service.settle()
  const statuses = () => Promise.all(ids.map(async (id) => (await topupOf(person, id)).status))
  await service.deps.db.query(
    `create function refuse_one() returns trigger language plpgsql as $$ begin
       if new.id = '${parseId('topup', ids[0] ?? '')}' and new.status = 'succeeded' then raise 'planted'; end if; return new; end $$`,
  )
  await service.deps.db.query('create trigger planted before update on topups for each row execute function refuse_one()')
  service.log.length = 0
  nextDay()
  await reconcilePaidIn(service.deps)
  expect(await statuses()).toEqual(['pending', 'succeeded'])
  expect(alerts(service)).toEqual(['sweep_failing', 'reconciliation_difference'])
  nextDay()
  await reconcilePaidIn(service.deps)
  await service.deps.db.query('drop trigger planted on topups')
  await reconcilePaidIn(service.deps)
  expect(await statuses()).toEqual(['succeeded', 'succeeded'])
})

test('a failed top-up that a callback credits before its evidence is taken leaves no difference open', async () => {
  nextDay()
  await reconcilePaidIn(service.deps)
  const id = await initiate(person, '254700001032')
  await service.settle()
  expect((await topupOf(person, id)).status).toBe('failed')
  const prompt = lastOrder(service)
  const nowhere = 'http://127.0.0.1:9/nowhere'
  await service.deps.rails.collection?.collect({
    ...{ orderId: newId(), amountMinor: 150_000n, currency: 'KES', phoneNumber: '254722000014' },
    ...{ reference: prompt.reference, at: service.clock.now(), callbacks: { result: nowhere, timeout: nowhere } },
  })
  await service.settle()
  const receipt = service.sandbox.movements().at(-1)?.receipt ?? ''
  nextDay()
  await interrupt(() => reconcilePaidIn(service.deps))
  const about = async () => (await open()).filter(({ topup_id }: { topup_id: string }) => topup_id === id)
  expect(await about()).toMatchObject([{ kind: 'ended_otherwise', provider_receipt: receipt }])
  await deliver(prompt.resultUrl, stkCallback(prompt, { receipt }))
  await service.settle()
  expect(await topupOf(person, id)).toMatchObject({ status: 'succeeded', provider_receipt: receipt })
  await reconcilePaidIn(service.deps)
  expect(await about()).toEqual([])
})
