import { duplicateAnswers } from '../../../src/lib/policy-answers.ts'
import type { Beneficiaries } from '../api/names.ts'
import { t } from '../lib/language.ts'
import { tLimit } from '../lib/limit-texts.ts'
import { answerOptions } from '../lib/rule-words.ts'
import {
  type Controls,
  type ControlsDraft,
  controlsFromChoice,
  type LimitName,
  limitLabels,
  limitNames,
  type Spending,
} from '../lib/spending-draft.ts'
import { moneyText } from '../lib/words.ts'
import { BeneficiariesField } from './beneficiary-field.tsx'
import { ChoiceField, fieldsOf, MoneyField, SelectField } from './field.tsx'
import { PaymentTypesField } from './pick-many.tsx'

type LimitProps = Omit<Parameters<typeof MoneyField>[0], 'label' | 'optional'> & { name: LimitName }

export const LimitField = ({ name, ...field }: LimitProps) => <MoneyField label={limitLabels[name]} optional {...field} />

/** Explanation of each answer about new beneficiaries. */
const newPayeeMeaning: Readonly<Record<ControlsDraft['new_payees'], string>> = {
  '': tLimit('payees.ask'),
  allow: tLimit('payees.allow'),
  deny: tLimit('payees.deny'),
}

type FieldsProps = {
  draft: ControlsDraft
  onChange: (draft: ControlsDraft) => void
  currency: string
  error: unknown
  beneficiaries?: Beneficiaries | undefined
  /** Controls that a client requested. The service accepts only narrower ones. */
  requested?: Controls | undefined
  /** False: hides the limits on amounts. */
  amounts?: boolean
}

export const ControlsFields = ({ draft, onChange, currency, error, beneficiaries, requested, amounts = true }: FieldsProps) => {
  const set = (change: Partial<ControlsDraft>) => onChange({ ...draft, ...change })
  const at = fieldsOf(draft, set, error, 'spending_controls.')
  return (
    <fieldset className="stack">
      <legend className="visually-hidden">{tLimit('limits')}</legend>
      <div className="columns">
        {limitNames
          .filter((name) => amounts || name === 'approval_threshold_minor')
          .map((name) => (
            <LimitField
              key={name}
              name={name}
              {...at(name)}
              currency={currency}
              hint={requested?.[name] && tLimit('requested', { amount: moneyText(requested[name], currency) })}
            />
          ))}
      </div>
      {beneficiaries && <BeneficiariesField beneficiaries={beneficiaries} {...at('beneficiary_ids')} />}
      <SelectField
        label={tLimit('payees.new')}
        {...at('new_payees')}
        hint={newPayeeMeaning[draft.new_payees] + (requested?.new_payees === 'allow' ? tLimit('payees.requested') : '')}
        emptyLabel={tLimit('payees.ask_once')}
        options={answerOptions(['allow', 'deny'])}
      />
      <SelectField
        label={tLimit('repeat')}
        {...at('on_duplicate')}
        hint={tLimit('duplicate.hint')}
        emptyLabel={requested ? undefined : tLimit('repeat.none')}
        options={answerOptions(duplicateAnswers)}
      />
      <PaymentTypesField {...at('payment_types')} />
    </fieldset>
  )
}

/** Lifetimes in days. Empty: no end. */
export const accessLifetimes = [
  ...['7', '30', '90'].map((value) => ({ value, label: tLimit('days', { value }) })),
  { value: '365', label: tLimit('year') },
  { value: '', label: tLimit('no_end') },
]

type Props = Omit<FieldsProps, 'draft' | 'onChange' | 'amounts'> & { value: Spending; onChange: (value: Spending) => void }

/** Choice between limits, which are prefilled, and no limit, which a person must choose explicitly. */
export const SpendChoice = ({ value, onChange, ...fields }: Props) => (
  <div className="stack">
    <ChoiceField
      label={t('spending')}
      value={value.choice}
      onChange={(choice) => onChange({ ...value, choice })}
      inRow
      choices={[
        { value: 'limited', label: tLimit('set_limits'), hint: tLimit('set_limits.hint') },
        { value: 'unlimited', label: tLimit('no_limit'), hint: tLimit('no_limit.hint') },
      ]}
    />
    <ControlsFields
      draft={value.draft}
      onChange={(draft) => onChange({ ...value, draft })}
      amounts={value.choice === 'limited'}
      {...fields}
    />
    {value.choice === 'limited' && controlsFromChoice(value) === null && <p className="field-error">{tLimit('at_least_one')}</p>}
  </div>
)
