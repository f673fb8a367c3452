import { type DuplicateAnswer, duplicateAnswers, type NewPayeeAnswer, newPayeeAnswers } from '../../../src/lib/policy-answers.ts'
import type { Schemas } from '../api/types.ts'
import type { Beneficiaries } from '../api/use-beneficiaries.ts'
import { editableMajor, moneyText, parseMajor, unreadableAmount } from '../lib/money.ts'
import { fieldError } from './failure.tsx'
import { fieldsOf, MoneyField, SelectField } from './field.tsx'
import { BeneficiariesField, PaymentTypesField } from './scope-fields.tsx'

export type Controls = Schemas['SpendingControls']
export type ControlsDraft = {
  per_payment: string
  daily: string
  monthly: string
  threshold: string
  payment_types: string[]
  beneficiary_ids: string[]
  /** Empty: a person is asked once. */
  new_payees: '' | NewPayeeAnswer
  /** Empty: no rule of its own. */
  on_duplicate: '' | DuplicateAnswer
}

const amounts = [
  { field: 'per_payment', path: 'per_payment_limit_minor', label: 'Per-payment limit' },
  { field: 'daily', path: 'daily_limit_minor', label: 'Daily limit' },
  { field: 'monthly', path: 'monthly_limit_minor', label: 'Monthly limit' },
  { field: 'threshold', path: 'approval_threshold_minor', label: 'Require approval at or above' },
] as const

export const draftOfControls = (controls: Controls): ControlsDraft => ({
  per_payment: editableMajor(controls.per_payment_limit_minor),
  daily: editableMajor(controls.daily_limit_minor),
  monthly: editableMajor(controls.monthly_limit_minor),
  threshold: editableMajor(controls.approval_threshold_minor),
  payment_types: controls.payment_types ?? [],
  beneficiary_ids: controls.beneficiary_ids ?? [],
  // Asking is what an absent answer means.
  new_payees: controls.new_payees === undefined || controls.new_payees === 'require_approval' ? '' : controls.new_payees,
  on_duplicate: controls.on_duplicate ?? '',
})

const fieldOfRule: Readonly<Record<string, 'per_payment' | 'daily' | 'monthly' | 'threshold'>> = {
  per_payment_limit: 'per_payment',
  daily_limit: 'daily',
  monthly_limit: 'monthly',
  approval_threshold: 'threshold',
}

type Raised = Partial<Pick<ControlsDraft, 'per_payment' | 'daily' | 'monthly' | 'threshold'>>

/** "daily_limit:9000,monthly_limit:20000": the amounts that a link fills in. */
export const raisedLimits = (text: string | null): Raised => {
  const raised: Raised = {}
  for (const pair of text?.split(',') ?? []) {
    const [rule = '', amount = ''] = pair.split(':')
    const field = fieldOfRule[rule]
    if (field && parseMajor(amount) !== null) raised[field] = amount
  }
  return raised
}

/** Empty limits are left out and don't apply. Null while an amount can't be read. */
export const controlsOfDraft = (draft: ControlsDraft): Controls | null => {
  const controls: Controls = {}
  for (const { field, path } of amounts) {
    if (draft[field].trim() === '') continue
    const minor = parseMajor(draft[field])
    if (minor === null) return null
    controls[path] = minor
  }
  if (draft.payment_types.length > 0) controls.payment_types = draft.payment_types
  if (draft.beneficiary_ids.length > 0) controls.beneficiary_ids = draft.beneficiary_ids
  if (draft.new_payees !== '') controls.new_payees = draft.new_payees
  if (draft.on_duplicate !== '') controls.on_duplicate = draft.on_duplicate
  return controls
}

const isUnreadable = (amount: string): boolean => amount.trim() !== '' && parseMajor(amount) === null

/** What the answer means for whoever gives it. */
const newPayeeMeaning: Readonly<Record<ControlsDraft['new_payees'], string>> = {
  '': 'It may add and rename beneficiaries. You are asked once about each, when it first pays them.',
  require_approval: 'It may add and rename beneficiaries. You are asked once about each, when it first pays them.',
  allow: 'It decides who is paid: it can add any number and pay it at once, up to its limits.',
  deny: 'It pays only beneficiaries that a person added or confirmed.',
}

const newPayeeOptions = [
  { value: '', label: 'Ask me once about each' },
  { value: 'allow', label: 'Pay without asking' },
  { value: 'deny', label: 'Refuse' },
]

const duplicateLabels: Readonly<Record<DuplicateAnswer, string>> = {
  warn: 'Pay, with a warning',
  confirm: 'Refuse until it says that a second one is meant',
  require_approval: 'Ask for approval',
  deny: 'Refuse',
}
const duplicateOptions = duplicateAnswers.map((answer) => ({ value: answer, label: duplicateLabels[answer] }))

type Props = {
  draft: ControlsDraft
  onChange: (draft: ControlsDraft) => void
  currency: string
  error: unknown
  beneficiaries?: Beneficiaries
  requested?: Controls
  /** False: only what the payments may be for can be limited, not how much. */
  amounts?: boolean
}

/** Limits as fields. `requested`: what a client requested, which may only be narrowed. */
export const ControlsFields = ({
  draft,
  onChange,
  currency,
  error,
  beneficiaries,
  requested,
  amounts: withAmounts = true,
}: Props) => {
  const set = (change: Partial<ControlsDraft>) => onChange({ ...draft, ...change })
  const at = fieldsOf(draft, set, error)
  return (
    <fieldset className="stack">
      <legend className="visually-hidden">Limits</legend>
      <div className="columns">
        {amounts
          .filter(({ field }) => withAmounts || field === 'threshold')
          .map(({ field, path, label }) => (
            <MoneyField
              key={field}
              label={label}
              optional
              {...at(field, `spending_controls.${path}`)}
              {...(isUnreadable(draft[field]) && { error: unreadableAmount })}
              currency={currency}
              hint={requested?.[path] && `Requested: ${moneyText(requested[path], currency)}`}
            />
          ))}
      </div>
      {beneficiaries && (
        <BeneficiariesField
          beneficiaries={beneficiaries}
          chosen={draft.beneficiary_ids}
          onChange={(ids) => set({ beneficiary_ids: ids })}
        />
      )}
      <SelectField
        label="New beneficiaries"
        hint={newPayeeMeaning[draft.new_payees] + (requested?.new_payees === 'allow' ? ' Requested: pay without asking.' : '')}
        value={draft.new_payees}
        onChange={(answer) => set({ new_payees: newPayeeAnswers.find((known) => known === answer) ?? '' })}
        options={newPayeeOptions}
        error={fieldError(error, 'spending_controls.new_payees')}
      />
      <SelectField
        label="A payment that repeats a recent one"
        hint="The same amount and reference, to the same beneficiary."
        value={draft.on_duplicate}
        onChange={(answer) => set({ on_duplicate: duplicateAnswers.find((known) => known === answer) ?? '' })}
        options={requested ? duplicateOptions : [{ value: '', label: 'No rule of its own' }, ...duplicateOptions]}
        error={fieldError(error, 'spending_controls.on_duplicate')}
      />
      <PaymentTypesField chosen={draft.payment_types} onChange={(types) => set({ payment_types: types })} />
    </fieldset>
  )
}
