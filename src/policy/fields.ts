import type { Minor } from '../lib/money.ts'
import type { ApprovalProof, DuplicateAnswer, NewPayeeAnswer, PayeeVerificationAnswer } from '../lib/policy-answers.ts'

/** The fields of a policy, except its name. To add a field, start here: the compiler then names every other list to extend. */
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

/** The fields in the API's form: amounts are strings of minor units, and ids have their prefix. */
export type PolicyWire = { readonly [Field in PolicyField as SnakeCase<Field>]: OnWire<PolicyFields[Field]> }

type Row<Field extends PolicyField> = {
  /** Default value, also for null. */
  absent: PolicyFields[Field]
  /** Description for the API document and the code reference. */
  meaning: string
}

export const policyFields: { readonly [Field in PolicyField]: Row<Field> } = {
  paymentTypes: {
    absent: [],
    meaning: 'The policy applies to payments of these types or rails. An empty list means every type.',
  },
  beneficiaryIds: {
    absent: [],
    meaning:
      'The policy applies to payments to these beneficiaries and to others with the same destination. An empty list means every beneficiary.',
  },
  perPaymentLimitMinor: { absent: null, meaning: 'The maximum amount of one payment.' },
  dailyLimitMinor: { absent: null, meaning: "The maximum total of all payments in one day, in the workspace's time zone." },
  monthlyLimitMinor: {
    absent: null,
    meaning: "The maximum total of all payments in one month, in the workspace's time zone.",
  },
  totalLimitMinor: {
    absent: null,
    meaning:
      'The maximum total of all payments since a version of the policy first set this limit. It never resets, even if the limit changes.',
  },
  approvalThresholdMinor: { absent: null, meaning: 'Payments of this amount or more need approval.' },
  requiredApprovalCount: {
    absent: 0,
    meaning:
      'The number of required approvals. Without `approval_threshold_minor`, they are required for every payment. Defaults to 1 with a threshold, otherwise to 0.',
  },
  separationOfDuties: { absent: false, meaning: 'The initiator of a payment may not approve it.' },
  approvalProof: {
    absent: 'any',
    meaning:
      'The approvals that count: `any`, or `signature` for only those signed by a passkey or a wallet. It applies to every approval that such a payment needs.',
  },
  approverIds: {
    absent: null,
    meaning:
      'The only accounts that can approve payments under this policy, which may exclude the owner. An empty list means every approver. The list does not affect who can confirm a change of the policy.',
  },
  duplicateWindowSeconds: {
    absent: null,
    meaning:
      'How many seconds back the service looks for a payment of the same amount and reference to the same payee. If null with `on_duplicate`, the window of the service applies.',
  },
  onDuplicate: {
    absent: null,
    meaning:
      'The outcome for payments that look like an earlier one within the window. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. Null with a window means `warn`.',
  },
  newPayees: {
    absent: null,
    meaning: 'The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed.',
  },
  payeeVerification: {
    absent: null,
    meaning:
      "The outcome for payments if the name that the rail reports for the number does not match the beneficiary's name (`match` or `close_match`). `off` disables the warning. Null means a warning if the names differ.",
  },
}

export const policyFieldNames = Object.keys(policyFields) as PolicyField[]

export const wireName = (field: PolicyField): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
