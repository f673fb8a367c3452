import { Fragment, type ReactNode } from 'react'
import {
  type DuplicateAnswer,
  duplicateAnswers,
  newPayeeAnswers,
  payeeVerificationAnswers,
} from '../../../../src/lib/policy-answers.ts'
import type { PolicyWireField } from '../../../../src/policy/fields.ts'
import type { Beneficiaries } from '../../api/use-beneficiaries.ts'
import { unreadableAmount } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { fieldError } from '../../ui/failure.tsx'
import { CheckField, fieldsOf, MoneyField, SelectField } from '../../ui/field.tsx'
import { BeneficiariesField, PaymentTypesField } from '../../ui/scope-fields.tsx'
import type { AmountField, usePolicyForm } from './policy-form-state.ts'

const approvalCounts = Array.from({ length: 11 }, (_, count) => ({
  value: String(count),
  label: count === 0 ? 'None' : count === 1 ? '1 person' : `${count} people`,
}))

const answerLabels: Readonly<Record<DuplicateAnswer, string>> = {
  warn: 'Warn',
  confirm: 'Must say that a second payment is meant',
  require_approval: 'Require approval',
  deny: 'Refuse',
}
const duplicateOptions = [
  { value: '', label: 'No rule of this policy' },
  ...duplicateAnswers.map((answer) => ({ value: answer, label: answerLabels[answer] })),
]

const verificationOptions = [
  { value: '', label: 'No rule of this policy' },
  { value: 'off', label: 'No warning' },
  { value: 'warn', label: 'Warn' },
  { value: 'require_approval', label: 'Require approval' },
  { value: 'deny', label: 'Refuse' },
]

const newPayeeOptions = [
  { value: '', label: 'No rule of this policy' },
  { value: 'require_approval', label: 'Require approval' },
  { value: 'deny', label: 'Refuse' },
]

const windows = [
  { value: '', label: 'Within the service’s usual time' },
  { value: '3600', label: 'Within an hour' },
  { value: '86400', label: 'Within a day' },
  { value: '604800', label: 'Within 7 days' },
]
/** A policy that was made through the API may have any number of seconds. */
const windowOptions = (chosen: string) =>
  windows.some(({ value }) => value === chosen) ? windows : [...windows, { value: chosen, label: `Within ${chosen} seconds` }]

type Props = Pick<ReturnType<typeof usePolicyForm>, 'draft' | 'set' | 'invalid'> & {
  beneficiaries: Beneficiaries
  /** Why the last attempt to save failed. */
  error: Error | null
}

