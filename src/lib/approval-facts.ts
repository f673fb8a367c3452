// Facts that an approver must know before deciding: one value for the signed text and every page, notification and tool. A type
// without words does not compile.

import words from '../../texts/facts.en.json' with { type: 'json' }
import { displayAmount } from './money.ts'
import { quoted } from './text.ts'

export const factLevels = ['danger', 'warning', 'info'] as const
export type FactLevel = (typeof factLevels)[number]

/** Fact types, the most serious first. */
export const factTypes = [
  'may_have_been_sent',
  'name_mismatch',
  'shared_number',
  'name_differs',
  'similar_name',
  'unusual_amount',
  'far_from_last',
  'possible_duplicate',
  'changed_payee',
  'new_payee',
  'first_payment',
  'name_unconfirmed',
  'name_close',
  'name_match',
] as const
export type FactType = (typeof factTypes)[number]

/** `name`: reported, given, or another beneficiary's. `at`, `other_amount_minor`: the values to compare the payment with. */
export type FactItem = {
  index: number | null
  beneficiary: string
  amount_minor: string
  name: string | null
  other_amount_minor: string | null
  at: string | null
  /** The earlier payment that it resembles. */
  payment_id: string | null
}
export type Fact = { type: FactType; level: FactLevel; count: number; items: FactItem[] }

export const levels: Readonly<Record<FactType, FactLevel>> = {
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
}

type Creator = { grant_id: string | null; label?: string | null }
/** The warnings of a decision in their API form. */
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

/** The fact behind a warning. */
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

/** The warnings of one decision as facts. Before an approval, an unconfirmed name becomes a fact too. */
export const factsOfWarnings = (
  warnings: readonly WireWarning[],
  about: Pick<FactItem, 'beneficiary' | 'amount_minor'>,
): Fact[] =>
  inOrder(
    warnings.map(factOfWarning).map(({ type, ...found }) => ({
      ...{ type, level: levels[type] === 'info' ? 'warning' : levels[type] },
      ...{ count: 1, items: [factItem(about, null, found)] },
    })),
  )

const byWeight = (one: Pick<Fact, 'type'>, other: Pick<Fact, 'type'>): number =>
  factTypes.indexOf(one.type) - factTypes.indexOf(other.type)

export const inOrder = (facts: readonly Fact[]): Fact[] => facts.toSorted(byWeight)

type Money = (minor: string) => string
type When = (at: string) => string
/**
 * `short`: two or three words, for a row of a list. `one`: for one payment. `several`: for several, by how many the fact is true
 * of. `about`: of an item; `otherwise` if it has no name. `tally`: of compared names. Same form in all languages (`texts/`).
 */
type FactWords = { short: string; one: string; several: Forms; about?: string; otherwise?: string; tally?: Forms }
type Forms = { one: string; several: string }
export type FactCatalogue = Readonly<Record<FactType, FactWords> & Record<'names' | 'more', string>>
export const englishFacts: FactCatalogue = words

/** A time for a reader without a time zone. */
const utcTime: When = (at) => `${at.slice(0, 16).replace('T', ' ')} UTC`

/** "1,000" */
export const groupDigits = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** The text with its values. Null if a value is missing. */
const filled = (text: string, values: Readonly<Record<string, string | null | undefined>>): string | null =>
  [...text.matchAll(/\{(\w+)\}/g)].some(([, name = '']) => (values[name] ?? null) === null)
    ? null
    : text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')

/** "33", "5.2": how many times the usual amount. */
const timesOf = ({ amount_minor: amount, other_amount_minor: usual }: FactItem): string => {
  const tenths = (BigInt(amount) * 10n) / BigInt(usual ?? amount)
  return tenths >= 100n ? groupDigits(Number((tenths + 5n) / 10n)) : String(Number(tenths) / 10)
}

/** The singular for 1, else the plural: both languages have only these. */
const counted = ({ one, several }: Forms, count: number): string =>
  (count === 1 ? one : several).replace('{count}', groupDigits(count))

type Ways = { by?: FactCatalogue; when?: When }

/** The fact about a payment whose beneficiary and amount stand beside it: "registered to "BRIAN KAMAU"". */
export const factAbout = (
  { type }: Pick<Fact, 'type'>,
  { name, other_amount_minor: amount, at }: FactItem,
  money: Money,
  { by = englishFacts, when = utcTime }: Ways = {},
): string | null => {
  const { about = null, otherwise = null } = by[type]
  if (about === null) return null
  const named = name === null ? null : quoted(name)
  return filled(about, { name: named, amount: amount && money(amount), at: at && when(at) }) ?? otherwise
}

export const factShort = ({ type, items: [first] }: Pick<Fact, 'type' | 'items'>, by = englishFacts): string =>
  filled(by[type].short, { times: first && timesOf(first) }) ?? by[type].otherwise ?? by[type].one

/** `of`: how many payments are decided together. */
export const factTitle = (
  { type, count, items: [first] }: Pick<Fact, 'type' | 'count' | 'items'>,
  of: number,
  by = englishFacts,
) => {
  const { one, several } = by[type]
  const values = { count: groupDigits(count), times: first && timesOf(first) }
  return (of > 1 ? null : filled(one, values)) ?? counted(several, count)
}

/** "Amina Otieno: registered to "BRIAN KAMAU", KES 1,200.00". */
export const factItemText = ({ type }: Pick<Fact, 'type'>, one: FactItem, money: Money, ways: Ways = {}): string => {
  const about = factAbout({ type }, one, money, ways)
  return `${quoted(one.beneficiary)}: ${about === null ? '' : `${about}, `}${money(one.amount_minor)}`
}

const comparedNames = ['name_mismatch', 'name_close', 'name_unconfirmed', 'name_match'] as const

/** "Names: 1 differs, 3 close, 990 not verified, 6 match". Null for a single payment. */
export const namesSummary = (facts: readonly Fact[], of: number, by = englishFacts): string | null => {
  if (of < 2) return null
  const parts = comparedNames.flatMap((type) => {
    const { tally } = by[type]
    const count = facts.find((fact) => fact.type === type)?.count ?? 0
    return count === 0 || !tally ? [] : [counted(tally, count)]
  })
  return parts.length === 0 ? null : filled(by.names, { names: parts.join(', ') })
}

export const isHeadline = ({ level }: Pick<Fact, 'level'>): boolean => level !== 'info'

/** One sentence per fact, in one language. Beneficiary and amount of a single payment stand beside it. */
export const factLines = (facts: readonly Fact[], of: number, currency: string, ways: Ways = {}): string[] => {
  const { by = englishFacts } = ways
  const money = (minor: string) => displayAmount(BigInt(minor), currency)
  const detailOf = ({ type, items, count }: Fact): string | null => {
    if (of === 1) return items[0] ? factAbout({ type }, items[0], money, ways) : null
    const shown = items.slice(0, 3).map((one) => factItemText({ type }, one, money, ways))
    const further = count - shown.length
    const rest = further > 0 ? [filled(by.more, { count: groupDigits(further) })] : []
    return shown.length === 0 ? null : [...shown, ...rest].join('; ')
  }
  return facts.map((fact) => {
    const detail = detailOf(fact)
    return `${factTitle(fact, of, by)}${detail === null ? '' : `: ${detail}`}.`
  })
}

/** For a notification or a model: dangerous and unusual facts, the most serious first. */
export const factSentences = (facts: readonly Fact[], of: number, currency: string): string[] => {
  const summary = namesSummary(facts, of)
  return [...factLines(facts.filter(isHeadline), of, currency), ...(summary === null ? [] : [`${summary}.`])]
}
