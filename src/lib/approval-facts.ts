// What an approver must know before deciding, as one value that the text to sign and every page, notification and tool render. A type without words does
// not compile.

import { displayAmount } from './money.ts'
import { quoted } from './text.ts'

export const factLevels = ['danger', 'warning', 'info'] as const
export type FactLevel = (typeof factLevels)[number]

/** The heaviest first. */
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

/** `name`: the one that is reported or given, or another beneficiary's. `at`, `other_amount_minor`: what the amount or payment is compared with. */
export type FactItem = {
  index: number | null
  beneficiary: string
  amount_minor: string
  name: string | null
  other_amount_minor: string | null
  at: string | null
  /** The earlier payment that it looks like. */
  payment_id: string | null
}
export type Fact = { type: FactType; level: FactLevel; count: number; items: FactItem[] }

const byWeight = (one: Pick<Fact, 'type'>, other: Pick<Fact, 'type'>): number =>
  factTypes.indexOf(one.type) - factTypes.indexOf(other.type)

export const inOrder = (facts: readonly Fact[]): Fact[] => facts.toSorted(byWeight)

type Money = (minor: string) => string
type Words = {
  /** Two or three words, for a row of a list. */
  short: string | ((only: FactItem) => string)
  /** `count`: 1 where one payment is decided. */
  title: (count: string, several: boolean, only?: FactItem) => string
  about: (item: FactItem, money: Money) => string | null
}

/** "1,000" */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** "33", "5.2": how many times the usual amount. */
const times = ({ amount_minor: amount, other_amount_minor: usual }: FactItem): string => {
  const tenths = (BigInt(amount) * 10n) / BigInt(usual ?? amount)
  return tenths >= 100n ? grouped(Number((tenths + 5n) / 10n)) : String(Number(tenths) / 10)
}

const named = ({ name }: FactItem): string | null => (name === null ? null : quoted(name))
const nothing = () => null

const words: Readonly<Record<FactType, Words>> = {
  may_have_been_sent: {
    short: 'May have been paid',
    title: (count, several) => `${several ? `${count} payments` : 'This payment'} may have been paid already`,
    about: nothing,
  },
  name_mismatch: {
    short: 'Another name',
    title: (count, several) =>
      several ? `The rail reports another name for ${count} beneficiaries` : 'The rail reports another name for this number',
    about: ({ name }) => (name === null ? 'another name' : `registered to ${quoted(name)}`),
  },
  shared_number: {
    short: 'Number under two names',
    title: (count) => `${count} payments go to a number that the batch also pays under another name`,
    about: (one) => `also ${named(one)}`,
  },
  name_differs: {
    short: 'Another name in the list',
    title: (count, several) => `The list calls ${several ? `${count} beneficiaries` : 'this beneficiary'} by another name`,
    about: (one) => `the list says ${named(one)}`,
  },
  similar_name: {
    short: 'Name looks like another',
    title: (count, several) =>
      several ? `${count} names look like those of other beneficiaries` : 'The name looks like another beneficiary’s',
    about: (one) => `looks like ${named(one)}`,
  },
  unusual_amount: {
    short: (only) => `${times(only)} × the usual`,
    title: (count, _, only) =>
      only ? `${times(only)} times the usual amount` : `${count} amounts are more than five times the usual`,
    about: ({ other_amount_minor: usual }, money) => (usual === null ? null : `usually ${money(usual)}`),
  },
  far_from_last: {
    short: 'Far from the last amount',
    title: (count) => `${count} amounts are more than twice the last payment, or less than half of it`,
    about: ({ other_amount_minor: last }, money) => (last === null ? null : `last time ${money(last)}`),
  },
  possible_duplicate: {
    short: 'Possible duplicate',
    title: (count, several) =>
      `${several ? `${count} payments repeat` : 'This repeats'} the amount and reference of an earlier payment`,
    about: ({ at }) => (at === null ? null : `like one of ${at.slice(0, 16).replace('T', ' ')} UTC`),
  },
  changed_payee: {
    short: 'Name was changed',
    title: (count, several) => `${several ? `${count} beneficiaries were` : 'The beneficiary was'} renamed a short time ago`,
    about: (one) => `by ${named(one) ?? 'a person'}`,
  },
  new_payee: {
    short: 'Unconfirmed beneficiary',
    title: (count, several) => `No person has confirmed ${several ? `${count} beneficiaries` : 'this beneficiary'}`,
    about: (one) => `created by ${named(one) ?? 'a person'}`,
  },
  first_payment: {
    short: 'First payment',
    title: (count, several) =>
      several ? `${count} payments are the first to their destination` : 'First payment to this destination',
    about: nothing,
  },
  name_unconfirmed: {
    short: 'Name not verified',
    title: (count, several) => (several ? `${count} names are not verified` : 'The rail has not confirmed the name'),
    about: nothing,
  },
  name_close: {
    short: 'Similar name',
    title: (count, several) =>
      several ? `${count} names are close to what the rail reports` : 'The rail reports a similar name',
    about: nothing,
  },
  name_match: {
    short: 'Name matches',
    title: (count, several) => (several ? `${count} names match` : 'The rail reports the same name'),
    about: nothing,
  },
}

