import type { Outcome } from '../../src/lib/policy-answers.ts'
import type { Evaluation } from '../../src/policy/types.ts'
import { evaluationOf, grant, kes, mandate, now, policy } from './builders.ts'

/** A row: name, input, outcome, the deciding rules, and other relevant parts of the decision. */
export type Case = {
  name: string
  input: Evaluation
  outcome: Outcome
  decisive?: string[]
  approvals?: number
  byMandate?: number
  separated?: boolean
}

const pays = (amount: number) => ({ amountMinor: kes(amount) })
const used = (day: number, month = day) => ({ dayMinor: kes(day), monthMinor: kes(month), totalMinor: 0n })
const asksFrom = (threshold: number, count = 1) =>
  policy({ approvalThresholdMinor: kes(threshold), requiredApprovalCount: count })
const separating = policy({ id: 'p9', name: 'Four eyes', separationOfDuties: true })
const byAgent = { grantLineage: ['g0', 'g1'] }

export const cases: Record<string, Case[]> = {
  'without rules': [
    { name: 'nothing stands in the way of a payment', input: evaluationOf(), outcome: 'allow', approvals: 0, separated: false },
    {
      name: 'an account whose payments are disabled pays nothing',
      input: evaluationOf({ payments: 'disabled' }),
      outcome: 'deny',
      decisive: ['payments'],
    },
  ],

  'what a policy falls on': [
    {
      name: 'a policy without lists falls on everything',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(10) })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'a policy on the payment type falls on it',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(10), paymentTypes: ['travel', 'supplies'] })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'a policy on the rail applies to it, with any type',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(10), paymentTypes: ['MPESA_B2B'] })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'a policy on other types does not',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(10), paymentTypes: ['travel', 'PESALINK'] })] }),
      outcome: 'allow',
    },
    {
      name: 'a policy on the beneficiary falls on it',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(10), beneficiaryIds: ['grocer'] })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'creating the same payee again escapes no policy',
      input: evaluationOf({
        payment: { beneficiaryId: 'grocer-again', payeeBeneficiaryIds: ['grocer', 'grocer-again'] },
        policies: [policy({ perPaymentLimitMinor: kes(10), beneficiaryIds: ['grocer'] })],
      }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'a policy on other beneficiaries does not',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(10), beneficiaryIds: ['landlord'] })] }),
      outcome: 'allow',
    },
    {
      name: 'both lists must match: the type alone is not enough',
      input: evaluationOf({
        policies: [policy({ perPaymentLimitMinor: kes(10), paymentTypes: ['supplies'], beneficiaryIds: ['landlord'] })],
      }),
      outcome: 'allow',
    },
  ],

  'limit per payment': [
    {
      name: 'the limit itself passes',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(1000) })] }),
      outcome: 'allow',
    },
    {
      name: 'a cent more does not',
      input: evaluationOf({ payment: pays(1000.01), policies: [policy({ perPaymentLimitMinor: kes(1000) })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'a limit of 0 lets not a cent pass',
      input: evaluationOf({ payment: pays(0.01), policies: [policy({ perPaymentLimitMinor: 0n })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
  ],

  'daily and monthly limits': [
    {
      name: 'what is left of the day may be spent to the last cent',
      input: evaluationOf({ policies: [policy({ dailyLimitMinor: kes(5000), usage: used(4000) })] }),
      outcome: 'allow',
    },
    {
      name: 'and a cent more may not',
      input: evaluationOf({ payment: pays(1000.01), policies: [policy({ dailyLimitMinor: kes(5000), usage: used(4000) })] }),
      outcome: 'deny',
      decisive: ['daily_limit'],
    },
    {
      name: 'the day counts the day only',
      input: evaluationOf({ policies: [policy({ dailyLimitMinor: kes(1000), usage: used(0, 90_000) })] }),
      outcome: 'allow',
    },
    {
      name: 'what is left of the month may be spent to the last cent',
      input: evaluationOf({ policies: [policy({ monthlyLimitMinor: kes(5000), usage: used(0, 4000) })] }),
      outcome: 'allow',
    },
    {
      name: 'a month that is used up denies on a fresh day',
      input: evaluationOf({ policies: [policy({ monthlyLimitMinor: kes(5000), usage: used(0, 5000) })] }),
      outcome: 'deny',
      decisive: ['monthly_limit'],
    },
    {
      name: 'a limit lowered below what is used denies, and overflows nowhere',
      input: evaluationOf({ payment: pays(0.01), policies: [policy({ dailyLimitMinor: kes(10), usage: used(500) })] }),
      outcome: 'deny',
      decisive: ['daily_limit'],
    },
    {
      name: 'a daily limit of 0 lets nothing pass',
      input: evaluationOf({ payment: pays(0.01), policies: [policy({ dailyLimitMinor: 0n })] }),
      outcome: 'deny',
      decisive: ['daily_limit'],
    },
    {
      name: 'a monthly limit of 0 lets nothing pass',
      input: evaluationOf({ payment: pays(0.01), policies: [policy({ monthlyLimitMinor: 0n })] }),
      outcome: 'deny',
      decisive: ['monthly_limit'],
    },
    {
      name: 'every limit that refuses is listed, not only the first',
      input: evaluationOf({
        policies: [
          policy({ perPaymentLimitMinor: kes(1), dailyLimitMinor: kes(2), monthlyLimitMinor: kes(3), usage: used(2, 3) }),
        ],
      }),
      outcome: 'deny',
      decisive: ['per_payment_limit', 'daily_limit', 'monthly_limit'],
    },
  ],

  'approvals asked for': [
    {
      name: 'below the threshold no approval is needed',
      input: evaluationOf({ payment: pays(999.99), policies: [asksFrom(1000)] }),
      outcome: 'allow',
    },
    {
      name: 'at the threshold one is needed',
      input: evaluationOf({ policies: [asksFrom(1000)] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      approvals: 1,
    },
    {
      name: 'a threshold of 0 asks for every payment',
      input: evaluationOf({ payment: pays(0.01), policies: [policy({ approvalThresholdMinor: 0n, requiredApprovalCount: 1 })] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      approvals: 1,
    },
    {
      name: 'a count without a threshold asks for every payment',
      input: evaluationOf({ payment: pays(0.01), policies: [policy({ requiredApprovalCount: 2 })] }),
      outcome: 'require_approval',
      decisive: ['required_approval_count'],
      approvals: 2,
    },
    {
      name: 'the highest count wins',
      input: evaluationOf({ policies: [asksFrom(500, 3), { ...asksFrom(100, 1), id: 'p2' }] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold', 'approval_threshold'],
      approvals: 3,
    },
    {
      name: 'a count whose threshold is not reached does not count',
      input: evaluationOf({ policies: [asksFrom(5000, 3), { ...asksFrom(100, 1), id: 'p2' }] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      approvals: 1,
    },
    {
      name: 'a threshold stored with a count of 0 still asks',
      input: evaluationOf({ policies: [asksFrom(1000, 0)] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      approvals: 1,
    },
    {
      name: 'a hard limit denies what an approval would otherwise let pass',
      input: evaluationOf({ policies: [asksFrom(100), policy({ id: 'p2', perPaymentLimitMinor: kes(500) })] }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
      approvals: 1,
    },
  ],

  'separation of duties': [
    {
      name: 'alone it asks for nothing',
      input: evaluationOf({ policies: [separating] }),
      outcome: 'allow',
      approvals: 0,
      separated: false,
    },
    {
      name: 'of any policy that applies to the payment it wins, also when another one asked for the approval',
      input: evaluationOf({ policies: [asksFrom(1000), separating] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      separated: true,
    },
    {
      name: 'of a policy whose own threshold is not reached it wins too',
      input: evaluationOf({ policies: [asksFrom(1000), { ...asksFrom(9000), id: 'p2', separationOfDuties: true }] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      separated: true,
    },
    {
      name: "of a policy that does not fall on the payment it doesn't",
      input: evaluationOf({ policies: [asksFrom(1000), { ...separating, paymentTypes: ['travel'] }] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      separated: false,
    },
    {
      name: "it holds for an approval that a grant's threshold asks for",
      input: evaluationOf({ payment: byAgent, policies: [separating], grants: [grant({ approvalThresholdMinor: kes(100) })] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      separated: true,
    },
  ],

  'eligible approvers': [
    {
      name: 'as many as are needed are enough',
      input: evaluationOf({ policies: [asksFrom(1000, 3)] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
    },
    {
      name: 'one fewer denies at once, rather than wait for ever',
      input: evaluationOf({ policies: [asksFrom(1000, 4)] }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
      approvals: 4,
    },
    {
      name: 'the initiator does not count under separation of duties',
      input: evaluationOf({ policies: [asksFrom(1000, 3), separating] }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
    },
    {
      name: 'an account named twice counts once',
      input: evaluationOf({ approvers: ['ada', 'ada'], policies: [asksFrom(1000, 2)] }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
    },
    {
      name: 'no eligible approver denies',
      input: evaluationOf({ approvers: [], policies: [asksFrom(1000)] }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
    },
    {
      name: 'where signatures are asked for only those who can sign count',
      input: evaluationOf({ signers: ['ben'], policies: [asksFrom(1000, 2), policy({ id: 'p8', approvalProof: 'signature' })] }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
    },
    {
      name: 'and as many of them as are needed are enough',
      input: evaluationOf({
        signers: ['ben', 'cat'],
        policies: [asksFrom(1000, 2), policy({ id: 'p8', approvalProof: 'signature' })],
      }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
    },
    {
      name: 'no eligible approver does not matter to a payment without approvals',
      input: evaluationOf({ approvers: [] }),
      outcome: 'allow',
    },
    {
      name: 'the sole member of a workspace cannot separate duties from itself',
      input: evaluationOf({ approvers: ['ada'], policies: [asksFrom(1000), separating] }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
      separated: true,
    },
  ],

  grants: [
    {
      name: 'an allow-list that names the type passes',
      input: evaluationOf({ payment: byAgent, grants: [grant({ paymentTypes: ['supplies'] })] }),
      outcome: 'allow',
    },
    {
      name: 'an allow-list that names the rail passes',
      input: evaluationOf({ payment: byAgent, grants: [grant({ paymentTypes: ['MPESA_B2B'] })] }),
      outcome: 'allow',
    },
    {
      name: 'an allow-list of other types denies',
      input: evaluationOf({ payment: byAgent, grants: [grant({ paymentTypes: ['travel'] })] }),
      outcome: 'deny',
      decisive: ['payment_types'],
    },
    {
      name: 'an allow-list that names the payee under any of its ids passes',
      input: evaluationOf({
        payment: { ...byAgent, beneficiaryId: 'grocer-again', payeeBeneficiaryIds: ['grocer', 'grocer-again'] },
        grants: [grant({ beneficiaryIds: ['grocer'] })],
      }),
      outcome: 'allow',
    },
    {
      name: 'an allow-list of other beneficiaries denies',
      input: evaluationOf({ payment: byAgent, grants: [grant({ beneficiaryIds: ['landlord'] })] }),
      outcome: 'deny',
      decisive: ['beneficiary_ids'],
    },
    {
      name: 'an empty allow-list allows nothing',
      input: evaluationOf({ payment: byAgent, grants: [grant({ paymentTypes: [], beneficiaryIds: [] })] }),
      outcome: 'deny',
      decisive: ['payment_types', 'beneficiary_ids'],
    },
    {
      name: "a parent's used-up day stops its child, also when the child has some left",
      input: evaluationOf({
        payment: byAgent,
        grants: [grant({ id: 'g0', dailyLimitMinor: kes(5000), usage: used(4500) }), grant({ dailyLimitMinor: kes(3000) })],
      }),
      outcome: 'deny',
      decisive: ['daily_limit'],
    },
    {
      name: "a child's own smaller budget stops it, also when its parent has some left",
      input: evaluationOf({
        payment: byAgent,
        grants: [grant({ id: 'g0', monthlyLimitMinor: kes(90_000) }), grant({ monthlyLimitMinor: kes(900) })],
      }),
      outcome: 'deny',
      decisive: ['monthly_limit'],
    },
    {
      name: 'a grant and its ancestors are all looked at',
      input: evaluationOf({
        payment: byAgent,
        grants: [grant({ id: 'g0', perPaymentLimitMinor: kes(1) }), grant({ perPaymentLimitMinor: kes(2) })],
      }),
      outcome: 'deny',
      decisive: ['per_payment_limit', 'per_payment_limit'],
    },
    {
      name: "a grant's threshold asks for one approval",
      input: evaluationOf({ payment: byAgent, grants: [grant({ approvalThresholdMinor: kes(1000) })] }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      approvals: 1,
    },
    {
      name: 'below it the agent is on its own',
      input: evaluationOf({ payment: byAgent, grants: [grant({ approvalThresholdMinor: kes(1000.01) })] }),
      outcome: 'allow',
    },
    {
      name: 'a denial of a grant outweighs the approval a policy asks for',
      input: evaluationOf({ payment: byAgent, policies: [asksFrom(100)], grants: [grant({ paymentTypes: ['travel'] })] }),
      outcome: 'deny',
      decisive: ['payment_types'],
    },
  ],

  'mandates that fit': [
    {
      name: 'the signature is the one approval needed',
      input: evaluationOf({ policies: [asksFrom(1000)], mandate: mandate() }),
      outcome: 'allow',
      approvals: 1,
      byMandate: 1,
    },
    {
      name: 'of two approvals it is one',
      input: evaluationOf({ policies: [asksFrom(1000, 2)], mandate: mandate() }),
      outcome: 'require_approval',
      decisive: ['approval_threshold'],
      approvals: 2,
      byMandate: 1,
    },
    {
      name: 'where no approval is needed it gives none',
      input: evaluationOf({ mandate: mandate() }),
      outcome: 'allow',
      byMandate: 0,
    },
    {
      name: 'it never answers for a hard limit',
      input: evaluationOf({ policies: [policy({ perPaymentLimitMinor: kes(500) })], mandate: mandate() }),
      outcome: 'deny',
      decisive: ['per_payment_limit'],
    },
    {
      name: 'bound to a grant it serves that grant',
      input: evaluationOf({
        payment: byAgent,
        policies: [asksFrom(1000)],
        mandate: mandate({ grantId: 'g1', signerAccountId: 'ben' }),
      }),
      outcome: 'allow',
      byMandate: 1,
    },
    {
      name: 'and its descendants',
      input: evaluationOf({ payment: byAgent, policies: [asksFrom(1000)], mandate: mandate({ grantId: 'g0' }) }),
      outcome: 'allow',
      byMandate: 1,
    },
    {
      name: "unbound it serves the signer's own agents too",
      input: evaluationOf({ payment: byAgent, policies: [asksFrom(1000)], mandate: mandate() }),
      outcome: 'allow',
      byMandate: 1,
    },
    {
      name: 'under separation of duties no signer approves their own payment by mandate',
      input: evaluationOf({ policies: [asksFrom(1000), separating], mandate: mandate() }),
      outcome: 'require_approval',
      decisive: ['approval_threshold', 'mandate_signer'],
      byMandate: 0,
      separated: true,
    },
    {
      name: 'nor that of its own agent',
      input: evaluationOf({ payment: byAgent, policies: [asksFrom(1000), separating], mandate: mandate({ grantId: 'g1' }) }),
      outcome: 'require_approval',
      decisive: ['approval_threshold', 'mandate_signer'],
      byMandate: 0,
    },
    {
      name: "under separation of duties another's signature counts",
      input: evaluationOf({
        payment: byAgent,
        policies: [asksFrom(1000), separating],
        mandate: mandate({ grantId: 'g1', signerAccountId: 'ben' }),
      }),
      outcome: 'allow',
      byMandate: 1,
      separated: true,
    },
    {
      name: 'a signer who may not approve here approves nothing',
      input: evaluationOf({ approvers: ['ben'], policies: [asksFrom(1000)], mandate: mandate() }),
      outcome: 'require_approval',
      decisive: ['approval_threshold', 'mandate_signer'],
      byMandate: 0,
    },
    {
      name: 'a signer whose wallet comes from the requester approves nothing, and even a small payment needs a person',
      input: evaluationOf({ policies: [asksFrom(5000)], mandate: mandate({ standing: 'excluded' }) }),
      outcome: 'require_approval',
      decisive: ['mandate_signer'],
      approvals: 1,
      byMandate: 0,
    },
    {
      name: 'nor does it count as one of two',
      input: evaluationOf({ policies: [asksFrom(1000, 2)], mandate: mandate({ standing: 'excluded' }) }),
      outcome: 'require_approval',
      decisive: ['approval_threshold', 'mandate_signer'],
      approvals: 2,
      byMandate: 0,
    },
    {
      name: 'the signer has counted and is not there to be asked again',
      input: evaluationOf({ approvers: ['ada', 'ben'], policies: [asksFrom(1000, 3)], mandate: mandate() }),
      outcome: 'deny',
      decisive: ['eligible_approvers'],
      byMandate: 1,
    },
    {
      name: 'the total may be spent to the last cent',
      input: evaluationOf({ mandate: mandate({ spentMinor: kes(9000) }) }),
      outcome: 'allow',
    },
    {
      name: 'the first instant of the window is in it',
      input: evaluationOf({ mandate: mandate({ validFrom: now }) }),
      outcome: 'allow',
    },
    {
      name: 'the last payment of those allowed passes',
      input: evaluationOf({ mandate: mandate({ maxPayments: 3, paymentsMade: 2 }) }),
      outcome: 'allow',
    },
  ],

  'mandates that do not fit deny, and are never ignored': [
    ...(['exhausted', 'expired', 'revoked'] as const).map((status) => ({
      name: `a mandate that is ${status}`,
      input: evaluationOf({ mandate: mandate({ status }) }),
      outcome: 'deny' as const,
      decisive: ['mandate_status'],
    })),
    {
      name: 'before its window',
      input: evaluationOf({ mandate: mandate({ validFrom: new Date(now.getTime() + 1) }) }),
      outcome: 'deny',
      decisive: ['mandate_window'],
    },
    {
      name: 'at the instant it expires',
      input: evaluationOf({ mandate: mandate({ expiresAt: now }) }),
      outcome: 'deny',
      decisive: ['mandate_window'],
    },
    {
      name: 'in another workspace',
      input: evaluationOf({ mandate: mandate({ workspaceId: 'office' }) }),
      outcome: 'deny',
      decisive: ['mandate_workspace'],
    },
    {
      name: 'bound to a grant, for a person without one',
      input: evaluationOf({ mandate: mandate({ grantId: 'g1' }) }),
      outcome: 'deny',
      decisive: ['mandate_initiator'],
    },
    {
      name: "bound to a child, for the child's parent",
      input: evaluationOf({ payment: { grantLineage: ['g0'] }, mandate: mandate({ grantId: 'g1' }) }),
      outcome: 'deny',
      decisive: ['mandate_initiator'],
    },
    {
      name: 'unbound, for another account',
      input: evaluationOf({ payment: { initiatorAccountId: 'ben' }, mandate: mandate() }),
      outcome: 'deny',
      decisive: ['mandate_initiator'],
    },
    {
      name: 'over another type of payment',
      input: evaluationOf({ mandate: mandate({ paymentTypes: ['travel'] }) }),
      outcome: 'deny',
      decisive: ['mandate_payment_types'],
    },
    {
      name: 'over another beneficiary',
      input: evaluationOf({ mandate: mandate({ beneficiaryIds: ['landlord'] }) }),
      outcome: 'deny',
      decisive: ['mandate_beneficiary_ids'],
    },
    {
      name: 'with more than it allows per payment',
      input: evaluationOf({ mandate: mandate({ maxPerPaymentMinor: kes(999.99) }) }),
      outcome: 'deny',
      decisive: ['mandate_per_payment'],
    },
    {
      name: 'with more than is left of its total',
      input: evaluationOf({ mandate: mandate({ spentMinor: kes(9000.01) }) }),
      outcome: 'deny',
      decisive: ['mandate_total'],
    },
    {
      name: 'with one payment more than it allows',
      input: evaluationOf({ mandate: mandate({ maxPayments: 3, paymentsMade: 3 }) }),
      outcome: 'deny',
      decisive: ['mandate_max_payments'],
    },
    {
      name: 'though the approval it was named for could come from people',
      input: evaluationOf({ policies: [asksFrom(1000)], mandate: mandate({ status: 'revoked' }) }),
      outcome: 'deny',
      decisive: ['mandate_status'],
      byMandate: 0,
    },
    {
      name: 'for every reason, all of them listed',
      input: evaluationOf({
        mandate: mandate({
          status: 'revoked',
          expiresAt: now,
          workspaceId: 'office',
          grantId: 'g1',
          paymentTypes: ['travel'],
          beneficiaryIds: ['landlord'],
          maxPerPaymentMinor: 1n,
          maxTotalMinor: 1n,
          maxPayments: 0,
        }),
      }),
      outcome: 'deny',
      decisive: [
        'mandate_status',
        'mandate_window',
        'mandate_workspace',
        'mandate_initiator',
        'mandate_payment_types',
        'mandate_beneficiary_ids',
        'mandate_per_payment',
        'mandate_total',
        'mandate_max_payments',
      ],
    },
  ],
}
