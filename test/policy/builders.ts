import type { Evaluation, GrantRules, MandateRules, PayeeFacts, PaymentFacts, PolicyRules } from '../../src/policy/types.ts'

/** Whole shillings, so that tables have amounts that a person would say. */
export const kes = (shillings: number): bigint => BigInt(Math.round(shillings * 100))

export const now = new Date('2026-03-10T09:00:00Z')
export const periods = {
  day: '2026-03-10',
  month: '2026-03-01',
  dayResetsAt: new Date('2026-03-10T21:00:00Z'),
  monthResetsAt: new Date('2026-03-31T21:00:00Z'),
}

const noLimits = {
  perPaymentLimitMinor: null,
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  totalLimitMinor: null,
  approvalThresholdMinor: null,
  totalCountedSince: null,
}
const unused = { dayMinor: 0n, monthMinor: 0n, totalMinor: 0n }

/** A payee whose name the rail confirms, and that has no payments yet. */
const named = { verification: 'match', reportedName: 'GROCER', similarTo: null, typicalAmountMinor: null } as const

/** A payee that Ada made herself. */
export const confirmedPayee: PayeeFacts = {
  confirmed: true,
  createdBy: { accountId: 'ada', grantId: null, label: null },
  createdAt: new Date('2026-01-01T00:00:00Z'),
  change: null,
  ...named,
}

/** A payee that Ada's agent made today. */
export const proposedPayee: PayeeFacts = {
  confirmed: false,
  createdBy: { accountId: 'ada', grantId: 'g1', label: 'Buyer' },
  createdAt: new Date('2026-03-10T08:00:00Z'),
  change: null,
  ...named,
}

/** Ada, a person, pays 1,000 KES to the grocer's paybill. */
export const payment = (over: Partial<PaymentFacts> = {}): PaymentFacts => ({
  amountMinor: kes(1000),
  paymentType: 'supplies',
  rail: 'MPESA_B2B',
  beneficiaryId: 'grocer',
  payeeBeneficiaryIds: ['grocer'],
  paybillBeneficiaryIds: [],
  payeeIsFixed: true,
  payee: confirmedPayee,
  workspaceId: 'home',
  initiatorAccountId: 'ada',
  grantLineage: [],
  at: now,
  ...over,
})

export const policy = (over: Partial<PolicyRules> = {}): PolicyRules => ({
  id: 'p1',
  name: 'Team lunch',
  version: 1,
  bindsGrantId: null,
  ...noLimits,
  paymentTypes: [],
  beneficiaryIds: [],
  requiredApprovalCount: (over.approvalThresholdMinor ?? null) === null ? 0 : 1,
  separationOfDuties: false,
  approvalProof: 'any',
  approverIds: null,
  duplicateWindowSeconds: null,
  onDuplicate: null,
  newPayees: null,
  payeeVerification: null,
  usage: unused,
  ...over,
})

export const grant = (over: Partial<GrantRules> = {}): GrantRules => ({
  id: 'g1',
  name: 'Agent',
  ...noLimits,
  paymentTypes: null,
  beneficiaryIds: null,
  newPayees: null,
  onDuplicate: null,
  usage: unused,
  ...over,
})

/** Ada's own mandate over 10,000 KES until the month ends. */
export const mandate = (over: Partial<MandateRules> = {}): MandateRules => ({
  id: 'm1',
  name: 'March groceries',
  status: 'active',
  signerAccountId: 'ada',
  workspaceId: 'home',
  grantId: null,
  maxTotalMinor: kes(10_000),
  maxPerPaymentMinor: null,
  maxPayments: null,
  beneficiaryIds: [],
  paymentTypes: [],
  validFrom: new Date('2026-03-01T00:00:00Z'),
  expiresAt: new Date('2026-04-01T00:00:00Z'),
  spentMinor: 0n,
  paymentsMade: 0,
  standing: 'holds',
  ...over,
})

type EvaluationParts = Partial<Omit<Evaluation, 'payment' | 'approvers' | 'capabilities'>> & {
  payment?: Partial<PaymentFacts>
  approvers?: readonly string[]
  signers?: readonly string[]
  payments?: 'active' | 'disabled'
  unapproved?: Evaluation['unapproved']
}

/** An evaluation of these parts, in a workspace with three eligible approvers. */
export const evaluationOf = (over: EvaluationParts = {}): Evaluation => ({
  payment: payment(over.payment),
  policies: over.policies ?? [],
  grants: over.grants ?? [],
  mandate: over.mandate ?? null,
  approvers: { eligibleAccountIds: over.approvers ?? ['ada', 'ben', 'cat'], signingAccountIds: over.signers ?? [] },
  periods: over.periods ?? periods,
  capabilities: { payments: over.payments !== 'disabled' },
  earlier: over.earlier ?? null,
  duplicateIsIntended: over.duplicateIsIntended ?? false,
  onDuplicate: over.onDuplicate ?? null,
  unapproved: over.unapproved ?? [],
  unitMinor: 1n,
  duplicateWindowSeconds: over.duplicateWindowSeconds ?? 3600,
})
