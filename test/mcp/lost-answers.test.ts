import { afterAll, describe, expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { connectAgent } from './connect.ts'

const service = await openService()
const person = await signIn(service.api)
await fund(service, person, 100_000_000n)
const key = await createKey(person)
const agent = await connectAgent(service.api.url, { bearer: key.key })
afterAll(() => agent.close())

const seed = Number(process.env.PROPERTY_SEED ?? 7)
const rounds = Number(process.env.LOST_ANSWERS ?? 12)

/** The same numbers in each run, so that a fault is found again. */
const randomOf = (start: number) => {
  let state = start
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

let serial = 0
const newOrder = async (more: object = {}) => {
  serial += 1
  const beneficiary_id = await newBeneficiary(person.api, { display_name: `Payee number ${serial}` })
  return { beneficiary_id, amount: '44.00', account_reference: `Invoice ${serial}`, ...more }
}
const pay = (order: object, idempotency_key: string, who = agent) => who.call('create_payment', { ...order, idempotency_key })
const paymentsTo = async (id: string) => (await person.api.get(`/v1/payments?beneficiary_id=${id}`)).body.data

describe('an agent that lost an answer and pays again under a new key', () => {
  test(`makes one payment and hears a true sentence, in ${rounds} rounds of answers that are lost at random`, async () => {
    const random = randomOf(seed)
    for (let round = 0; round < rounds; round += 1) {
      const order = await newOrder()
      const answers = []
      // A lost answer may belong to a call that was served, or to one that never arrived.
      for (let attempt = 0; attempt === 0 || random() < 0.7; attempt += 1) {
        if (random() < 0.2) continue
        answers.push(await pay(order, `round ${round} attempt ${attempt}`))
        if (random() < 0.5) await service.settle()
      }
      answers.push(await pay(order, `round ${round} last`))
      await service.settle()
      const [payment, ...others] = await paymentsTo(order.beneficiary_id)
      expect(others).toEqual([])
      const [first, ...repeated] = answers
      expect(first).toMatchObject({ payment_id: payment.id, status: 'processing' })
      for (const { next, message, existing, payment_id } of repeated) {
        expect([payment_id, existing.payment_id]).toEqual([null, payment.id])
        const sentence = existing.status === 'succeeded' ? 'Already paid' : 'Already being paid'
        expect(message).toMatch(
          new RegExp(`^${sentence}: ${payment.id}, KES 44.00, ${existing.status} .*No second payment was made`),
        )
        expect(message).not.toMatch(/nothing was paid/)
        expect(next).toBe(existing.status === 'succeeded' ? 'done' : 'wait')
      }
      const after = await pay(order, `round ${round} after`)
      expect(after).toMatchObject({ status: 'refused', next: 'done', existing: { receipt: payment.provider_receipt } })
      const { account_reference, amount, beneficiary_id } = order
      expect(await agent.call('simulate_payment', { account_reference, amount, beneficiary_id })).toMatchObject({
        next: 'done',
        message: expect.stringContaining(`Already paid: ${payment.id}`),
      })
    }
  })

  test('hears of the payment, and not of the limit that it has used up, the money that it has taken or the freeze that came after it', async () => {
    const limited = await createKey(person, { spending_controls: { daily_limit_minor: '5000' } })
    const careless = await connectAgent(service.api.url, { bearer: limited.key })
    const order = await newOrder()
    const made = await pay(order, 'limited 1', careless)
    await service.settle()
    const said = { status: 'refused', next: 'done', existing: { payment_id: made.payment_id, status: 'succeeded' } }
    expect(await pay(order, 'limited 2', careless)).toMatchObject(said)
    await person.api.patch(`/v1/accounts/me/grants/${limited.grantId}`, { frozen: true })
    const frozen = await pay(order, 'limited 3', careless)
    expect(frozen).toMatchObject({ ...said, refusal: { code: 'grant_frozen' } })
    expect(frozen.message).toContain('Already paid')
    await careless.close()
  })

  test('hears who has to approve what waits', async () => {
    const asking = await createKey(person, { spending_controls: { approval_threshold_minor: '1000' } })
    const careless = await connectAgent(service.api.url, { bearer: asking.key })
    const order = await newOrder()
    const made = await pay(order, 'asked 1', careless)
    const again = await pay(order, 'asked 2', careless)
    expect(again).toMatchObject({
      status: 'refused',
      next: 'ask_a_person',
      existing: { payment_id: made.payment_id, status: 'pending_approval' },
      approval: { url: made.approval.url },
    })
    await careless.close()
  })

  test('hears of the batch and the top-up that it made under the same key, even if it may not read them', async () => {
    const blind = await createKey(person, { permissions: ['payment.create', 'topup.create', 'beneficiary.read'] })
    const careless = await connectAgent(service.api.url, { bearer: blind.key })
    const batch = { items: [await newOrder()], idempotency_key: 'unread batch' }
    const topup = { amount: '100', phone_number: '0712345678', idempotency_key: 'unread top-up' }
    const [made, asked] = [await careless.call('create_payment_batch', batch), await careless.call('request_topup', topup)]
    expect([made, asked]).toMatchObject([{ status: 'processing' }, { status: 'pending' }])
    const again = [await careless.call('create_payment_batch', batch), await careless.call('request_topup', topup)]
    expect(again).toEqual([made, asked])
    const { data } = (await person.api.get(`/v1/payments?beneficiary_id=${batch.items[0]?.beneficiary_id}`)).body
    expect(data).toMatchObject([{ batch_id: made.batch_id }])
    await careless.close()
  })

  test('hears the state of the beneficiary that it proposed under the same key, not the state at first', async () => {
    const payee = { type: 'person', display_name: 'Njeri', payment_rail: 'MPESA_B2C', destination: '0712000222' }
    const proposal = { ...payee, idempotency_key: 'proposal' }
    const made = await agent.call('propose_beneficiary', proposal)
    expect(made).toMatchObject({ confirmation: 'proposed', next: 'ask_a_person' })
    await person.api.post(`/v1/beneficiaries/${made.id}/confirm`)
    const confirmed = { id: made.id, confirmation: 'confirmed', next: 'done' }
    expect(await agent.call('propose_beneficiary', proposal)).toMatchObject(confirmed)
    await person.api.delete(`/v1/beneficiaries/${made.id}`)
    expect(await agent.call('propose_beneficiary', proposal)).toMatchObject({
      status: 'archived',
      next: 'ask_a_person',
      message: expect.stringContaining('It is archived now and cannot be paid.'),
    })
  })

  test('hears of the batch, the top-up and the beneficiary that its key has made', async () => {
    const items = [await newOrder(), await newOrder()]
    const batch = { items }
    const made = await agent.call('create_payment_batch', { ...batch, idempotency_key: 'batch 1' })
    await service.settle()
    expect(await agent.call('create_payment_batch', { ...batch, idempotency_key: 'batch 2' })).toMatchObject({
      status: 'refused',
      next: 'done',
      message: expect.stringMatching(`^Already created: ${made.batch_id}, KES 88.00 in 2 payments, completed at `),
      existing: { batch_id: made.batch_id, status: 'completed' },
    })
    const other = await agent.call('create_payment_batch', { items: [await newOrder()], idempotency_key: 'batch 1' })
    expect(other).toMatchObject({ next: 'change_request', existing: { batch_id: made.batch_id, status: 'completed' } })
    const half = await agent.call('create_payment_batch', { items: [items[0], await newOrder()], idempotency_key: 'batch 3' })
    expect(half).toMatchObject({ next: 'ask_a_person', faults: [{ index: 0, existing: { status: 'succeeded' } }] })
    const topup = { amount: '100', phone_number: '0712345678', idempotency_key: 'top-up' }
    const asked = await agent.call('request_topup', topup)
    const refused = (await agent.raw('request_topup', { ...topup, amount: '200' })).structuredContent
    expect(refused).toMatchObject({ next: 'change_request', existing: { topup_id: asked.id, status: 'pending' } })
    const payee = { type: 'person', display_name: 'Achieng', payment_rail: 'MPESA_B2C', destination: '0712000111' }
    const added = await agent.call('propose_beneficiary', { ...payee, idempotency_key: 'payee' })
    const renamed = await agent.raw('propose_beneficiary', { ...payee, display_name: 'Atieno', idempotency_key: 'payee' })
    expect(renamed.structuredContent).toMatchObject({
      status: 'refused',
      next: 'change_request',
      existing: { beneficiary_id: added.id, status: 'active' },
    })
    const reader = await createKey(person, { permissions: ['payment.create', 'beneficiary.read'] })
    const { beneficiary_id, account_reference } = items[0] as { beneficiary_id: string; account_reference: string }
    const repeat = { beneficiary_id, account_reference, amount_minor: '4400', on_duplicate: 'confirm' }
    const blind = await reader.api.post('/v1/payments', repeat)
    expect([blind.status, blind.body.details.existing]).toEqual([409, undefined])
  })
})
