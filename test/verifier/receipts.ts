import { type AuthenticatorOptions, addPasskey } from '../harness/authenticator.ts'
import type { Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { createScene } from '../payments/authority-scene.ts'
import { deliver, lastOrder, pay, transferCallback } from '../rails-flows/scene.ts'

/** A person with money, and a policy that requires approval from KES 1,000 on. */
export const newPayer = async (service: TestService): Promise<Person> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 50_000_000n)
  await person.api.post('/v1/spending-policies', {
    name: 'Ask from 1,000',
    approval_threshold_minor: '100000',
    daily_limit_minor: '20000000',
  })
  return person
}

/** The receipt once everything in it is sealed. */
export const receiptOf = async (service: TestService, { api }: Pick<Person, 'api'>, id: string): Promise<Json> => {
  await service.settle()
  await service.deps.jobs.sweep()
  const answer = await api.get(`/v1/payments/${id}/receipt`)
  if (answer.status !== 200) throw new Error(`no receipt: ${answer.status} ${answer.text}`)
  return answer.body
}

const create = async (api: Person['api'], fields: Record<string, unknown>): Promise<Json> => {
  const answer = await api.post('/v1/payments', fields)
  if (answer.status !== 201) throw new Error(`no payment: ${answer.status} ${answer.text}`)
  return answer.body
}

const inAMinute = ({ clock }: TestService): string => new Date(clock.now().getTime() + 60_000).toISOString()

const overBank = (destination: string) => ({ payment_rail: 'PESALINK', destination, bank_code: '01' })

type Kind = (service: TestService, person: Person, beneficiary: string) => Promise<string>

const signApproval = async (service: TestService, person: Person, approvalId: string, decision: 'approve' | 'reject') => {
  const { message } = (await service.api.get(`/v1/approvals/${approvalId}/message?decision=${decision}`)).body
  const signature = await person.wallet.signMessage({ message })
  await service.api.post(`/v1/approvals/${approvalId}/decide-by-signature`, { decision, signature })
}

/** A new passkey of the person that signs as on the approval's page. */
export const approveByPasskey = async (
  service: TestService,
  { api }: Pick<Person, 'api'>,
  approvalId: string,
  options?: AuthenticatorOptions,
): Promise<void> => {
  const { authenticator } = await addPasskey(api, service.deps.config.publicUrl, options)
  const { signing } = (await api.get(`/v1/approvals/${approvalId}`)).body
  const passkey = authenticator.sign(signing.approve)
  const answer = await api.post(`/v1/approvals/${approvalId}/decide`, { decision: 'approve', passkey })
  if (answer.status !== 200) throw new Error(`not approved: ${answer.status} ${answer.text}`)
}

const reported = async (service: TestService, person: Person, destination: string, state: 'Success' | 'Returned') => {
  const id = await pay(person, overBank(destination), '90000')
  await service.settle()
  const order = lastOrder(service)
  await deliver(order.resultUrl, transferCallback(order, { state }))
  return id
}

