import { Fragment, type ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import {
  type DuplicateAnswer,
  duplicateAnswers,
  type NewPayeeAnswer,
  type PayeeVerificationAnswer,
  payeeVerificationAnswers,
} from '../../../../src/lib/policy-answers.ts'
import type { PolicyWire, PolicyWireField } from '../../../../src/policy/fields.ts'
import type { Beneficiaries } from '../../api/names.ts'
import type { Schemas } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { tLimit } from '../../lib/limit-texts.ts'
import { answerOptions } from '../../lib/rule-words.ts'
import { type LimitName, type LimitsDraft, limitsFromDraft, limitsToDraft, raisedByLink } from '../../lib/spending-draft.ts'
import { workspaceZone } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { BeneficiariesField } from '../../ui/beneficiary-field.tsx'
import { CheckField, fieldsOf, SelectField } from '../../ui/field.tsx'
import { LimitField } from '../../ui/limits.tsx'
import { PaymentTypesField } from '../../ui/pick-many.tsx'
import { ApproversField } from './approvers-field.tsx'
import { tPolicy } from './texts.ts'

type PolicyDraft = LimitsDraft & {
  name: string
  payment_types: string[]
  beneficiary_ids: string[]
  required_approval_count: string
  separation: boolean
  signed: boolean
  approver_ids: string[]
  on_duplicate: '' | DuplicateAnswer
  new_payees: '' | NewPayeeAnswer
  payee_verification: '' | PayeeVerificationAnswer
  /** Empty: the service's default. */
  duplicate_window_seconds: string
}

const draftOf = (policy: Schemas['SpendingPolicy'] | null): PolicyDraft => ({
  ...limitsToDraft(policy),
  name: policy?.name ?? '',
  payment_types: policy?.payment_types ?? [],
  beneficiary_ids: policy?.beneficiary_ids ?? [],
  required_approval_count: String(policy?.required_approval_count ?? 0),
  separation: policy?.separation_of_duties ?? false,
  signed: policy?.approval_proof === 'signature',
  approver_ids: policy?.approver_ids ?? [],
  // A policy with a window but no answer warns.
  on_duplicate: policy?.on_duplicate ?? (typeof policy?.duplicate_window_seconds === 'number' ? 'warn' : ''),
  new_payees: policy?.new_payees ?? '',
  payee_verification: policy?.payee_verification ?? '',
  duplicate_window_seconds: policy?.duplicate_window_seconds?.toString() ?? '',
})

/** Body for the API. Null while an amount is invalid. */
const termsOf = (draft: PolicyDraft) => {
  const limits = limitsFromDraft(draft)
  if (!limits) return null
  const count = Number(draft.required_approval_count)
  const window = draft.on_duplicate === '' ? '' : draft.duplicate_window_seconds
  return {
    ...limits,
    payment_types: draft.payment_types,
    beneficiary_ids: draft.beneficiary_ids,
    required_approval_count: limits.approval_threshold_minor !== null && count === 0 ? 1 : count,
    separation_of_duties: draft.separation,
    approval_proof: draft.signed ? 'signature' : 'any',
    approver_ids: draft.approver_ids,
    on_duplicate: draft.on_duplicate || null,
    new_payees: draft.new_payees || null,
    payee_verification: draft.payee_verification || null,
    duplicate_window_seconds: window === '' ? null : Number(window),
  } satisfies PolicyWire
}

export const usePolicyForm = (policy: Schemas['SpendingPolicy'] | null) => {
  const { account } = useSession()
  // A link from a refused payment proposes limits that would have allowed the payment.
  const link = useSearchParams()[0].get('raise')
  const name = `policy:${policy?.id}@${policy?.version}`
  const { value: draft, ...form } = useDraft(name, account.id, () => raisedByLink(draftOf(policy), link))
  return { ...form, draft, terms: termsOf(draft) }
}

const approvalCounts = Array.from({ length: 11 }, (_, count) => ({
  value: String(count),
  label: count === 0 ? tPolicy('none') : tPolicy('people', { count }),
}))

const noRule = tPolicy('no_rule')

const windows = [
  { value: '', label: tPolicy('within.usual') },
  { value: '3600', label: tPolicy('within.hour') },
  { value: '86400', label: tPolicy('within.day') },
  { value: '604800', label: tPolicy('within.week') },
]
/** A policy created through the API may have any number of seconds. */
const windowOptions = (chosen: string) =>
  windows.some(({ value }) => value === chosen)
    ? windows
    : [...windows, { value: chosen, label: tPolicy('within.seconds', { chosen }) }]

type Props = Pick<ReturnType<typeof usePolicyForm>, 'draft' | 'set'> & {
  beneficiaries: Beneficiaries
  error: Error | null
}

const controlsOf = (
  { draft, set, beneficiaries, error }: Props,
  currency: string,
): Readonly<Record<PolicyWireField, ReactNode>> => {
  const at = fieldsOf(draft, set, error)
  const limit = (name: LimitName) => <LimitField name={name} {...at(name)} currency={currency} />
  const asks = draft.required_approval_count !== '0'
  return {
    beneficiary_ids: (
      <BeneficiariesField beneficiaries={beneficiaries} hint={tPolicy('payees.hint')} {...at('beneficiary_ids')} />
    ),
    payment_types: <PaymentTypesField hint={tPolicy('types.hint')} {...at('payment_types')} />,
    per_payment_limit_minor: limit('per_payment_limit_minor'),
    daily_limit_minor: limit('daily_limit_minor'),
    monthly_limit_minor: limit('monthly_limit_minor'),
    total_limit_minor: limit('total_limit_minor'),
    approval_threshold_minor: (
      <LimitField
        name="approval_threshold_minor"
        {...at('approval_threshold_minor')}
        onChange={(text) =>
          set({ approval_threshold_minor: text, ...(!asks && text !== '' && { required_approval_count: '1' }) })
        }
        currency={currency}
        hint={asks && draft.approval_threshold_minor.trim() === '' && tPolicy('threshold.hint')}
      />
    ),
    required_approval_count: (
      <SelectField label={tPolicy('approvals_needed')} {...at('required_approval_count')} options={approvalCounts} />
    ),
    separation_of_duties: <CheckField label={tPolicy('separation')} hint={tPolicy('separation.hint')} {...at('separation')} />,
    approval_proof: <CheckField label={tPolicy('signed')} hint={tPolicy('signed.hint')} {...at('signed')} />,
    approver_ids: <ApproversField value={draft.approver_ids} onChange={(approver_ids) => set({ approver_ids })} />,
    new_payees: (
      <SelectField
        label={tPolicy('new_payees')}
        hint={tPolicy('new_payees.hint')}
        {...at('new_payees')}
        emptyLabel={noRule}
        options={answerOptions(['require_approval', 'deny'])}
      />
    ),
    payee_verification: (
      <SelectField
        label={tPolicy('verification')}
        hint={tPolicy('verification.hint')}
        {...at('payee_verification')}
        emptyLabel={noRule}
        options={answerOptions(payeeVerificationAnswers)}
      />
    ),
    on_duplicate: (
      <SelectField
        label={tPolicy('duplicate')}
        hint={tLimit('duplicate.hint')}
        {...at('on_duplicate')}
        emptyLabel={noRule}
        options={answerOptions(duplicateAnswers)}
      />
    ),
    duplicate_window_seconds: draft.on_duplicate !== '' && (
      <SelectField
        label={tPolicy('how_recent')}
        {...at('duplicate_window_seconds')}
        options={windowOptions(draft.duplicate_window_seconds)}
      />
    ),
  }
}

type Group = { legend: 'applies' | 'limits' | 'approval' | 'payee' | 'duplicates'; rows: readonly (readonly PolicyWireField[])[] }

/** Every field in page order: named groups, with rows of fields that stand side by side. */
const groups = [
  { legend: 'applies', rows: [['beneficiary_ids'], ['payment_types']] },
  {
    legend: 'limits',
    rows: [
      ['per_payment_limit_minor', 'daily_limit_minor'],
      ['monthly_limit_minor', 'total_limit_minor'],
    ],
  },
  {
    legend: 'approval',
    rows: [
      ['approval_threshold_minor', 'required_approval_count'],
      ['separation_of_duties'],
      ['approval_proof'],
      ['approver_ids'],
    ],
  },
  { legend: 'payee', rows: [['new_payees'], ['payee_verification']] },
  { legend: 'duplicates', rows: [['on_duplicate', 'duplicate_window_seconds']] },
] as const satisfies readonly Group[]

/** Fields that are missing from the rows. If there are any, `placed` does not compile. */
type NotPlaced = Exclude<PolicyWireField, (typeof groups)[number]['rows'][number][number]>
type Placed = [NotPlaced] extends [never] ? typeof groups : NotPlaced
const placed: readonly Group[] & Placed = groups

const widths = ['', '', 'columns', 'columns columns-3'] as const

export const PolicyControls = (props: Props) => {
  const { currency, workspace } = useSession()
  const controls = controlsOf(props, currency)
  return placed.map(({ legend, rows }) => (
    <fieldset key={legend} className="stack">
      <legend className="visually-hidden">{tPolicy(`group.${legend}`)}</legend>
      {rows.map((fields) => (
        <div key={fields[0]} className={widths[fields.length]}>
          {fields.map((field) => (
            <Fragment key={field}>{controls[field]}</Fragment>
          ))}
        </div>
      ))}
      {legend === 'limits' && <p className="field-hint">{tPolicy('zone', { time_zone: workspaceZone(workspace) })}</p>}
    </fieldset>
  ))
}
