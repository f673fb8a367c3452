// Facts that an approver must know: one value for the signed text, pages, notifications and tools. Each type must have a text.

import words from '../../texts/facts.en.json' with { type: 'json' }
import { displayAmount } from './money.ts'
import { quoted } from './text.ts'

export const factLevels = ['danger', 'warning', 'info'] as const
export type FactLevel = (typeof factLevels)[number]

/** The level of each fact type, most serious type first. */
export const levels = {
  may_have_been_sent: 'danger',
  name_mismatch: 'danger',
  shared_number: 'warning',
  name_differs: 'warning',
  similar_name: 'warning',
  unusual_amount: 'warning',
  far_from_last: 'warning',
  possible_duplicate: 'warning',
  changed_payee: 'warning',
  new_payee: 'warning',
  first_payment: 'warning',
  name_unconfirmed: 'info',
  name_close: 'info',
  name_match: 'info',
} as const satisfies Record<string, FactLevel>
export type FactType = keyof typeof levels
export const factTypes = Object.keys(levels) as FactType[]

/** `name`: the reported, entered or other beneficiary's name. `at`, `other_amount_minor`: values to compare the payment with. */
export type FactItem = {
  index: number | null
  beneficiary: string
  amount_minor: string
  name: string | null
  other_amount_minor: string | null
  at: string | null
  /** The earlier payment that this payment resembles. */
  payment_id: string | null
}
export type Fact = { type: FactType; level: FactLevel; count: number; items: FactItem[] }

type Creator = { grant_id: string | null; label?: string | null }
/** The warnings of a decision, in the API's form. */
export type WireWarning =
  | { code: 'possible_duplicate'; payment_id: string; created_at: string }
  | { code: 'new_payee'; by: Creator; at: string }
  | { code: 'changed_payee'; by: Creator; at: string }
  | { code: 'similar_name'; name: string }
  | { code: 'name_differs'; given_name: string }
  | { code: 'name_mismatch'; verification: string; name: string | null }
  | { code: 'unusual_amount'; typical_amount_minor: string }

export type FactDetails = Partial<Pick<FactItem, 'name' | 'other_amount_minor' | 'at' | 'payment_id'>>
export type FoundFact = FactDetails & { type: FactType }

const creatorName = ({ grant_id: grantId, label }: Creator): string | null =>
  grantId === null ? null : (label ?? 'a key or an agent')

export const factOfWarning = (warning: WireWarning): FoundFact => {
  switch (warning.code) {
    case 'possible_duplicate':
      return { type: warning.code, at: warning.created_at, payment_id: warning.payment_id }
    case 'name_differs':
      return { type: warning.code, name: warning.given_name }
    case 'similar_name':
      return { type: warning.code, name: warning.name }
    case 'name_mismatch':
      return { type: warning.verification === 'no_match' ? 'name_mismatch' : 'name_unconfirmed', name: warning.name }
    case 'unusual_amount':
      return { type: warning.code, other_amount_minor: warning.typical_amount_minor }
    default:
      return { type: warning.code, name: creatorName(warning.by), at: warning.at }
  }
}

export const factItem = (
  about: Pick<FactItem, 'beneficiary' | 'amount_minor'>,
  index: number | null,
  { name = null, other_amount_minor = null, at = null, payment_id = null }: FactDetails = {},
): FactItem => ({ index, ...about, name, other_amount_minor, at, payment_id })

/** Converts the warnings of one decision to facts. Before an approval, an unconfirmed name is also a fact. */
export const factsOfWarnings = (
  warnings: readonly WireWarning[],
  about: Pick<FactItem, 'beneficiary' | 'amount_minor'>,
): Fact[] =>
  inOrder(
    warnings.map(factOfWarning).map(({ type, ...found }) => ({
      type,
      level: levels[type] === 'info' ? 'warning' : levels[type],
      count: 1,
      items: [factItem(about, null, found)],
    })),
  )

const byWeight = (one: Pick<Fact, 'type'>, other: Pick<Fact, 'type'>): number =>
  factTypes.indexOf(one.type) - factTypes.indexOf(other.type)

export const inOrder = (facts: readonly Fact[]): Fact[] => facts.toSorted(byWeight)

type Money = (minor: string) => string
type When = (at: string) => string
/**
 * `short`: two or three words for a list. `one`: for one payment. `several`: for a batch, by the number of affected payments.
 * `about`: for an item; `otherwise` if it has no name. `tally`: counts compared names. Same form in all languages (`texts/`).
 */
type FactWords = { short: string; one: string; several: Forms; about?: string; otherwise?: string; tally?: Forms }
type Forms = { one: string; several: string }
export type FactCatalogue = Readonly<Record<FactType, FactWords> & Record<'names' | 'more', string>>
export const englishFacts: FactCatalogue = words

/** A time for readers without a known time zone. */
const utcTime: When = (at) => `${at.slice(0, 16).replace('T', ' ')} UTC`

