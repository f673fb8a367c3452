import { type DuplicateAnswer, duplicateAnswers, type NewPayeeAnswer } from '../../../src/lib/policy-answers.ts'
import type { Beneficiaries } from '../api/names.ts'
import type { Schemas } from '../api/queries.ts'
import { t } from '../lib/language.ts'
import { tLimit } from '../lib/limit-texts.ts'
import { answerOptions, starterThreshold } from '../lib/rule-words.ts'
import { editableMajor, moneyText, parseMajor, shortMoney, unreadableAmount } from '../lib/words.ts'
import { BeneficiariesField, PaymentTypesField } from './beneficiary-field.tsx'
import { ChoiceField, fieldsOf, MoneyField, SelectField } from './field.tsx'

/** Limits that policies share with keys and agents. */
const limitLabels = {
  per_payment_limit_minor: tLimit('limit.per_payment'),
  daily_limit_minor: tLimit('limit.daily'),
  monthly_limit_minor: tLimit('limit.monthly'),
  total_limit_minor: tLimit('limit.total'),
  approval_threshold_minor: tLimit('limit.threshold'),
} as const
export type LimitName = keyof typeof limitLabels
const limitNames = Object.keys(limitLabels) as LimitName[]

/** Typed amounts; empty for no limit. */
export type LimitsDraft = Record<LimitName, string>

const fromNames = <Value,>(of: (name: LimitName) => Value) =>
  Object.fromEntries(limitNames.map((name) => [name, of(name)])) as Record<LimitName, Value>

export const draftOfLimits = (limits: { [Name in LimitName]?: string | null | undefined } | null): LimitsDraft =>
  fromNames((name) => editableMajor(limits?.[name]))

/** "daily_limit:9000,monthly_limit:20000": amounts that a link fills in. */
export const raisedLimits = (text: string | null): Partial<LimitsDraft> => {
  const pairs = (text?.split(',') ?? []).map((pair) => pair.split(':'))
  const raised = limitNames.flatMap((name) => {
    const amount = pairs.find(([rule]) => `${rule}_minor` === name)?.[1] ?? ''
    return parseMajor(amount) === null ? [] : [[name, amount]]
  })
  return Object.fromEntries(raised)
}

const isUnreadable = (amount: string): boolean => amount.trim() !== '' && parseMajor(amount) === null

/** Typed amounts in minor units; null for an empty one. The whole result is null if any amount is invalid. */
export const limitsOf = (draft: LimitsDraft): Record<LimitName, string | null> | null =>
  limitNames.some((name) => isUnreadable(draft[name])) ? null : fromNames((name) => parseMajor(draft[name]))

type LimitProps = Omit<Parameters<typeof MoneyField>[0], 'label' | 'optional'> & { name: LimitName }

export const LimitField = ({ name, ...field }: LimitProps) => (
  <MoneyField label={limitLabels[name]} optional {...field} {...(isUnreadable(field.value) && { error: unreadableAmount })} />
)

export type Controls = Schemas['SpendingControls']
export type ControlsDraft = LimitsDraft & {
  payment_types: string[]
  beneficiary_ids: string[]
  /** Empty: a person is asked once. */
  new_payees: '' | NewPayeeAnswer
  /** Empty: no rule. */
  on_duplicate: '' | DuplicateAnswer
}

export const draftOfControls = (controls: Controls): ControlsDraft => ({
  ...draftOfLimits(controls),
  payment_types: controls.payment_types ?? [],
  beneficiary_ids: controls.beneficiary_ids ?? [],
  // No answer means that a person is asked.
  new_payees: controls.new_payees === undefined || controls.new_payees === 'require_approval' ? '' : controls.new_payees,
  on_duplicate: controls.on_duplicate ?? '',
})

/** Omits empty fields, which do not apply. Null while an amount is invalid. */
export const controlsOfDraft = (draft: ControlsDraft): Controls | null => {
  const limits = limitsOf(draft)
  if (!limits) return null
  const isSet = (value: unknown): boolean => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries({ ...draft, ...limits }).filter(([, value]) => isSet(value)))
}

