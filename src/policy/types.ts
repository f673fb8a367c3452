import type { Minor } from '../lib/money.ts'
import type { ApprovalProof, DuplicateAnswer, NewPayeeAnswer, Outcome } from '../lib/policy-answers.ts'
import type { VerificationStatus } from '../lib/verification.ts'
import type { PolicyFields } from './fields.ts'

/** Usage in the current day and month of the workspace's time zone, and in total. Excludes the payment itself. */
export type Usage = { dayMinor: Minor; monthMinor: Minor; totalMinor: Minor }

/** Local start dates of the current day and month (YYYY-MM-DD, the keys of counters), and the times at which both end. */
export type Periods = { day: string; month: string; dayResetsAt: Date; monthResetsAt: Date }

/**
 * The requested payment. `payeeBeneficiaryIds`: every beneficiary with the same payee. `paybillBeneficiaryIds`: those of the
 * paybill, if the payee is an account at one. `payeeIsFixed`: false if each payment names the account. The amount is above 0.
 */
export type PaymentFacts = {
  amountMinor: Minor
  paymentType: string
  rail: string
  beneficiaryId: string
  payeeBeneficiaryIds: readonly string[]
  paybillBeneficiaryIds: readonly string[]
  payeeIsFixed: boolean
  payee: PayeeFacts
  /** Set if the batch item's name for the payee differs from the stored one. */
  otherName?: { name: string; givenName: string }
  workspaceId: string
  initiatorAccountId: string
  /** The initiating grant and all its ancestors, root first; empty for a person's own payment. */
  grantLineage: readonly string[]
  at: Date
}

/** A person or, with `grantId`, a key or agent of that person, with its label at that time. */
export type Creator = { accountId: string; grantId: string | null; label: string | null }

/** `confirmed`: whether a person has. `change`: the last change of the payee's name, unless a person has confirmed it since. */
export type PayeeFacts = {
  confirmed: boolean
  createdBy: Creator
  createdAt: Date
  change: { by: Creator; at: Date } | null
  /** Result of comparing the payee's name with `reportedName`, the rail's name for the number. */
  verification: VerificationStatus
  reportedName: string | null
  /** A paid payee with a similar name, if this payee was never paid. */
  similarTo: { beneficiaryId: string; name: string } | null
  /** The payee's usual amount (`typicalAmount`). */
  typicalAmountMinor: Minor | null
}

/** Decisions stored before `totalLimitMinor` existed lack it. */
export type Limits = Pick<
  PolicyFields,
  'approvalThresholdMinor' | 'dailyLimitMinor' | 'monthlyLimitMinor' | 'perPaymentLimitMinor' | 'totalLimitMinor'
>

/** The lists select the payments that the policy applies to; empty: all. `bindsGrantId`: only this grant and its descendants. */
export type PolicyRules = PolicyFields & {
  id: string
  name: string
  version: number
  bindsGrantId: string | null
  /** Time from which payments count toward the policy's total; null: none do. */
  totalCountedSince: Date | null
  usage: Usage
}

/**
 * The newest counted payment with the same payee, amount and reference. `isUnknown`: the outcome of this payment, or of an older
 * one like it, is unknown.
 */
export type EarlierPayment = {
  paymentId: string
  createdAt: Date
  isUnknown: boolean
  /** Index of the payment, if it is an item of the same batch. */
  listIndex?: number
}
/** Amounts are null if the payee was never paid, or too few times to have a usual amount. */
export type PayeePast = { earlier: EarlierPayment | null; typicalAmountMinor: Minor | null; lastAmountMinor: Minor | null }
/**
 * Amounts paid today to the same payee (at a paybill, to all of its accounts), by type, rail, grant and number of approvals. A
 * mandate gives one approval. A rule counts amounts with fewer approvals than it requires.
 */
export type UnapprovedAmount = {
  paymentType: string
  rail: string
  grantLineage: readonly string[]
  approvals: number
  amountMinor: Minor
}

export type Warning =
  | { code: 'possible_duplicate'; paymentId: string; createdAt: Date; listIndex?: number }
  | { code: 'name_differs'; name: string; givenName: string }
  | { code: 'new_payee'; by: Creator; at: Date }
  | { code: 'changed_payee'; by: Creator; at: Date }
  | { code: 'similar_name'; beneficiaryId: string; name: string }
  | { code: 'name_mismatch'; verification: VerificationStatus; name: string | null }
  | { code: 'unusual_amount'; typicalAmountMinor: Minor }

/** A grant of the lineage. Its lists are allow-lists; null = no such limit. */
export type GrantRules = Limits & {
  id: string
  name: string
  paymentTypes: readonly string[] | null
  beneficiaryIds: readonly string[] | null
  /** Null: an unconfirmed payee needs approval. */
  newPayees: NewPayeeAnswer | null
  /** Null: this grant has no rule about duplicates. */
  onDuplicate: DuplicateAnswer | null
  totalCountedSince: Date | null
  usage: Usage
}

