import { faultsIn, type RowFault } from '../../../client/src/list-faults.ts'
import { withoutIsolation } from '../api/isolate.ts'
import type { Schemas } from '../api/queries.ts'
import { t } from './language.ts'
import { tList } from './list-texts.ts'
import { asRead, type ListRow, leftOut, type PaymentList, writeList } from './payment-list.ts'
import { editableMajor } from './words.ts'

type Payment = Schemas['Payment']

const repeatedColumns: readonly [title: string, meaning: string, of: (payment: Payment) => string | null][] = [
  [tList('name'), leftOut, ({ beneficiary }) => beneficiary.display_name],
  [t('beneficiary'), 'beneficiary_id', ({ beneficiary_id: id }) => id],
  [t('amount'), 'amount', ({ amount_minor: minor }) => editableMajor(minor)],
  [tList('reference'), 'account_reference', ({ account_reference: reference }) => reference],
  [tList('narrative'), 'narrative', ({ narrative }) => narrative],
  [t('purpose_code'), 'purpose_code', ({ purpose_code: code }) => code],
]

/** Rows of an earlier batch, each to the same beneficiary. */
export const repeatedList = ({ id, name }: Schemas['PaymentBatch'], read: readonly Payment[]): PaymentList => {
  const payments = read.toSorted((one, other) => (one.batch_index ?? 0) - (other.batch_index ?? 0))
  const notes = [...new Set(payments.flatMap(({ metadata }) => Object.keys(metadata)))]
  const columns = [
    ...repeatedColumns,
    ...notes.map(
      (note) => [note, `metadata.${note}`, ({ metadata }) => metadata[note] ?? null] as (typeof repeatedColumns)[number],
    ),
  ].filter(([, meaning, of]) => meaning === 'narrative' || payments.some(of))
  const rows = payments.map((payment, place) => ({
    number: place + 1,
    cells: columns.map(([, , of]) => of(payment) ?? ''),
  }))
  return withoutIsolation({
    ...{ name: name ?? '', titlesAt: 0, repeats: { id, rows }, rows },
    columns: columns.map(([title, meaning]) => ({ title, meaning })),
  })
}

const changeable = ['amount_minor', 'account_reference', 'narrative', 'purpose_code', 'metadata'] as const

/** Changes to an item of the earlier batch. `now` undefined: left out. An empty cell clears its field. */
const changeOf = (
  index: number,
  before: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>> | undefined,
) => {
  if (!now) return { batch_index: index, omit: true }
  const other = changeable.filter((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]))
  const cleared = (name: string) => (name === 'metadata' ? {} : null)
  return { batch_index: index, ...Object.fromEntries(other.map((name) => [name, now[name] ?? cleared(name)])) }
}

/** Adds one to row numbers: a file has its titles above the rows, the earlier batch does not. */
const belowTitles = (list: PaymentList, rows: readonly ListRow[]): PaymentList => ({
  ...{ ...list, titlesAt: 1 },
  rows: rows.map(({ number, cells }) => ({ number: number + 1, cells })),
})

/** The request body of a batch, its unreadable cells, and a function for the rows that a refusal names. */
export const sentList = async (list: PaymentList, currency: string) => {
  const rowOf = (index: unknown) => list.rows[Number(index)]?.number
  const named = (details: Readonly<Record<string, unknown>>): RowFault[] => faultsIn(details, rowOf)
  if (!list.repeats) return { body: writeList(list), faults: [], faultsOf: named }
  const { id, rows } = list.repeats
  const kept = new Map(list.rows.map((row, index) => [row.number, { index, row }]))
  const isOther = ({ number, cells }: ListRow) => cells.some((text, place) => kept.get(number)?.row.cells[place] !== text)
  const differing = rows.filter(isOther)
  const changed = differing.flatMap(({ number }) => kept.get(number) ?? [])
  const [before, now] = await Promise.all([
    asRead(belowTitles(list, differing), currency),
    asRead(
      belowTitles(
        list,
        changed.map(({ row }) => row),
      ),
      currency,
    ),
  ])
  const current = new Map(changed.map(({ row }, place) => [row.number, now.items[place]]))
  const items = differing.map(({ number }, place) => changeOf(number - 1, before.items[place] ?? {}, current.get(number)))
  const faults = changed.flatMap(({ index }, place) => {
    const own =
      now.faults.get(place) ?? (now.items[place]?.amount_minor === undefined ? [{ path: 'amount', message: 'is required' }] : [])
    return own.map(({ path, message }) => ({ index, param: path, message }))
  })
  const ofField = ({ path, message }: { path: string; message: string }) => {
    const [, place, param] = /^items\.(\d+)\.(.+)$/.exec(path) ?? []
    const number = differing[Number(place)]?.number
    return number === undefined ? [] : [{ index: kept.get(number)?.index, param, message }]
  }
  return {
    body: { again: id, ...(items.length > 0 && { items }) },
    faults: named({ items: faults }),
    faultsOf: (details: Readonly<Record<string, unknown>>) =>
      named(Array.isArray(details.fields) ? { items: details.fields.flatMap(ofField) } : details),
  }
}
