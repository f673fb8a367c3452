import type { Schemas } from '../../../client/src/route-types.ts'
import type { DuplicateAnswer, NewPayeeAnswer } from '../../../src/lib/policy-answers.ts'
import { tLimit } from './limit-texts.ts'
import { compareMinor, editableMajor, isUnreadable, parseMajor, shortMoney } from './words.ts'

/** Limits that policies share with keys and agents. */
export const limitLabels = {
  per_payment_limit_minor: tLimit('limit.per_payment'),
  daily_limit_minor: tLimit('limit.daily'),
  monthly_limit_minor: tLimit('limit.monthly'),
  total_limit_minor: tLimit('limit.total'),
  approval_threshold_minor: tLimit('limit.threshold'),
} as const
export type LimitName = keyof typeof limitLabels
export const limitNames = Object.keys(limitLabels) as LimitName[]

/** Typed amounts; empty for no limit. */
export type LimitsDraft = Record<LimitName, string>

const fromNames = <Value>(of: (name: LimitName) => Value) =>
  Object.fromEntries(limitNames.map((name) => [name, of(name)])) as Record<LimitName, Value>

export const limitsToDraft = (limits: { [Name in LimitName]?: string | null | undefined } | null): LimitsDraft =>
  fromNames((name) => editableMajor(limits?.[name]))

/** The draft with the amounts of a link: "daily_limit:9000,total_limit:20000". An old link never lowers a limit or adds one. */
export const raisedByLink = <Draft extends LimitsDraft>(draft: Draft, link: string | null): Draft => {
  const raised = (link?.split(',') ?? []).flatMap((pair) => {
    const [rule, amount = ''] = pair.split(':')
    const name = limitNames.find((candidate) => candidate === `${rule}_minor`)
    const [from, to] = [name ? parseMajor(draft[name]) : null, parseMajor(amount)]
    return name && from !== null && to !== null && compareMinor(to, from) > 0 ? [[name, amount]] : []
  })
  return { ...draft, ...Object.fromEntries(raised) }
}

/** Typed amounts in minor units; null for an empty one. The whole result is null if any amount is invalid. */
export const limitsFromDraft = (draft: LimitsDraft): Record<LimitName, string | null> | null =>
  limitNames.some((name) => isUnreadable(draft[name])) ? null : fromNames((name) => parseMajor(draft[name]))

export type Controls = Schemas['SpendingControls']
export type ControlsDraft = LimitsDraft & {
  payment_types: string[]
  beneficiary_ids: string[]
  /** Empty: `require_approval`, which asks a person once. */
  new_payees: '' | Exclude<NewPayeeAnswer, 'require_approval'>
  /** Empty: no rule. */
  on_duplicate: '' | DuplicateAnswer
}

export const controlsToDraft = (controls: Controls): ControlsDraft => ({
  ...limitsToDraft(controls),
  payment_types: controls.payment_types ?? [],
  beneficiary_ids: controls.beneficiary_ids ?? [],
  new_payees: controls.new_payees === undefined || controls.new_payees === 'require_approval' ? '' : controls.new_payees,
  on_duplicate: controls.on_duplicate ?? '',
})

/** Omits empty fields, because they set no limit. Null while an amount is invalid. */
export const controlsFromDraft = (draft: ControlsDraft): Controls | null => {
  const limits = limitsFromDraft(draft)
  if (!limits) return null
  const isSet = (value: unknown): boolean => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries({ ...draft, ...limits }).filter(([, value]) => isSet(value)))
}

export type Spending = { choice: 'limited' | 'unlimited'; draft: ControlsDraft }

export const hasAmount = (controls: Controls): boolean =>
  limitNames.some((name) => name !== 'approval_threshold_minor' && controls[name] !== undefined)

/** The chosen limits. Null while an amount is invalid, or while the choice is `limited` and no limit is set. */
export const controlsFromChoice = ({ choice, draft }: Spending): Controls | null => {
  // Without limits, only the threshold stays on the form.
  if (choice === 'unlimited')
    return controlsFromDraft({ ...draft, ...fromNames(() => ''), approval_threshold_minor: draft.approval_threshold_minor })
  const controls = controlsFromDraft(draft)
  return controls && hasAmount(controls) ? controls : null
}

/** "pay up to KES 5,000 a day": the first limit that is set, of daily, monthly, total and per payment. */
export const spendingWords = (controls: Controls, currency: string): string => {
  if (controls.daily_limit_minor) return tLimit('words.day', { amount: shortMoney(controls.daily_limit_minor, currency) })
  if (controls.monthly_limit_minor) return tLimit('words.month', { amount: shortMoney(controls.monthly_limit_minor, currency) })
  if (controls.total_limit_minor) return tLimit('words.total', { amount: shortMoney(controls.total_limit_minor, currency) })
  if (controls.per_payment_limit_minor)
    return tLimit('words.payment', { amount: shortMoney(controls.per_payment_limit_minor, currency) })
  return tLimit('words.any')
}