/**
 * Whether the signature counts. A contract's chain is queried, because its owners may change. `excluded`: the wallet comes from
 * the requester's own lineage or from a frozen grant, so it approves nothing.
 */
export type MandateSignatureStatus = 'holds' | 'unanswered' | 'refused' | 'excluded'

/** A wallet-signed mandate that the payment names. */
export type MandateRules = {
  id: string
  name: string
  status: 'active' | 'exhausted' | 'expired' | 'revoked'
  signerAccountId: string
  workspaceId: string
  grantId: string | null
  maxTotalMinor: Minor
  maxPerPaymentMinor: Minor | null
  maxPayments: number | null
  beneficiaryIds: readonly string[]
  paymentTypes: readonly string[]
  validFrom: Date
  expiresAt: Date
  spentMinor: Minor
  paymentsMade: number
  standing: MandateSignatureStatus
}

/**
 * The active accounts that may decide an approval of the workspace. `signingAccountIds`: accounts among them with a passkey or a
 * wallet, read only if a policy requires signatures.
 */
export type Approvers = { eligibleAccountIds: readonly string[]; signingAccountIds: readonly string[] }

export type Evaluation = {
  payment: PaymentFacts
  policies: readonly PolicyRules[]
  /** The grants of the lineage, root first. */
  grants: readonly GrantRules[]
  mandate: MandateRules | null
  approvers: Approvers
  periods: Periods
  capabilities: { payments: boolean }
  earlier: EarlierPayment | null
  /** Whether the request confirms that a second payment is intended. */
  duplicateIsIntended: boolean
  /** The outcome that the request chose for a possible duplicate. */
  onDuplicate: DuplicateAnswer | null
  unapproved: readonly UnapprovedAmount[]
  /** For a batch item: the batch's total under each policy and grant that applies to it, by id. */
  listTotals?: Readonly<Record<string, Minor>>
  /** Smallest unit of the rail: all of its amounts are multiples of it. */
  unitMinor: Minor
  /** The smallest and the largest amount of the rail. Missing in decisions stored before remedies respected them. */
  minMinor?: Minor
  maxMinor?: Minor
  /** The service's window, for policies without their own. */
  duplicateWindowSeconds: number
  /**
   * Set if a policy applies that binds one grant. A key creates such a policy for itself, so the policy removes no warning. Missing
   * in decisions stored when it still did.
   */
  boundPoliciesOnlyWarn?: true
}

export const sourceKinds = ['policy', 'grant', 'mandate', 'capability', 'rail'] as const
export type TraceSource = { kind: (typeof sourceKinds)[number]; id: string | null; name: string | null }

export type TraceEntry = {
  source: TraceSource
  rule: string
  outcome: Outcome
  limitMinor?: Minor
  usedMinor?: Minor
  requestedMinor?: Minor
  resetsAt?: Date
  /** Approvals that this rule requires (approval rules), or that are still missing (eligible_approvers). */
  requiredApprovals?: number
  /** Number of accounts that may still approve (eligible_approvers). */
  eligibleApprovers?: number
  /** The only accounts whose approvals count (eligible_approvers). */
  approverIds?: readonly string[]
  /** Set if only signed approvals count; `eligibleApprovers` then counts only accounts that can sign. */
  approvalProof?: 'signature'
  /** Whether the rule decided: its outcome equals that of the decision. */
  decisive?: boolean
}

/** The smallest change after which a denied payment is not denied, or after which it needs no approval. Absent if allowed. */
export type Remedy = {
  /**
   * The largest amount that would not be denied now if nothing else changed, in whole units of the rail. Null if no amount
   * qualifies, or only one below an approval threshold that the requested amount reaches.
   */
  maxAmountMinor: Minor | null
  /** The rules that must change; the changes suffice together. `toMinor`: minimum limit, absent for a rule without amount. */
  changes: { source: TraceSource; rule: string; toMinor?: Minor }[]
  /** Time from which the same payment passes without another change, or null for never. */
  passesAt: Date | null
}

export type Decision = {
  outcome: Outcome
  requiredApprovals: number
  separationOfDuties: boolean
  /** `signature`: only approvals signed by a passkey or a wallet count. */
  approvalProof: ApprovalProof
  /** The only accounts whose approvals count. Absent: every approver. */
  approverIds?: readonly string[]
  /** Approvals that the mandate gives: 0 or 1; 0 if none is needed. */
  approvalsByMandate: number
  /** The account that approves through the mandate: its own decision does not count a second time. */
  mandateApproverAccountId?: string
  policyVersions: { id: string; version: number }[]
  warnings: Warning[]
  trace: TraceEntry[]
  remedy?: Remedy
}

/** A counter that an accepted payment is added to. `periodStart`: a local date; null for a total. */
export type Charge = {
  subject: 'policy' | 'grant' | 'mandate'
  subjectId: string
  period: 'day' | 'month' | 'total'
  periodStart: string | null
}
