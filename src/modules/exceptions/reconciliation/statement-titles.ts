import type { TableRow as Row } from '../../../lib/table-rows.ts'
import { type BankColumn, bankColumnNames, bankColumns, bankTitleKey } from '../../../rails/bank-columns.ts'
import type { StatementForm } from '../../../rails/definition.ts'

export type Column = Exclude<keyof StatementForm['columns'], 'texts'>

/** The index of the cell for each column of a statement. */
export type Layout = {
  places: Readonly<Partial<Record<Column | 'amount' | 'direction', number>>>
  texts: readonly number[]
  /** Whether the columns were found by the meaning of their titles. The lines then have no receipt of ours. */
  isBank: boolean
}

export type OwnTitles = { readonly [column in BankColumn]?: readonly string[] | undefined }

const plain = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, ' ')

/** Finds the columns of a provider's own export by the provider's names. */
export const findForm = ({ columns }: StatementForm, { cells }: Row): Layout | undefined => {
  const header = cells.map(plain)
  const at = (names: readonly string[]) => header.findIndex((name) => names.includes(name))
  const { texts, ...named } = columns
  const places = Object.fromEntries(Object.entries(named).map(([column, names]) => [column, at(names)]))
  if (['receipt', 'time', 'in', 'out'].some((column) => places[column] === -1)) return undefined
  return { places, texts: texts.map((name) => header.indexOf(name)), isBank: false }
}

type Found = Readonly<Partial<Record<BankColumn, readonly number[]>>>

type Meaning = { column: BankColumn; rank: number }

const meaningsOf = (titles: OwnTitles): ReadonlyMap<string, Meaning> =>
  new Map(
    bankColumnNames.flatMap((column) =>
      (titles[column] ?? []).map((title, rank): [string, Meaning] => [bankTitleKey(title), { column, rank }]),
    ),
  )

const builtInMeanings = meaningsOf(bankColumns)

/** If two titles have the same meaning, the first in our list wins, because "DR/CR" is more specific than "Type". */
const meaningsIn = ({ cells }: Row, own: OwnTitles): Found => {
  const ownMeanings = meaningsOf(own)
  const recognised = cells.flatMap((cell, index) => {
    const meaning = ownMeanings.get(bankTitleKey(cell)) ?? builtInMeanings.get(bankTitleKey(cell))
    const isOther = meaning && own[meaning.column] && !ownMeanings.has(bankTitleKey(cell))
    return meaning && !isOther ? [{ ...meaning, index }] : []
  })
  const ranked = Map.groupBy(
    recognised.toSorted((one, other) => one.rank - other.rank),
    ({ column }) => column,
  )
  return Object.fromEntries([...ranked].map(([column, places]) => [column, places.map(({ index }) => index)]))
}

const missingIn = ({ date, value_date, description, reference, debit, credit, amount }: Found): string[] => [
  ...((date ?? value_date) ? [] : ['date']),
  ...((description ?? reference) ? [] : ['description']),
  ...(amount || (debit && credit) ? [] : !debit && !credit ? ['debit and credit, or amount'] : [debit ? 'credit' : 'debit']),
]

/** Finds the columns of a bank's statement by the meaning of its titles. */
export const findBank = (row: Row, own: OwnTitles): Layout | undefined => {
  const found = meaningsIn(row, own)
  if (missingIn(found).length > 0) return undefined
  const { date, value_date, description = [], reference = [], debit, credit, amount, direction, status } = found
  const sides = debit && credit ? { in: credit[0], out: debit[0] } : { amount: amount?.[0], direction: direction?.[0] }
  const places = { time: (date ?? value_date)?.[0], details: description[0], status: status?.[0], ...sides }
  return {
    places: Object.fromEntries(Object.entries(places).flatMap(([name, place]) => (place === undefined ? [] : [[name, place]]))),
    texts: [...description, ...reference],
    isBank: true,
  }
}

/** Maximum number of rows to search for the header, which is above its columns. */
export const rowsLookedAt = 60
const titlesShown = 16

/** Describes the row that is most like a header, and the titles that it lacks. */
export const titlesProblem = (rows: readonly Row[], own: OwnTitles, known: string): string => {
  const looked = rows.slice(0, rowsLookedAt).map((row) => ({ row, found: meaningsIn(row, own) }))
  const score = ({ found, row }: (typeof looked)[number]) =>
    Object.keys(found).length * 100 + Math.min(row.cells.filter((cell) => cell !== '').length, 99)
  const best = looked.toSorted((one, other) => score(other) - score(one))[0]
  const titles = (best?.row.cells ?? []).filter((cell) => cell.trim() !== '').slice(0, titlesShown)
  const shown = titles.map((title) => `"${title.slice(0, 40)}"`).join(', ')
  const missing = best ? missingIn(best.found) : []
  return `it has no row with the column names of a statement from ${known}, or of a bank. Nearest is line ${best?.row.number ?? 1} with the titles ${shown || 'of nothing'}, which lack: ${missing.join('; ')}. Where a bank calls them otherwise, the setting STATEMENT_COLUMNS says what it calls them`
}
