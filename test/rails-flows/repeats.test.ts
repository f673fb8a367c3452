import { afterAll, beforeEach, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { rememberDuplicateCheck } from '../../src/modules/exceptions/duplicate-checks-service.ts'
import { pauseRail, resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { checkDuplicate } from '../../src/rails/check.ts'
import type { Evidence } from '../../src/rails/rail.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { isLedgerSound, movementsTo, ordersTo, pass, pay, paymentOf } from './scene.ts'

const service = await openService()
const person = await signIn(service.api)
await credit(service, person.accountId, 100_000_000n)
afterAll(async () => {
  expect(await isLedgerSound(service)).toBe(true)
})
beforeEach(() => service.sandbox.rules.clear())

let phones = 254_722_000_300
const nextPhone = () => {
  phones += 1
  return String(phones)
}

/** A payment with a lost answer. `takesEffect`: the provider has it anyway. */
const payAndLose = async (takesEffect: boolean, payee: { payment_rail: string; destination: string; bank_code?: string }) => {
  service.sandbox.failNext({ kind: 'reset', takesEffect })
  const id = await pay(person, payee)
  await service.settle()
  return id
}
const b2c = (destination: string) => ({ payment_rail: 'MPESA_B2C', destination })
const statusOf = async (id: string): Promise<string> => (await paymentOf(person, id)).status

test.each([
  ['M-PESA B2C', () => b2c(nextPhone())],
  ['PesaLink', () => ({ payment_rail: 'PESALINK', destination: nextPhone() })],
])('%s: an order that was lost on its way is queried, then sent again under its id, once', async (_name, payeeOf) => {
  const payee = payeeOf()
  const id = await payAndLose(false, payee)
  expect(await statusOf(id)).toBe('unknown')
  await pass(service, 31)
  expect(ordersTo(service, payee.destination)).toHaveLength(0)
  await pass(service, 31)
  await pass(service, 61)
  expect(await statusOf(id)).toBe('succeeded')
  expect(movementsTo(service, payee.destination)).toHaveLength(1)
})

test.each([undefined, 'refuse_repeat_late'] as const)(
  'an order that had arrived is refused when it comes again (%s), moves money once, and ends by its own result',
  async (effect) => {
    const phone = nextPhone()
    service.sandbox.rules.add({ effect: 'late', party: phone, times: 1, delay_ms: 0 })
    if (effect) service.sandbox.rules.add({ effect, party: phone, times: null, delay_ms: 0 })
    service.sandbox.failNext({ kind: 'reset', takesEffect: true })
    const id = await pay(person, b2c(phone))
    await service.deps.jobs.drain()
    for (let checks = 0; checks < 2; checks += 1) {
      service.clock.advance(31)
      await service.deps.jobs.sweep()
    }
    await pass(service, 61)
    expect(await statusOf(id)).toBe('succeeded')
    expect(ordersTo(service, phone)).toHaveLength(1)
  },
)

test('PesaLink: an order that the bank reports as paid, without its own receipt, is not sent again, and ends by a later answer', async () => {
  const destination = nextPhone()
  service.sandbox.rules.add({ effect: 'lose_callback', party: destination, times: null, delay_ms: 0 })
  const pesalink = service.deps.rails.payout.PESALINK
  if (!pesalink) throw new Error('there is no PesaLink')
  const { pay: send, query } = pesalink
  let sends = 0
  // Said once. The answers that follow say nothing.
  const answers: Evidence[] = [{ kind: 'unknown', code: 'no_receipt', message: 'paid', moved: true }]
  Object.assign(pesalink, {
    pay: (instruction: Parameters<typeof send>[0]) => {
      sends += 1
      return send(instruction)
    },
    query: async () => answers.shift() ?? { kind: 'unknown', code: 'unreachable', message: 'no answer' },
  })
  const id = await payAndLose(true, { payment_rail: 'PESALINK', destination })
  for (const seconds of [31, 31, 61, 121]) await pass(service, seconds)
  expect(answers).toEqual([])
  expect([await statusOf(id), sends]).toEqual(['unknown', 1])
  Object.assign(pesalink, { pay: send, query })
  await pass(service, 301)
  expect([await statusOf(id), movementsTo(service, destination).length]).toEqual(['succeeded', 1])
})

test('nothing is sent again that is no longer the same order, may not be paid any more, or is older than an hour', async () => {
  const [renamed, frozen, old] = [nextPhone(), nextPhone(), nextPhone()]
  const beneficiaryOf = (payee: Record<string, string>) => newBeneficiary(person.api, payee)
  const lose = async (beneficiary_id: string) => {
    service.sandbox.failNext({ kind: 'reset', takesEffect: false })
    const answer = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' })
    expect(answer.status).toBe(201)
    await service.settle()
    return answer.body.id as string
  }
  const other = await beneficiaryOf({ payment_rail: 'PESALINK', destination: renamed, display_name: 'Jane One' })
  const stopped = await beneficiaryOf(b2c(frozen))
  const ids = [await lose(other), await lose(stopped)]
  expect((await person.api.patch(`/v1/beneficiaries/${other}`, { display_name: 'Jane Two' })).status).toBe(200)
  expect((await person.api.delete(`/v1/beneficiaries/${stopped}`)).status).toBeLessThan(300)
  for (const seconds of [31, 31, 61, 121]) await pass(service, seconds)
  const late = await payAndLose(false, b2c(old))
  service.clock.advance(31)
  await service.deps.jobs.sweep()
  await pass(service, 3_601)
  for (const seconds of [61, 121, 301]) await pass(service, seconds)
  for (const id of [...ids, late]) expect(await statusOf(id)).toBe('unknown')
  for (const phone of [renamed, frozen, old]) expect(ordersTo(service, phone)).toHaveLength(0)
})

test('nothing is sent again while the rail is paused', async () => {
  const { db } = service.deps
  const phone = nextPhone()
  const id = await payAndLose(false, b2c(phone))
  await inTx(db, (tx) => pauseRail(tx, shellOperator('jane'), 'MPESA_B2C', 'a test'))
  for (const seconds of [31, 31, 61]) await pass(service, seconds)
  expect([await statusOf(id), ordersTo(service, phone).length]).toEqual(['unknown', 0])
  await inTx(db, (tx) => resumeRail(tx, shellOperator('jane'), 'MPESA_B2C'))
  for (const seconds of [121, 301]) await pass(service, seconds)
  expect([await statusOf(id), ordersTo(service, phone).length]).toEqual(['succeeded', 1])
  // The sender of first orders rereads a pause within a second.
  const next = await pay(person, b2c(nextPhone()))
  await expect.poll(() => pass(service, 5).then(() => statusOf(next))).toBe('succeeded')
})

test('with a real provider nothing is sent again until a test has shown that it refuses duplicates', async () => {
  const rail = service.deps.rails.payout.MPESA_B2C
  if (!rail) throw new Error('there is no B2C')
  const { repeats } = rail
  const account = 'https://provider.test 600000'
  Object.assign(rail, { repeats: { provenFor: account } })
  const phone = nextPhone()
  const id = await payAndLose(false, b2c(phone))
  for (const seconds of [31, 31, 61]) await pass(service, seconds)
  expect(ordersTo(service, phone)).toHaveLength(0)
  await inTx(service.deps.db, (tx) => rememberDuplicateCheck(tx, shellOperator('jane'), { rail: 'MPESA_B2C', account }))
  for (const seconds of [121, 301]) await pass(service, seconds)
  expect(await statusOf(id)).toBe('succeeded')
  expect(ordersTo(service, phone)).toHaveLength(1)
  Object.assign(rail, { repeats })
})

test('the test of duplicates passes with a provider that refuses the second order, and fails with one that takes it', async () => {
  const { clock, deps, operatorUrl, sandbox } = service
  for (const rail of ['MPESA_B2C', 'PESALINK'] as const) {
    const adapter = deps.rails.payout[rail]
    if (!adapter) throw new Error('the rail is missing')
    const order = { rail, destination: nextPhone(), currency: 'KES', at: clock.now(), operatorUrl }
    expect(await checkDuplicate(adapter, order)).toMatchObject({ problem: null })
    expect(movementsTo(service, order.destination).length).toBeLessThanOrEqual(1)
    sandbox.rules.add({ effect: 'pay_again', rail, times: null, delay_ms: 0 })
    expect((await checkDuplicate(adapter, order)).problem).toContain('leave the setting off')
  }
  await service.settle()
})
