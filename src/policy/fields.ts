import type { Minor } from '../lib/money.ts'
import type { ApprovalProof, DuplicateAnswer, NewPayeeAnswer, PayeeVerificationAnswer } from '../lib/policy-answers.ts'

/** The fields of a policy, except its name. Start here to add a field: `PolicyField` and `PolicyWire` type every list of them. */
export type PolicyFields = {
  paymentTypes: readonly string[]
  beneficiaryIds: readonly string[]
  perPaymentLimitMinor: Minor | null
  dailyLimitMinor: Minor | null
  monthlyLimitMinor: Minor | null
  totalLimitMinor: Minor | null
  approvalThresholdMinor: Minor | null
  requiredApprovalCount: number
  separationOfDuties: boolean
  approvalProof: ApprovalProof
  approverIds: readonly string[] | null
  duplicateWindowSeconds: number | null
  onDuplicate: DuplicateAnswer | null
  newPayees: NewPayeeAnswer | null
  payeeVerification: PayeeVerificationAnswer | null
}
export type PolicyField = keyof PolicyFields

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : ''

export type PolicyWireField = SnakeCase<PolicyField>

type OnWire<Value> = Value extends Minor ? string : Value

/** The fields on the wire: amounts are strings of minor units, and ids have their prefix. */
export type PolicyWire = { readonly [Field in PolicyField as SnakeCase<Field>]: OnWire<PolicyFields[Field]> }

type Row<Field extends PolicyField> = {
  /** Default value, also for null. */
  absent: PolicyFields[Field]
  /** Description for the API document and the reference of codes. */
  meaning: string
}

export const policyFields: { readonly [Field in PolicyField]: Row<Field> } = {
  paymentTypes: {
    absent: [],
    meaning: 'The policy applies to payments of these types or rails; an empty list is every type.',
  },
  beneficiaryIds: {
    absent: [],
    meaning:
      'The policy applies to payments to these beneficiaries, and to others with the same destination; an empty list is everyone.',
  },
  perPaymentLimitMinor: { absent: null, meaning: 'The most that one payment may be.' },
  dailyLimitMinor: { absent: null, meaning: "The most that the payments of one day of the workspace's time zone may add up to." },
  monthlyLimitMinor: {
    absent: null,
    meaning: "The most that the payments of one month of the workspace's time zone may add up to.",
  },
  totalLimitMinor: {
    absent: null,
    meaning:
      'The most that all payments may add up to, since the version that first set it. It never starts again; another value goes on counting.',
  },
  approvalThresholdMinor: { absent: null, meaning: 'A payment of this amount or more needs approval.' },
  requiredApprovalCount: {
    absent: 0,
    meaning:
      'How many people must approve. Without `approval_threshold_minor` every payment needs them. Left out: 1 with a threshold, otherwise 0.',
  },
  separationOfDuties: { absent: false, meaning: 'The initiator of a payment may not approve it.' },
  approvalProof: {
    absent: 'any',
    meaning:
      'Which approvals count: `any`, or `signature`, only those that a passkey or a wallet signed. It holds for every approval that such a payment needs.',
  },
  approverIds: {
    absent: null,
    meaning:
      'Only these accounts count as approvers of payments under this policy, the owner too only if it is named; an empty list is every approver. They do not decide who confirms a change of the policy.',
  },
  duplicateWindowSeconds: {
    absent: null,
    meaning:
      'How far back the service looks for a payment of the same amount and reference to the same payee. Null with `on_duplicate`: the window of the service.',
  },
  onDuplicate: {
    absent: null,
    meaning:
      'What a payment gets that looks like one made within the window. `confirm`: a 409, until `duplicate_of` names the earlier payment. Null with a window: `warn`.',
  },
  newPayees: {
    absent: null,
    meaning: 'What a payment gets whose beneficiary a key or an agent created or renamed, and no person has confirmed.',
  },
  payeeVerification: {
    absent: null,
    meaning:
      "What a payment gets unless the name that the rail reports for its number is the beneficiary's (`match` or `close_match`). `off`: not even a warning. Null: a warning where it is another name.",
  },
}

export const policyFieldNames = Object.keys(policyFields) as PolicyField[]

export const wireName = (field: PolicyField): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
