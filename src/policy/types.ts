import type { Minor } from '../lib/money.ts'
import type { ApprovalProof, DuplicateAnswer, NewPayeeAnswer, Outcome } from '../lib/policy-answers.ts'
import type { VerificationStatus } from '../lib/verification.ts'
import type { PolicyFields } from './fields.ts'

/** What is already counted in the current day and month of the workspace's time zone, and in all, without the payment itself. */
export type Usage = { dayMinor: Minor; monthMinor: Minor; totalMinor: Minor }

/** The first local dates of the current day and month (YYYY-MM-DD, the keys of counters), and when these end. */
export type Periods = { day: string; month: string; dayResetsAt: Date; monthResetsAt: Date }

/**
 * The requested payment. `payeeBeneficiaryIds`: every beneficiary with the same payee, the named one included. `paybillBeneficiaryIds`: those of the
 * whole paybill, or of this account at it where the payment itself names the account; `payeeIsFixed` is then false. The amount is more than 0.
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
  /** Set where the row of an uploaded list gives the payee a name that differs from the stored one. */
  otherName?: { name: string; givenName: string }
  workspaceId: string
  initiatorAccountId: string
  /** The initiating grant and all its ancestors, root first; empty for a person's own payment. */
  grantLineage: readonly string[]
  at: Date
}

/** A person, or with `grantId` a key or an agent of that person, with the label that it had. */
export type Maker = { accountId: string; grantId: string | null; label: string | null }

/** Who made the payee, and whether a person has confirmed it. `change`: the last change of its name, if no person has confirmed it since. */
export type PayeeFacts = {
  confirmed: boolean
  createdBy: Maker
  createdAt: Date
  change: { by: Maker; at: Date } | null
  /** The name that the rail reports for the number, and whether it is the payee's. */
  verification: VerificationStatus
  reportedName: string | null
  /** Another payee with a name like this one's, which was paid before, while this one never was. */
  similarTo: { beneficiaryId: string; name: string } | null
  /** What it usually gets (`typicalAmount`). */
  typicalAmountMinor: Minor | null
}

export type Limits = {
  perPaymentLimitMinor: Minor | null
  dailyLimitMinor: Minor | null
  monthlyLimitMinor: Minor | null
  /** Of all payments, ever. Decisions that were stored before it existed lack it. */
  totalLimitMinor: Minor | null
  approvalThresholdMinor: Minor | null
}

/** The lists select the payments that the policy applies to; empty = all. `bindsGrantId`: only payments by this grant and those below it. */
export type PolicyRules = PolicyFields & {
  id: string
  name: string
  version: number
  bindsGrantId: string | null
  /** Payments that are made from then on are added to its total; null: none is. */
  totalCountedSince: Date | null
  usage: Usage
}

/** The newest payment of the same amount and reference to the same payee that counts. `isUnknown`: nobody knows whether its money moved. */
export type EarlierPayment = {
  paymentId: string
  createdAt: Date
  isUnknown: boolean
  /** Its place, where it is an item of the same list. */
  listIndex?: number
}
export type PayeePast = { earlier: EarlierPayment | null; typicalAmountMinor: Minor | null }
/**
 * What was paid today to the same payee (at a paybill, to all of its accounts), by type, rail, grant and number of approvals; a mandate gives one
 * approval. A rule counts what has fewer approvals than it asks for.
 */
export type Unapproved = {
  paymentType: string
  rail: string
  grantLineage: readonly string[]
  approvals: number
  amountMinor: Minor
}

export type Warning =
  | { code: 'possible_duplicate'; paymentId: string; createdAt: Date; listIndex?: number }
  | { code: 'name_differs'; name: string; givenName: string }
  | { code: 'new_payee'; by: Maker; at: Date }
  | { code: 'changed_payee'; by: Maker; at: Date }
  | { code: 'similar_name'; beneficiaryId: string; name: string }
  | { code: 'name_mismatch'; verification: VerificationStatus; name: string | null }
  | { code: 'unusual_amount'; typicalAmountMinor: Minor }

