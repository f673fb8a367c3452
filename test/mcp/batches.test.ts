import { expect, test } from 'vitest'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { connectAgent } from './connect.ts'

const service = await openService()
const person = await signIn(service.api)
await fund(service, person, 1_000_000n)
const payees = [
  await newBeneficiary(person.api, { destination: '254722000601' }),
  await newBeneficiary(person.api, { destination: '254722000602' }),
]

test('an agent proposes a batch that a person approves, and never one above its limits', async () => {
  const spending_controls = { daily_limit_minor: '50000', approval_threshold_minor: '20000' }
  const { key } = await createKey(person, { spending_controls })
  const agent = await connectAgent(service.api.url, { bearer: key })
  const batch = (amounts: string[], idempotency_key: string) =>
    agent.call('create_payment_batch', {
      idempotency_key,
      name: 'Salaries',
      items: amounts.map((amount_minor, index) => ({ beneficiary_id: payees[index], amount_minor })),
    })
  expect(await batch(['30000', '30000'], 'too much')).toMatchObject({
    status: 'refused',
    next: 'change_request',
    faults: [{ index: 1, error: 'policy_denied' }],
  })
  const asked = await batch(['30000', '10000'], 'march')
  expect(asked).toMatchObject({ status: 'pending_approval', next: 'ask_a_person', items_count: 2, total_minor: '40000' })
  expect(asked.approval.url).toMatch(/\/approve\/apr_/)
  expect(asked.message).toContain('KES 400.00 in 2 payments ("Salaries")')
  expect((await batch(['10000'], 'one')).message).toContain('KES 100.00 in 1 payment ("Salaries")')
  const id = asked.approval.id
  expect((await person.api.post(`/v1/approvals/${id}/decide`, { decision: 'approve' })).status).toBe(200)
  await service.settle()
  const after = await agent.call('get_payment_batch', { batch_id: asked.batch_id })
  expect(after).toMatchObject({ status: 'completed', next: 'done', counts: { succeeded: 2 } })
  expect((await agent.call('list_payments', { batch_id: asked.batch_id })).payments).toHaveLength(2)
  await agent.close()
})

test('an agent pays a batch of the 1,000 items that the tool offers, each with the longest narrative', async () => {
  await fund(service, person, 1_000_000n)
  const { key } = await createKey(person, { spending_controls: { approval_threshold_minor: '1000' } })
  const agent = await connectAgent(service.api.url, { bearer: key })
  const items = Array.from({ length: 1_000 }, (_, index) => ({
    beneficiary_id: payees[index % 2],
    amount_minor: '1000',
    account_reference: `INV-${index}`,
    narrative: 'é'.repeat(140),
  }))
  expect(JSON.stringify(items).length).toBeGreaterThan(64 * 1024)
  const made = await agent.call('create_payment_batch', { idempotency_key: 'the largest', items })
  expect(made).toMatchObject({ status: 'pending_approval', items_count: 1_000, total_minor: '1000000' })
  await agent.close()
})
