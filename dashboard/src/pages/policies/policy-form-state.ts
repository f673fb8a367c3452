import { useSearchParams } from 'wouter'
import type { DuplicateAnswer, NewPayeeAnswer, PayeeVerificationAnswer } from '../../../../src/lib/policy-answers.ts'
import type { PolicyWire } from '../../../../src/policy/fields.ts'
import type { Schemas } from '../../api/types.ts'
import { useDraft } from '../../lib/drafts.ts'
import { editableMajor, parseMajor } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { raisedLimits } from '../../ui/controls-fields.tsx'

export type PolicyDraft = {
  name: string
  payment_types: string[]
  beneficiary_ids: string[]
  per_payment: string
  daily: string
  monthly: string
  threshold: string
  approvals: number
  separation: boolean
  signed: boolean
  on_duplicate: '' | DuplicateAnswer
  new_payees: '' | NewPayeeAnswer
  payee_verification: '' | PayeeVerificationAnswer
  /** In seconds; empty: the service's own. */
  duplicate_window: string
}

const amountFields = ['per_payment', 'daily', 'monthly', 'threshold'] as const
export type AmountField = (typeof amountFields)[number]

const draftOf = (policy: Schemas['SpendingPolicy'] | null): PolicyDraft => ({
  name: policy?.name ?? '',
  payment_types: policy?.payment_types ?? [],
  beneficiary_ids: policy?.beneficiary_ids ?? [],
  per_payment: editableMajor(policy?.per_payment_limit_minor),
  daily: editableMajor(policy?.daily_limit_minor),
  monthly: editableMajor(policy?.monthly_limit_minor),
  threshold: editableMajor(policy?.approval_threshold_minor),
  approvals: policy?.required_approval_count ?? 0,
  separation: policy?.separation_of_duties ?? false,
  signed: policy?.approval_proof === 'signature',
  // A window alone warns.
  on_duplicate: policy?.on_duplicate ?? (typeof policy?.duplicate_window_seconds === 'number' ? 'warn' : ''),
  new_payees: policy?.new_payees ?? '',
  payee_verification: policy?.payee_verification ?? '',
  duplicate_window: policy?.duplicate_window_seconds?.toString() ?? '',
})

const minorOf = (text: string): string | null => (text.trim() === '' ? null : parseMajor(text))

/** The form's content for the API; null while an amount is not valid. */
const termsOf = (draft: PolicyDraft) => {
  if (amountFields.some((field) => draft[field].trim() !== '' && parseMajor(draft[field]) === null)) return null
  const threshold = minorOf(draft.threshold)
  return {
    payment_types: draft.payment_types,
    beneficiary_ids: draft.beneficiary_ids,
    per_payment_limit_minor: minorOf(draft.per_payment),
    daily_limit_minor: minorOf(draft.daily),
    monthly_limit_minor: minorOf(draft.monthly),
    approval_threshold_minor: threshold,
    required_approval_count: threshold !== null && draft.approvals === 0 ? 1 : draft.approvals,
    separation_of_duties: draft.separation,
    approval_proof: draft.signed ? 'signature' : 'any',
    on_duplicate: draft.on_duplicate || null,
    new_payees: draft.new_payees || null,
    payee_verification: draft.payee_verification || null,
    duplicate_window_seconds: draft.on_duplicate === '' || draft.duplicate_window === '' ? null : Number(draft.duplicate_window),
  } satisfies PolicyWire
}

export const usePolicyForm = (policy: Schemas['SpendingPolicy'] | null) => {
  const { account } = useSession()
  // A link from a refused payment proposes the limits that would have let it pass.
  const raised = raisedLimits(useSearchParams()[0].get('raise'))
  const {
    value: draft,
    set,
    clear,
  } = useDraft(`policy:${policy?.id}@${policy?.version}`, account.id, () => ({
    ...draftOf(policy),
    ...raised,
  }))
  return {
    draft,
    terms: termsOf(draft),
    set,
    clear,
    invalid: (field: AmountField) => draft[field].trim() !== '' && parseMajor(draft[field]) === null,
  }
}