/** Explanation of each answer. */
const newPayeeMeaning: Readonly<Record<Exclude<ControlsDraft['new_payees'], 'require_approval'>, string>> = {
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
  /** Controls that a client requested. The person may only narrow them. */
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
        hint={
          newPayeeMeaning[draft.new_payees === 'require_approval' ? '' : draft.new_payees] +
          (requested?.new_payees === 'allow' ? tLimit('payees.requested') : '')
        }
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

/** Lifetimes in days. */
export const accessLifetimes = [
  ...['7', '30', '90'].map((value) => ({ value, label: tLimit('days', { value }) })),
  { value: '365', label: tLimit('year') },
  { value: '', label: tLimit('no_end') },
]

export type Spending = { choice: 'limited' | 'unlimited'; draft: ControlsDraft }

/** Small default limits, for which a mistake costs little. */
const cautious = {
  per_payment_limit_minor: '100000',
  daily_limit_minor: '500000',
  monthly_limit_minor: '5000000',
  approval_threshold_minor: '100000',
} as const satisfies Controls

export const starterSpending = (): Spending => {
  const limits = { per_payment_limit_minor: '2000000', daily_limit_minor: '5000000', monthly_limit_minor: '50000000' }
  return {
    choice: 'limited',
    draft: draftOfControls({ ...limits, approval_threshold_minor: starterThreshold, on_duplicate: 'confirm' }),
  }
}

export const hasAmount = (controls: Controls): boolean =>
  limitNames.some((name) => name !== 'approval_threshold_minor' && controls[name] !== undefined)

/** The limits that the client requested, or cautious ones without a request. */
export const initialSpending = (asked?: Controls): Spending => {
  const { new_payees, on_duplicate, ...requested } = asked ?? {}
  return {
    choice: 'limited',
    draft: draftOfControls({
      ...(hasAmount(requested) ? requested : { ...cautious, ...requested }),
      // Only the person chooses payments to new beneficiaries without approval; the form never prefills that.
      ...(new_payees === 'deny' && { new_payees }),
      // An agent must confirm a second payment, unless it asked for a stricter answer.
      ...(asked && { on_duplicate: on_duplicate === undefined || on_duplicate === 'warn' ? 'confirm' : on_duplicate }),
    }),
  }
}

const roundUp = (minor: bigint): bigint => {
  // Keeps two significant digits, and rounds to at least a whole unit of the currency.
  const step = 10n ** BigInt(Math.max(2, minor.toString().length - 2))
  return ((minor + step - 1n) / step) * step
}

const median = (sorted: readonly bigint[]): bigint => sorted[Math.floor(sorted.length / 2)] ?? 0n

/**
 * Limits from the days on which agents spent. Daily: twice the median day, at most four times the cautious limit. Per payment,
 * and for approval: three times the usual payment. Monthly: ten days. Without such days, the cautious limits.
 */
export const suggestedSpending = (days: readonly { count: number; amount_minor: string }[]): Spending => {
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

/** The chosen limits. Null while an amount is invalid, or if there is no limit without the choice "No limit". */
export const controlsOf = ({ choice, draft }: Spending): Controls | null => {
  const controls = controlsOfDraft(draft)
  if (choice === 'limited') return controls && hasAmount(controls) ? controls : null
  if (!controls) return null
  const kept = Object.entries(controls).filter(([name]) => name === 'approval_threshold_minor' || !(name in limitLabels))
  return Object.fromEntries(kept)
}

/** "pay up to KES 5,000 a day": the widest chosen limit in a few words. */
export const spendingWords = (controls: Controls, currency: string): string => {
  if (controls.daily_limit_minor) return tLimit('words.day', { amount: shortMoney(controls.daily_limit_minor, currency) })
  if (controls.monthly_limit_minor) return tLimit('words.month', { amount: shortMoney(controls.monthly_limit_minor, currency) })
  if (controls.total_limit_minor) return tLimit('words.total', { amount: shortMoney(controls.total_limit_minor, currency) })
  if (controls.per_payment_limit_minor)
    return tLimit('words.payment', { amount: shortMoney(controls.per_payment_limit_minor, currency) })
  return tLimit('words.any')
}

type Props = Omit<FieldsProps, 'draft' | 'onChange' | 'amounts'> & { value: Spending; onChange: (value: Spending) => void }

/** Limits are prefilled; having none takes an explicit choice. */
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
    {value.choice === 'limited' && controlsOf(value) === null && <p className="field-error">{tLimit('at_least_one')}</p>}
  </div>
)
