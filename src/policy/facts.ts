import {
  type Fact,
  type FactDetails,
  type FactItem,
  type FactLevel,
  type FactType,
  type FoundFact,
  factItem,
  factOfWarning,
  inOrder,
  isHeadline,
  levels,
  type WireWarning,
} from '../lib/approval-facts.ts'
import { formatMinor, type Minor, sumOf } from '../lib/money.ts'
import type { VerificationStatus } from '../lib/verification.ts'

// Derives the facts of an approval from the warnings of its decisions. A warning without a fact type does not compile.

/** A payment to decide, alone or in a batch. */
export type FactLine = {
  beneficiaryId: string
  payeeId: string
  payeeName: string
  amountMinor: Minor
  warnings: readonly WireWarning[]
  verification: VerificationStatus
  reportedName: string | null
  /** Whether it is the first payment to the destination. */
  isFirst: boolean
  /** Amount of the last payment to the destination. */
  lastAmountMinor: Minor | null
}

const factOfVerification: Readonly<Record<VerificationStatus, FactType>> = {
  no_match: 'name_mismatch',
  close_match: 'name_close',
  unverified: 'name_unconfirmed',
  unavailable: 'name_unconfirmed',
  match: 'name_match',
}

export type NamedLine = Pick<FactLine, 'beneficiaryId' | 'payeeName' | 'amountMinor' | 'verification' | 'reportedName'>

const maxItems = 10

/** A batch of only new beneficiaries, or only first payments, is not unusual: the fact becomes `info`. Others keep their level. */
export const levelOf = (type: FactType, count: number, total: number): FactLevel =>
  (type === 'new_payee' || type === 'first_payment') && total > 1 && count >= total ? 'info' : levels[type]

type Line = Pick<FactLine, 'payeeName' | 'amountMinor'>

const item = ({ payeeName, amountMinor }: Line, index: number | null, about?: FactDetails): FactItem =>
  factItem({ beneficiary: payeeName, amount_minor: formatMinor(amountMinor) }, index, about)

/** Omits name mismatches: facts about names come from the name check, with or without a policy (`factOfVerification`). */
const factsOfWarnings = (warnings: readonly WireWarning[]): FoundFact[] =>
  warnings.filter(({ code }) => code !== 'name_mismatch').map(factOfWarning)

/** The facts from name checks, by beneficiary, because a batch may pay one several times. */
export const nameFacts = (lines: readonly NamedLine[]): Fact[] => {
  const payees = [...Map.groupBy(lines, ({ beneficiaryId }) => beneficiaryId).values()]
  const byType = Map.groupBy(payees, (own) => factOfVerification[own[0]?.verification ?? 'unverified'])
  return [...byType].map(([type, group]) => {
    const listed = levels[type] === 'info' ? [] : group.slice(0, maxItems)
    const items = listed.flatMap((own) => {
      const [first] = own
      return first ? [item({ ...first, amountMinor: sumOf(own) }, null, { name: first.reportedName })] : []
    })
    return { type, level: levels[type], count: group.length, items }
  })
}

export const isFarFromLast = ({ amountMinor, lastAmountMinor }: Pick<FactLine, 'amountMinor' | 'lastAmountMinor'>): boolean =>
  lastAmountMinor !== null && (amountMinor > lastAmountMinor * 2n || amountMinor * 2n < lastAmountMinor)

const givenName = ({ payeeName, warnings }: FactLine): string =>
  warnings.flatMap((warning) => (warning.code === 'name_differs' ? [warning.given_name] : []))[0] ?? payeeName

/** Names given for each destination. If there are several, a name or the destination may belong to another person. */
const namesByNumber = (lines: readonly FactLine[]): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map([...Map.groupBy(lines, ({ payeeId }) => payeeId)].map(([payeeId, own]) => [payeeId, new Set(own.map(givenName))]))

/** The facts of each line, without the result of its name check. */
const rowsOf = (lines: readonly FactLine[]): { type: FactType; item: FactItem }[][] => {
  const isBatch = lines.length > 1
  const names = namesByNumber(lines)
  return lines.map((line, index) => {
    const given = givenName(line)
    const other = [...(names.get(line.payeeId) ?? [])].find((name) => name !== given)
    const all: FoundFact[] = [
      ...factsOfWarnings(line.warnings),
      ...(other === undefined ? [] : [{ type: 'shared_number' as const, name: other }]),
      ...(isBatch && isFarFromLast(line)
        ? [{ type: 'far_from_last' as const, other_amount_minor: formatMinor(line.lastAmountMinor ?? 0n) }]
        : []),
      ...(line.isFirst ? [{ type: 'first_payment' as const }] : []),
    ]
    return all.map(({ type, ...about }) => ({ type, item: item(line, isBatch ? index : null, about) }))
  })
}

/** The facts of all payments that are decided together: one payment, or a whole batch. */
export const factsOf = (lines: readonly FactLine[]): Fact[] => {
  const facts = [...Map.groupBy(rowsOf(lines).flat(), ({ type }) => type)].map(([type, group]): Fact => {
    const level = levelOf(type, group.length, lines.length)
    return { type, level, count: group.length, items: level === 'info' ? [] : group.slice(0, maxItems).map((row) => row.item) }
  })
  return inOrder([...facts, ...nameFacts(lines)])
}

/** The dangerous or unusual facts of each line of a batch. Levels depend on the whole batch. */
export const factsOfLines = (lines: readonly FactLine[]): Fact[][] => {
  const rows = rowsOf(lines)
  const counts = Map.groupBy(rows.flat(), ({ type }) => type)
  return rows.map((row, index) => {
    const own = row.map(({ type, item: one }): Fact => {
      const level = levelOf(type, counts.get(type)?.length ?? 0, lines.length)
      return { type, level, count: 1, items: [one] }
    })
    return inOrder([...own, ...nameFacts(lines.slice(index, index + 1))]).filter(isHeadline)
  })
}

/** Replaces the stored facts about names, because a rail may have reported a name since. */
export const withNames = (facts: readonly Fact[], names: readonly Fact[]): Fact[] => {
  const replaced = new Set<FactType>(Object.values(factOfVerification))
  return inOrder([...facts.filter(({ type }) => !replaced.has(type)), ...names])
}

export const lostFact = (count: number): Fact => ({ type: 'may_have_been_sent', level: 'danger', count, items: [] })