/** The control of every field. */
const controlsOf = (
  { draft, set, invalid, beneficiaries, error }: Props,
  currency: string,
): Readonly<Record<PolicyWireField, ReactNode>> => {
  const at = fieldsOf(draft, set, error)
  const limit = (field: AmountField, path: PolicyWireField, label: string) => (
    <MoneyField
      label={label}
      optional
      {...at(field, path)}
      {...(invalid(field) && { error: unreadableAmount })}
      currency={currency}
    />
  )
  return {
    beneficiary_ids: (
      <BeneficiariesField
        beneficiaries={beneficiaries}
        hint="Leave empty to apply to everyone."
        chosen={draft.beneficiary_ids}
        onChange={(ids) => set({ beneficiary_ids: ids })}
      />
    ),
    payment_types: (
      <PaymentTypesField
        hint="A payment method, or a type of your own. Leave empty to apply to every type."
        chosen={draft.payment_types}
        onChange={(types) => set({ payment_types: types })}
      />
    ),
    per_payment_limit_minor: limit('per_payment', 'per_payment_limit_minor', 'Per-payment limit'),
    daily_limit_minor: limit('daily', 'daily_limit_minor', 'Daily limit'),
    monthly_limit_minor: limit('monthly', 'monthly_limit_minor', 'Monthly limit'),
    approval_threshold_minor: (
      <MoneyField
        label="Require approval at or above"
        optional
        {...at('threshold', 'approval_threshold_minor')}
        {...(invalid('threshold') && { error: unreadableAmount })}
        onChange={(threshold) => set({ threshold, ...(draft.approvals === 0 && threshold !== '' && { approvals: 1 }) })}
        currency={currency}
        hint={draft.approvals > 0 && draft.threshold.trim() === '' && 'If empty, every payment needs approval.'}
      />
    ),
    required_approval_count: (
      <SelectField
        label="Approvals needed"
        value={String(draft.approvals)}
        onChange={(count) => set({ approvals: Number(count) })}
        options={approvalCounts}
        error={fieldError(error, 'required_approval_count')}
      />
    ),
    separation_of_duties: (
      <CheckField
        label="Requester can’t approve their own payment"
        hint="A payment by an agent counts as its owner’s."
        checked={draft.separation}
        onChange={(separation) => set({ separation })}
      />
    ),
    approval_proof: (
      <CheckField
        label="Only approvals by passkey or wallet count"
        hint="Approvers add a passkey (Face ID, fingerprint or a security key) on their Account page."
        checked={draft.signed}
        onChange={(signed) => set({ signed })}
      />
    ),
    new_payees: (
      <SelectField
        label="If a key or an agent made the beneficiary"
        hint="Until a person has confirmed it."
        value={draft.new_payees}
        onChange={(answer) => set({ new_payees: newPayeeAnswers.find((known) => known === answer) ?? '' })}
        options={newPayeeOptions}
        error={fieldError(error, 'new_payees')}
      />
    ),
    payee_verification: (
      <SelectField
        label="If the name is not confirmed"
        hint="The payment method reports another name for the number, or none."
        value={draft.payee_verification}
        onChange={(answer) => set({ payee_verification: payeeVerificationAnswers.find((known) => known === answer) ?? '' })}
        options={verificationOptions}
        error={fieldError(error, 'payee_verification')}
      />
    ),
    on_duplicate: (
      <SelectField
        label="If a payment repeats a recent one"
        hint="The same amount and reference, to the same beneficiary."
        value={draft.on_duplicate}
        onChange={(answer) => set({ on_duplicate: duplicateAnswers.find((known) => known === answer) ?? '' })}
        options={duplicateOptions}
        error={fieldError(error, 'on_duplicate')}
      />
    ),
    duplicate_window_seconds: draft.on_duplicate !== '' && (
      <SelectField
        label="How recent"
        {...at('duplicate_window', 'duplicate_window_seconds')}
        options={windowOptions(draft.duplicate_window)}
      />
    ),
  }
}

type Group = { legend: string; rows: readonly (readonly PolicyWireField[])[] }

/** Every field in the order of the page: groups with a name, and in them rows of fields that stand side by side. */
const groups = [
  { legend: 'What it applies to', rows: [['beneficiary_ids'], ['payment_types']] },
  { legend: 'Limits', rows: [['per_payment_limit_minor', 'daily_limit_minor', 'monthly_limit_minor']] },
  {
    legend: 'Approval',
    rows: [['approval_threshold_minor', 'required_approval_count'], ['separation_of_duties'], ['approval_proof']],
  },
  { legend: 'The beneficiary', rows: [['new_payees'], ['payee_verification']] },
  { legend: 'Possible duplicates', rows: [['on_duplicate', 'duplicate_window_seconds']] },
] as const satisfies readonly Group[]

/** A field that no row names makes this type that field, and the line below does not compile. */
type NotPlaced = Exclude<PolicyWireField, (typeof groups)[number]['rows'][number][number]>
type Placed = [NotPlaced] extends [never] ? typeof groups : NotPlaced
const placed: readonly Group[] & Placed = groups

const widths = ['', '', 'columns', 'columns columns-3'] as const

/** The controls of all fields of a policy but its name. */
export const PolicyControls = (props: Props) => {
  const { currency, workspace } = useSession()
  const controls = controlsOf(props, currency)
  return placed.map(({ legend, rows }) => (
    <fieldset key={legend} className="stack">
      <legend className="visually-hidden">{legend}</legend>
      {rows.map((fields) => (
        <div key={fields[0]} className={widths[fields.length]}>
          {fields.map((field) => (
            <Fragment key={field}>{controls[field]}</Fragment>
          ))}
        </div>
      ))}
      {legend === 'Limits' && (
        <p className="field-hint">
          Days and months follow the workspace’s time zone, {workspace.time_zone.replaceAll('_', ' ')}.
        </p>
      )}
    </fieldset>
  ))
}
