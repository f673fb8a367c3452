import { createMandate } from '../harness/mandates.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Key, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

export type Household = {
  person: Person
  beneficiaries: { phone: string; business: string; bank: string }
  agent: Key
  /** An undecided payment requested by the agent. */
  approvalId: string
  paymentId: string
  heldPaymentId: string
}

/** An account after some use: money, payees, policies, an agent, successful and failed payments. */
export const createHousehold = async (service: TestService): Promise<Household> => {
  const person = await signIn(service.api)
  const { api } = person
  await api.patch('/v1/accounts/me', { display_name: 'Wanjiku Kamau' })
  await fund(service, person, 12_500_000n)
  const beneficiaries = {
    phone: await newBeneficiary(api, { display_name: 'Brian Otieno', type: 'employee' }),
    business: await newBeneficiary(api, {
      display_name: 'Kenya Power',
      type: 'utility',
      payment_rail: 'MPESA_B2B',
      destination: '888880',
      account_reference_required: true,
    }),
    bank: await newBeneficiary(api, {
      display_name: 'Savannah Supplies Ltd',
      payment_rail: 'PESALINK',
      destination: '0011547896523',
      bank_code: '0012',
    }),
  }
  const pay = (beneficiary: string, amount: string, fields: Record<string, unknown> = {}) =>
    api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount, ...fields })
  const paid = await pay(beneficiaries.phone, '900000', { narrative: 'Salary, first half' })
  await pay(beneficiaries.business, '384000', { narrative: 'Electricity', account_reference: '14253687' })
  await service.settle()
  await api.post('/v1/spending-policies', {
    name: 'Office expenses',
    per_payment_limit_minor: '5000000',
    daily_limit_minor: '10000000',
    approval_threshold_minor: '1000000',
    required_approval_count: 1,
  })
  await api.post('/v1/spending-policies', {
    name: 'Utilities',
    beneficiary_ids: [beneficiaries.business],
    monthly_limit_minor: '2000000',
  })
  const agent = await createKey(person, {
    name: 'Procurement agent',
    spending_controls: { per_payment_limit_minor: '4000000', daily_limit_minor: '6000000', monthly_limit_minor: '50000000' },
  })
  await agent.api.post('/v1/payments', { beneficiary_id: beneficiaries.phone, amount_minor: '45000', narrative: 'Airtime' })
  await service.settle()
  const held = await agent.api.post('/v1/payments', {
    beneficiary_id: beneficiaries.bank,
    amount_minor: '2349900',
    narrative: 'Paper, toner and chairs',
    account_reference: 'PO-2291',
  })
  // A payment that its limits refuse.
  await agent.api.post('/v1/payments', { beneficiary_id: beneficiaries.phone, amount_minor: '4100000' })
  await createMandate(service, person.wallet, { description: 'Catering this week', max_total_minor: '2000000' })
  return { person, beneficiaries, agent, approvalId: held.body.approval_id, paymentId: paid.body.id, heldPaymentId: held.body.id }
}
