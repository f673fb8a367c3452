import type { Beneficiaries } from '../api/use-beneficiaries.ts'
import { moneyText } from '../lib/money.ts'
import { type Controls, type ControlsDraft, ControlsFields, controlsOfDraft, draftOfControls } from './controls-fields.tsx'
import { ChoiceField } from './field.tsx'

export type Spending = { choice: 'limited' | 'unlimited'; draft: ControlsDraft }

/** Small enough that a mistake costs little, and there before anybody thinks about it. */
const cautious: Controls = { per_payment_limit_minor: '100000', daily_limit_minor: '500000' }

const hasAmount = (controls: Controls): boolean =>
  [controls.per_payment_limit_minor, controls.daily_limit_minor, controls.monthly_limit_minor].some(
    (limit) => limit !== undefined,
  )

/** What is asked for where something is asked for, else little. */
export const initialSpending = (asked: Controls = {}): Spending => ({
  choice: 'limited',
  draft: draftOfControls(hasAmount(asked) ? asked : { ...cautious, ...asked }),
})

/** The limits that are chosen; null while they can't be read, or while there are none and nobody said that there should be none. */
export const controlsOf = ({ choice, draft }: Spending): Controls | null => {
  const controls = controlsOfDraft(draft)
  if (choice === 'limited') return controls && hasAmount(controls) ? controls : null
  if (!controls) return null
  const { payment_types, beneficiary_ids, approval_threshold_minor } = controls
  return {
    ...(payment_types && { payment_types }),
    ...(beneficiary_ids && { beneficiary_ids }),
    ...(approval_threshold_minor && { approval_threshold_minor }),
  }
}

/** "pay up to KES 5,000 a day": the widest of what is chosen, in a few words. */
export const spendingWords = (controls: Controls, currency: string): string => {
  const money = (minor: string) => moneyText(minor, currency).replace(/\.00$/, '')
  if (controls.daily_limit_minor) return `up to ${money(controls.daily_limit_minor)} a day`
  if (controls.monthly_limit_minor) return `up to ${money(controls.monthly_limit_minor)} a month`
  if (controls.per_payment_limit_minor) return `up to ${money(controls.per_payment_limit_minor)} per payment`
  return 'any amount'
}

type Props = {
  value: Spending
  onChange: (value: Spending) => void
  currency: string
  error: unknown
  beneficiaries?: Beneficiaries
  asked?: Controls
}

/** Limits are there from the beginning; having none is something that one has to choose. */
export const SpendChoice = ({ value, onChange, currency, error, beneficiaries, asked }: Props) => (
  <div className="stack">
    <ChoiceField
      label="Spending"
      value={value.choice}
      onChange={(choice) => onChange({ ...value, choice })}
      inRow
      choices={[
        { value: 'limited', label: 'Set limits', hint: 'You can change them at any time.' },
        { value: 'unlimited', label: 'No limit', hint: 'Only policies and the balance limit it.' },
      ]}
    />
    <ControlsFields
      draft={value.draft}
      onChange={(draft) => onChange({ ...value, draft })}
      currency={currency}
      error={error}
      amounts={value.choice === 'limited'}
      {...(beneficiaries && { beneficiaries })}
      {...(asked && { asked })}
    />
    {value.choice === 'limited' && controlsOf(value) === null && (
      <p className="field-error">Enter at least one limit, or choose “No limit”.</p>
    )}
  </div>
)