export const factShort = ({ type, items }: Pick<Fact, 'type' | 'items'>): string => {
  const { short } = words[type]
  const [first] = items
  return typeof short === 'string' ? short : first ? short(first) : 'Far above the usual'
}

/** `of`: how many payments are decided together. */
export const factTitle = ({ type, count, items }: Pick<Fact, 'type' | 'count' | 'items'>, of: number): string =>
  words[type].title(grouped(count), of > 1, of > 1 ? undefined : items[0])

/** "Amina Otieno: registered to "BRIAN KAMAU", KES 1,200.00". */
export const factItemText = ({ type }: Pick<Fact, 'type'>, one: FactItem, money: Money): string => {
  const about = words[type].about(one, money)
  return `${quoted(one.beneficiary)}: ${about === null ? '' : `${about}, `}${money(one.amount_minor)}`
}

const nameWords = [
  ['name_mismatch', 'differs', 'differ'],
  ['name_close', 'close', 'close'],
  ['name_unconfirmed', 'not verified', 'not verified'],
  ['name_match', 'matches', 'match'],
] as const

/** "Names: 1 differs, 3 close, 990 not verified, 6 match". Null where one payment is decided. */
export const namesSummary = (facts: readonly Fact[], of: number): string | null => {
  if (of < 2) return null
  const parts = nameWords.flatMap(([type, one, several]) => {
    const count = facts.find((fact) => fact.type === type)?.count ?? 0
    return count === 0 ? [] : [`${grouped(count)} ${count === 1 ? one : several}`]
  })
  return parts.length === 0 ? null : `Names: ${parts.join(', ')}`
}

export const isToldFirst = ({ level }: Pick<Fact, 'level'>): boolean => level !== 'info'

const itemsText = (fact: Fact, money: Money): string => {
  const items = fact.items.slice(0, 3).map((one) => factItemText(fact, one, money))
  const further = fact.count - items.length
  return items.length === 0 ? '' : `: ${items.join('; ')}${further > 0 ? `; and ${grouped(further)} more` : ''}`
}

/** Beneficiary and amount of a single payment stand beside it. */
const aboutText = ({ type, items }: Fact, money: Money): string => {
  const about = items[0] ? words[type].about(items[0], money) : null
  return about === null ? '' : `: ${about}`
}

/** For a notification, a mail or a model: what is dangerous or unusual, a sentence each, the heaviest first. */
export const factSentences = (facts: readonly Fact[], of: number, currency: string): string[] => {
  const money = (minor: string) => displayAmount(BigInt(minor), currency)
  const summary = namesSummary(facts, of)
  return [
    ...facts
      .filter(isToldFirst)
      .map((fact) => `${factTitle(fact, of)}${of > 1 ? itemsText(fact, money) : aboutText(fact, money)}.`),
    ...(summary === null ? [] : [`${summary}.`]),
  ]
}