/** Every way in which a payment is decided and ends. Each kind pays, and returns the payment's id. */
export const kinds: Readonly<Record<string, Kind>> = {
  'allowed for a person': async (_service, { api }, beneficiary) =>
    (await create(api, { beneficiary_id: beneficiary, amount_minor: '20000', narrative: 'Milk' })).id,
  'allowed for a key within its limits': async (_service, person, beneficiary) => {
    const key = await createKey(person, { spending_controls: { daily_limit_minor: '500000', beneficiary_ids: [beneficiary] } })
    await key.api.post('/v1/spending-policies', { name: 'Its own', monthly_limit_minor: '600000' })
    return (await create(key.api, { beneficiary_id: beneficiary, amount_minor: '30000', metadata: { order: '17' } })).id
  },
  'approved with a session': async (_service, { api }, beneficiary) => {
    const payment = await create(api, { beneficiary_id: beneficiary, amount_minor: '150000' })
    await api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision: 'approve', reason: 'as agreed' })
    return payment.id
  },
  'approved by a wallet': async (service, person, beneficiary) => {
    const payment = await create(person.api, { beneficiary_id: beneficiary, amount_minor: '160000' })
    await signApproval(service, person, payment.approval_id, 'approve')
    return payment.id
  },
  'approved by a passkey': async (service, person, beneficiary) => {
    const { id, approval_id: approvalId } = await create(person.api, { beneficiary_id: beneficiary, amount_minor: '165000' })
    await approveByPasskey(service, person, approvalId)
    return id
  },
  'rejected by a wallet': async (service, person, beneficiary) => {
    const payment = await create(person.api, { beneficiary_id: beneficiary, amount_minor: '170000' })
    await signApproval(service, person, payment.approval_id, 'reject')
    return payment.id
  },
  'approved by a mandate': async (service, person, beneficiary) => {
    const mandate = await createMandate(service, person.wallet, { max_total_minor: '900000', beneficiary_ids: [beneficiary] })
    return (await create(person.api, { beneficiary_id: beneficiary, amount_minor: '180000', mandate_id: mandate.id })).id
  },
  'an item of a batch that a wallet approved': async (service, person, beneficiary) => {
    const items = ['150000', '20000', '30000', '40000', '50000'].map((amount_minor) => ({
      beneficiary_id: beneficiary,
      amount_minor,
    }))
    const { body: batch } = await person.api.post('/v1/payment-batches', { items, duplicates_intended: true })
    await signApproval(service, person, batch.approval_id, 'approve')
    const { data } = (await person.api.get(`/v1/payments?batch_id=${batch.id}&limit=100`)).body
    return data.find((item: Json) => item.amount_minor === '40000').id
  },
  'scheduled, approved by a wallet and sent at its time': async (service, person, beneficiary) => {
    const payment = await create(person.api, {
      beneficiary_id: beneficiary,
      amount_minor: '165000',
      execute_at: inAMinute(service),
    })
    await signApproval(service, person, payment.approval_id, 'approve')
    service.clock.advance(61)
    await service.deps.jobs.sweep()
    return payment.id
  },
  'scheduled, and approved by a wallet as a rule that came later asked at its time': async (service, person, beneficiary) => {
    const payment = await create(person.api, {
      beneficiary_id: beneficiary,
      amount_minor: '46000',
      execute_at: inAMinute(service),
    })
    const rule = { name: 'Ask from 460', approval_threshold_minor: '46000', required_approval_count: 1 }
    const { id } = (await person.api.post('/v1/spending-policies', rule)).body
    service.clock.advance(61)
    await service.deps.jobs.sweep()
    const { approval_id } = (await person.api.get(`/v1/payments/${payment.id}`)).body
    await signApproval(service, person, approval_id, 'approve')
    await person.api.delete(`/v1/spending-policies/${id}`)
    return payment.id
  },
  'scheduled, and cancelled before its time': async (service, { api }, beneficiary) => {
    const payment = await create(api, { beneficiary_id: beneficiary, amount_minor: '45000', execute_at: inAMinute(service) })
    await api.post(`/v1/payments/${payment.id}/cancel`)
    return payment.id
  },
  'returned by the bank': (service, person) => reported(service, person, '99990000', 'Returned'),
  'failed, and succeeded late': (service, person) => reported(service, person, '99990001', 'Success'),
  'signed by a wallet, and by two after the registered name had renewed the text': async (service, person) => {
    const scene = createScene(() => service, person.wallet)
    const rule = { name: 'Two from 1,950', approval_threshold_minor: '195000', required_approval_count: 2 }
    await person.api.post('/v1/spending-policies', rule)
    const beneficiary_id = await newBeneficiary(person.api, { display_name: 'Landlord', destination: '254722100001' })
    const workspace = (await person.api.get('/v1/workspaces/current')).body.workspace.id
    const second = await scene.join({ owner: person, workspace, beneficiary: beneficiary_id })
    const payment = await create(person.api, { beneficiary_id, amount_minor: '195000' })
    await signApproval(service, person, payment.approval_id, 'approve')
    await service.settle()
    for (const signer of [person, second]) await signApproval(service, signer, payment.approval_id, 'approve')
    return payment.id
  },
}