/** Formats 1000 as "1,000". */
export const groupDigits = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** Fills in the values of a text. Null if a value is missing. */
const filled = (text: string, values: Readonly<Record<string, string | null | undefined>>): string | null =>
  [...text.matchAll(/\{(\w+)\}/g)].some(([, name = '']) => (values[name] ?? null) === null)
    ? null
    : text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')

/** How many times the usual amount, such as "33" or "5.2". */
const timesOf = ({ amount_minor: amount, other_amount_minor: usual }: FactItem): string => {
  const tenths = (BigInt(amount) * 10n) / BigInt(usual ?? amount)
  return tenths >= 100n ? groupDigits(Number((tenths + 5n) / 10n)) : String(Number(tenths) / 10)
}

/** The singular for 1, the plural otherwise. Both languages have only these two forms. */
const counted = ({ one, several }: Forms, count: number): string =>
  (count === 1 ? one : several).replace('{count}', groupDigits(count))

type Wording = { catalogue?: FactCatalogue; formatTime?: When }

/** The fact without beneficiary and amount, which the page shows beside it: "registered to "BRIAN KAMAU"". */
export const factAbout = (
  { type }: Pick<Fact, 'type'>,
  { name, other_amount_minor: amount, at }: FactItem,
  money: Money,
  { catalogue = englishFacts, formatTime = utcTime }: Wording = {},
): string | null => {
  const { about = null, otherwise = null } = catalogue[type]
  if (about === null) return null
  const named = name === null ? null : quoted(name)
  return filled(about, { name: named, amount: amount && money(amount), at: at && formatTime(at) }) ?? otherwise
}

export const factShort = ({ type, items: [first] }: Pick<Fact, 'type' | 'items'>, catalogue = englishFacts): string =>
  filled(catalogue[type].short, { times: first && timesOf(first) }) ?? catalogue[type].otherwise ?? catalogue[type].one

/** `paymentCount`: of payments that are decided together. */
export const factTitle = (
  { type, count, items: [first] }: Pick<Fact, 'type' | 'count' | 'items'>,
  paymentCount: number,
  catalogue = englishFacts,
) => {
  const { one, several } = catalogue[type]
  const values = { count: groupDigits(count), times: first && timesOf(first) }
  return (paymentCount > 1 ? null : filled(one, values)) ?? counted(several, count)
}

/** Formats an item: "Amina Otieno: registered to "BRIAN KAMAU", KES 1,200.00". */
export const factItemText = ({ type }: Pick<Fact, 'type'>, one: FactItem, money: Money, wording: Wording = {}): string => {
  const about = factAbout({ type }, one, money, wording)
  return `${quoted(one.beneficiary)}: ${about === null ? '' : `${about}, `}${money(one.amount_minor)}`
}

const comparedNames = ['name_mismatch', 'name_close', 'name_unconfirmed', 'name_match'] as const

/** "Names: 1 differs, 3 close, 990 not verified, 6 match". Null for a single payment. */
export const namesSummary = (facts: readonly Fact[], paymentCount: number, catalogue = englishFacts): string | null => {
  if (paymentCount < 2) return null
  const parts = comparedNames.flatMap((type) => {
    const { tally } = catalogue[type]
    const count = facts.find((fact) => fact.type === type)?.count ?? 0
    return count === 0 || !tally ? [] : [counted(tally, count)]
  })
  return parts.length === 0 ? null : filled(catalogue.names, { names: parts.join(', ') })
}

export const isHeadline = ({ level }: Pick<Fact, 'level'>): boolean => level !== 'info'

/** One sentence per fact, in one language. For a single payment, beneficiary and amount are omitted. */
export const factLines = (facts: readonly Fact[], paymentCount: number, currency: string, wording: Wording = {}): string[] => {
  const { catalogue = englishFacts } = wording
  const money = (minor: string) => displayAmount(BigInt(minor), currency)
  const detailOf = ({ type, items, count }: Fact): string | null => {
    if (paymentCount === 1) return items[0] ? factAbout({ type }, items[0], money, wording) : null
    const shown = items.slice(0, 3).map((one) => factItemText({ type }, one, money, wording))
    const further = count - shown.length
    const rest = further > 0 ? [filled(catalogue.more, { count: groupDigits(further) })] : []
    return shown.length === 0 ? null : [...shown, ...rest].join('; ')
  }
  return facts.map((fact) => {
    const detail = detailOf(fact)
    return `${factTitle(fact, paymentCount, catalogue)}${detail === null ? '' : `: ${detail}`}.`
  })
}

/** Dangerous and unusual facts for a notification or a model, most serious first. */
export const factSentences = (facts: readonly Fact[], paymentCount: number, currency: string): string[] => {
  const summary = namesSummary(facts, paymentCount)
  return [...factLines(facts.filter(isHeadline), paymentCount, currency), ...(summary === null ? [] : [`${summary}.`])]
}