/** A grant of the chain. Its lists are allow-lists; null = no such limit. */
export type GrantRules = Limits & {
  id: string
  name: string
  paymentTypes: readonly string[] | null
  beneficiaryIds: readonly string[] | null
  /** Null: a payee that no person has confirmed needs approval. */
  newPayees: NewPayeeAnswer | null
  /** Null: this grant has no rule about duplicates. */
  onDuplicate: DuplicateAnswer | null
  totalCountedSince: Date | null
  usage: Usage
}

/** Whether the wallet's signature still counts: a key's always does; a contract's owners may have changed, so its chain was asked. */
export const mandateStandings = ['holds', 'unanswered', 'refused'] as const
export type MandateStanding = (typeof mandateStandings)[number]

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
  standing: MandateStanding
}

/**
 * The active accounts that may decide an approval of the workspace. `signingAccountIds`: those of them that have a passkey or a wallet to sign with;
 * read only where a policy asks for signatures.
 */
export type Approvers = { eligibleAccountIds: readonly string[]; signingAccountIds: readonly string[] }

export type Evaluation = {
  payment: PaymentFacts
  policies: readonly PolicyRules[]
  /** Root first. */
  grants: readonly GrantRules[]
  mandate: MandateRules | null
  approvers: Approvers
  periods: Periods
  capabilities: { payments: boolean }
  earlier: EarlierPayment | null
  /** The request says that a second payment is meant. */
  duplicateIsIntended: boolean
  /** What the request itself asks for, if it looks like a duplicate. */
  onDuplicate: DuplicateAnswer | null
  unapproved: readonly Unapproved[]
  /** For an item of a list: what the items of this list add up to under each policy and grant that applies to them, by its id. */
  listTotals?: Readonly<Record<string, Minor>>
  /** Amounts of the rail are multiples of this. */
  unitMinor: Minor
  /** The deployment's window, when no applicable policy has its own. */
  duplicateWindowSeconds: number
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
  /** Approvals that this rule requires (approval rules), or that people still have to give (eligible_approvers). */
  requiredApprovals?: number
  /** Accounts that may give them (eligible_approvers). */
  eligibleApprovers?: number
  /** The only accounts whose approvals count (eligible_approvers). */
  approverIds?: readonly string[]
  /** Only signed approvals count, and only accounts that can sign may give them (eligible_approvers). */
  approvalProof?: 'signature'
  /** The rule decided the outcome: it is as strict as the decision. */
  decisive?: boolean
}

/** The smallest change that would have allowed the payment. Absent in a decision that allows. */
export type Remedy = {
  /**
   * The largest amount that would not be denied now with nothing else changed, in whole units of the rail. Null when no amount would, or only
   * one below a threshold that asks about the requested amount.
   */
  maxAmountMinor: Minor | null
  /** Every limit that must change, and its minimum; all of them together are enough. `toMinor` is absent for a rule without an amount. */
  changes: { source: TraceSource; rule: string; toMinor?: Minor }[]
  /** When the same payment is allowed without any other change, or null for never. */
  passesAt: Date | null
}

export type Decision = {
  outcome: Outcome
  requiredApprovals: number
  separationOfDuties: boolean
  /** `signature`: only approvals that a passkey or a wallet signed count. */
  approvalProof: ApprovalProof
  /** The only accounts whose approvals count. Absent: every approver's do. */
  approverIds?: readonly string[]
  /** Approvals that the mandate gives: 0 or 1; 0 when none is needed. */
  approvalsByMandate: number
  /** The account whose approval the mandate gives: its own decision does not count a second time. */
  mandateApproverAccountId?: string
  policyVersions: { id: string; version: number }[]
  warnings: Warning[]
  trace: TraceEntry[]
  remedy?: Remedy
}

/** A counter to which an accepted payment is added. `periodStart`: a local date; null for a total. */
export type Charge = {
  subject: 'policy' | 'grant' | 'mandate'
  subjectId: string
  period: 'day' | 'month' | 'total'
  periodStart: string | null
}
