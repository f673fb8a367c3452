import type { Beneficiaries } from '../api/use-beneficiaries.ts'
import { moneyText } from '../lib/money.ts'
import { type Controls, type ControlsDraft, ControlsFields, controlsOfDraft, draftOfControls } from './controls-fields.tsx'
import { ChoiceField } from './field.tsx'

export type Spending = { choice: 'limited' | 'unlimited'; draft: ControlsDraft }

/** The limits a form starts with: small, so that a mistake costs little. */
const cautious = {
  per_payment_limit_minor: '100000',
  daily_limit_minor: '500000',
  monthly_limit_minor: '5000000',
  approval_threshold_minor: '100000',
} as const satisfies Controls

export const hasAmount = (controls: Controls): boolean =>
  [controls.per_payment_limit_minor, controls.daily_limit_minor, controls.monthly_limit_minor].some(
    (limit) => limit !== undefined,
  )

/** The limits that the client requested; without a request, the cautious ones. */
export const initialSpending = (asked?: Controls): Spending => {
  const { new_payees, on_duplicate, ...requested } = asked ?? {}
  return {
    choice: 'limited',
    draft: draftOfControls({
      ...(hasAmount(requested) ? requested : { ...cautious, ...requested }),
      // Paying new beneficiaries without being asked is chosen by the person, never filled in.
      ...(new_payees === 'deny' && { new_payees }),
      // An agent must say that a second payment is meant, unless it asked for a stricter answer.
      ...(asked && { on_duplicate: on_duplicate === undefined || on_duplicate === 'warn' ? 'confirm' : on_duplicate }),
    }),
  }
}

const roundUp = (minor: bigint): bigint => {
  // Two digits that matter, and never less than a whole unit of the currency.
  const step = 10n ** BigInt(Math.max(2, minor.toString().length - 2))
  return ((minor + step - 1n) / step) * step
}

type Day = { count: number; amount_minor: string }

const median = (sorted: readonly bigint[]): bigint => sorted[Math.floor(sorted.length / 2)] ?? 0n

/**
 * Limits from the days on which agents spent: twice the median day, and never more than four times the cautious one; three times the usual
 * payment, from which on a person is asked; ten days a month. Without such days the cautious ones.
 */
export const suggestedSpending = (days: readonly Day[]): Spending => {
  const byAmount = days.map((day) => BigInt(day.amount_minor)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const count = days.reduce((sum, day) => sum + day.count, 0)
  if (count === 0) return { choice: 'limited', draft: draftOfControls({ ...cautious, on_duplicate: 'confirm' }) }
  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
  const daily = least(roundUp(median(byAmount) * 2n), BigInt(cautious.daily_limit_minor) * 4n)
  const usual = byAmount.reduce((sum, amount) => sum + amount, 0n) / BigInt(count)
  const perPayment = least(roundUp(usual * 3n), daily).toString()
  return {
    choice: 'limited',
    draft: draftOfControls({
      per_payment_limit_minor: perPayment,
      daily_limit_minor: daily.toString(),
      monthly_limit_minor: (daily * 10n).toString(),
      approval_threshold_minor: perPayment,
      on_duplicate: 'confirm',
    }),
  }
}

/** The chosen limits. Null while an amount can't be read, and while there is no limit without "No limit" being chosen. */
export const controlsOf = ({ choice, draft }: Spending): Controls | null => {
  const controls = controlsOfDraft(draft)
  if (choice === 'limited') return controls && hasAmount(controls) ? controls : null
  if (!controls) return null
  const { payment_types, beneficiary_ids, approval_threshold_minor, new_payees, on_duplicate } = controls
  return {
    ...(payment_types && { payment_types }),
    ...(beneficiary_ids && { beneficiary_ids }),
    ...(approval_threshold_minor && { approval_threshold_minor }),
    ...(new_payees && { new_payees }),
    ...(on_duplicate && { on_duplicate }),
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
  requested?: Controls
}

/** Limits are filled in from the start; having no limit takes an explicit choice. */
export const SpendChoice = ({ value, onChange, currency, error, beneficiaries, requested }: Props) => (
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
      {...(requested && { requested })}
    />
    {value.choice === 'limited' && controlsOf(value) === null && (
      <p className="field-error">Enter at least one limit, or choose “No limit”.</p>
    )}
  </div>
)
