import { type Fact, type FactItem, type FactLevel, type FactType, inOrder } from '../lib/approval-facts.ts'
import { isoTime } from '../lib/clock.ts'
import { formatId } from '../lib/ids.ts'
import { formatMinor, type Minor } from '../lib/money.ts'
import type { VerificationStatus } from '../lib/verification.ts'
import type { Maker, Warning } from './types.ts'

// The facts of an approval, from the warnings of its decisions: a warning without a type does not compile.

/** A payment that is decided, alone or in a batch. */
export type FactLine = {
  beneficiaryId: string
  payeeId: string
  payeeName: string
  amountMinor: Minor
  warnings: readonly Warning[]
  verification: VerificationStatus
  reportedName: string | null
  /** Nothing was paid to the destination before. */
  isFirst: boolean
  /** More than twice what was paid the last time, or less than half of it. */
  lastAmountMinor: Minor | null
}

type About = Partial<Pick<FactItem, 'name' | 'other_amount_minor' | 'at' | 'payment_id'>>
type Found = About & { type: FactType }

const maker = ({ grantId, label }: Maker): string | null => (grantId === null ? null : (label ?? 'a key or an agent'))

const ofWarning: { readonly [Code in Warning['code']]: (warning: Extract<Warning, { code: Code }>) => Found[] } = {
  possible_duplicate: ({ createdAt, paymentId }) => [
    { type: 'possible_duplicate', at: isoTime(createdAt), payment_id: formatId('payment', paymentId) },
  ],
  name_differs: ({ givenName }) => [{ type: 'name_differs', name: givenName }],
  new_payee: ({ by, at }) => [{ type: 'new_payee', name: maker(by), at: isoTime(at) }],
  changed_payee: ({ by, at }) => [{ type: 'changed_payee', name: maker(by), at: isoTime(at) }],
  similar_name: ({ name }) => [{ type: 'similar_name', name }],
  // Told from what the rail reports, with or without a policy (`ofName`).
  name_mismatch: () => [],
  unusual_amount: ({ typicalAmountMinor }) => [{ type: 'unusual_amount', other_amount_minor: formatMinor(typicalAmountMinor) }],
}

const found = (warning: Warning): Found[] => (ofWarning[warning.code] as (warning: Warning) => Found[])(warning)

const ofName: Readonly<Record<VerificationStatus, FactType>> = {
  no_match: 'name_mismatch',
  close_match: 'name_close',
  unverified: 'name_unconfirmed',
  unavailable: 'name_unconfirmed',
  match: 'name_match',
}

export type NamedLine = Pick<FactLine, 'beneficiaryId' | 'payeeName' | 'amountMinor' | 'verification' | 'reportedName'>

const maxItems = 10

const levels: Readonly<Record<FactType, FactLevel>> = {
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

/** What is true of all rows of a batch is no deviation, except what is dangerous. */
export const levelOf = (type: FactType, count: number, of: number): FactLevel =>
  levels[type] === 'warning' && of > 1 && count >= of ? 'info' : levels[type]

const item = (
  { payeeName, amountMinor }: Pick<FactLine, 'payeeName' | 'amountMinor'>,
  index: number | null,
  { name = null, other_amount_minor = null, at = null, payment_id = null }: About = {},
): FactItem => ({
  index,
  beneficiary: payeeName,
  amount_minor: formatMinor(amountMinor),
  name,
  other_amount_minor,
  at,
  payment_id,
})

const sum = (lines: readonly { amountMinor: Minor }[]): Minor => lines.reduce((total, { amountMinor }) => total + amountMinor, 0n)

/** What the rail reports about the names, by beneficiary: a batch may pay one several times. */
export const nameFacts = (lines: readonly NamedLine[]): Fact[] => {
  const payees = [...Map.groupBy(lines, ({ beneficiaryId }) => beneficiaryId).values()]
  const byType = Map.groupBy(payees, (own) => ofName[own[0]?.verification ?? 'unverified'])
  return [...byType].map(([type, group]) => {
    const told = levels[type] === 'info' ? [] : group.slice(0, maxItems)
    const items = told.flatMap((own) => {
      const [first] = own
      return first ? [item({ ...first, amountMinor: sum(own) }, null, { name: first.reportedName })] : []
    })
    return { type, level: levels[type], count: group.length, items }
  })
}

export const isFarFromLast = ({
  amountMinor,
  lastAmountMinor: last,
}: Pick<FactLine, 'amountMinor' | 'lastAmountMinor'>): boolean =>
  last !== null && (amountMinor > last * 2n || amountMinor * 2n < last)

const givenName = ({ payeeName, warnings }: FactLine): string =>
  warnings.flatMap((warning) => (warning.code === 'name_differs' ? [warning.givenName] : []))[0] ?? payeeName

/** Names under which each number is paid: one of several is another person's, or the number is. */
const namesByNumber = (lines: readonly FactLine[]): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map([...Map.groupBy(lines, ({ payeeId }) => payeeId)].map(([payeeId, own]) => [payeeId, new Set(own.map(givenName))]))

/** The facts of what is decided together: one payment, or all of a batch. */
export const factsOf = (lines: readonly FactLine[]): Fact[] => {
  const isBatch = lines.length > 1
  const names = namesByNumber(lines)
  const rows = lines.flatMap((line, index) => {
    const own = line.warnings.flatMap(found)
    const given = givenName(line)
    const other = [...(names.get(line.payeeId) ?? [])].find((name) => name !== given)
    const more: Found[] = [
      ...(other === undefined ? [] : [{ type: 'shared_number' as const, name: other }]),
      ...(isBatch && isFarFromLast(line)
        ? [{ type: 'far_from_last' as const, other_amount_minor: formatMinor(line.lastAmountMinor ?? 0n) }]
        : []),
      ...(line.isFirst ? [{ type: 'first_payment' as const }] : []),
    ]
    return [...own, ...more].map(({ type, ...about }) => ({ type, item: item(line, isBatch ? index : null, about) }))
  })
  const told = [...Map.groupBy(rows, ({ type }) => type)].map(([type, group]): Fact => {
    const level = levelOf(type, group.length, lines.length)
    return { type, level, count: group.length, items: level === 'info' ? [] : group.slice(0, maxItems).map((row) => row.item) }
  })
  return inOrder([...told, ...nameFacts(lines)])
}

/** With other names than when the facts were stored: a rail may have reported one since. */
export const withNames = (facts: readonly Fact[], names: readonly Fact[]): Fact[] => {
  const replaced = new Set<FactType>(Object.values(ofName))
  return inOrder([...facts.filter(({ type }) => !replaced.has(type)), ...names])
}

/** What a warning about one payment says. */
export const warningFacts = (warnings: readonly Warning[], line: Pick<FactLine, 'payeeName' | 'amountMinor'>): Fact[] =>
  warnings.flatMap(found).map(({ type, ...about }) => ({ type, level: levels[type], count: 1, items: [item(line, null, about)] }))

export const lostFact = (count: number): Fact => ({ type: 'may_have_been_sent', level: 'danger', count, items: [] })
