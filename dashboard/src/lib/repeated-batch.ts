import { faultsIn, type RowFault } from '../../../client/src/list-faults.ts'
import { withoutIsolation } from '../api/isolate.ts'
import type { Schemas } from '../api/queries.ts'
import { type BatchSheet, ignoredMeaning, parseLikeService, type SheetRow, sheetToCsv } from './batch-sheet.ts'
import { tBatch } from './batch-texts.ts'
import { t } from './language.ts'
import { editableMajor } from './words.ts'

type Payment = Schemas['Payment']
type Details = Readonly<Record<string, unknown>>

const repeatedColumns: readonly [title: string, meaning: string, of: (payment: Payment) => string | null][] = [
  [tBatch('name'), ignoredMeaning, ({ beneficiary }) => beneficiary.display_name],
  [t('beneficiary'), 'beneficiary_id', ({ beneficiary_id: id }) => id],
  [t('amount'), 'amount', ({ amount_minor: minor }) => editableMajor(minor)],
  [tBatch('reference'), 'account_reference', ({ account_reference: reference }) => reference],
  [tBatch('narrative'), 'narrative', ({ narrative }) => narrative],
  [t('purpose_code'), 'purpose_code', ({ purpose_code: code }) => code],
]

/** An earlier batch as an editable list. Each row pays the same beneficiary as before. */
export const repeatedSheet = ({ id, name }: Schemas['PaymentBatch'], read: readonly Payment[]): BatchSheet => {
  const payments = read.toSorted((one, other) => (one.batch_index ?? 0) - (other.batch_index ?? 0))
  const ownFields = [...new Set(payments.flatMap(({ metadata }) => Object.keys(metadata)))]
  const columns = [
    ...repeatedColumns,
    ...ownFields.map(
      (name) => [name, `metadata.${name}`, ({ metadata }) => metadata[name] ?? null] as (typeof repeatedColumns)[number],
    ),
  ].filter(([, meaning, of]) => meaning === 'narrative' || payments.some(of))
  const rows = payments.map((payment) => ({
    number: (payment.batch_index ?? 0) + 1,
    cells: columns.map(([, , of]) => of(payment) ?? ''),
  }))
  return withoutIsolation({
    ...{ name: name ?? '', titlesAt: 0, repeats: { id, rows }, rows },
    columns: columns.map(([title, meaning]) => ({ title, meaning })),
  })
}

const changeable = ['amount_minor', 'account_reference', 'narrative', 'purpose_code', 'metadata'] as const

type Change = { batchIndex: number; before: SheetRow; after: SheetRow | undefined }

/** Rows that differ from the earlier batch. `after` is undefined for a removed row. */
const diffRows = (before: readonly SheetRow[], after: readonly SheetRow[]): Change[] => {
  const kept = new Map(after.map((row) => [row.number, row]))
  return before
    .map((row) => ({ batchIndex: row.number - 1, before: row, after: kept.get(row.number) }))
    .filter((change) => change.before.cells.some((text, column) => change.after?.cells[column] !== text))
}

/** Reads rows as if they came from a file whose first row has the titles. */
const readRows = (list: BatchSheet, rows: readonly SheetRow[], currency: string) =>
  parseLikeService({ ...list, titlesAt: 1, rows: rows.map(({ cells }, index) => ({ number: index + 2, cells })) }, currency)

/** An empty cell clears its field. */
const changedFields = (before: Details, after: Details) => {
  const changed = changeable.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? (name === 'metadata' ? {} : null)]))
}

const faultOf = ({ batchIndex: index }: Change, param: string | undefined, message: string) => ({
  index,
  row: index + 1,
  param,
  message,
})

/** Items of the request, and faults of cells that cannot be read. */
const changesToItems = async (list: BatchSheet, changes: readonly Change[], currency: string) => {
  const kept = changes.filter(({ after }) => after)
  const [before, after] = await Promise.all([
    readRows(
      list,
      changes.map((change) => change.before),
      currency,
    ),
    readRows(
      list,
      kept.flatMap((change) => change.after ?? []),
      currency,
    ),
  ])
  const items = changes.map((change, index) => {
    const { batchIndex: batch_index } = change
    const item = after.items[kept.indexOf(change)]
    return item ? { batch_index, ...changedFields(before.items[index] ?? {}, item) } : { batch_index, omit: true }
  })
  const required = { path: 'amount', message: 'is required' }
  const faults = kept.flatMap((change, index) => {
    const found = after.faults.get(index) ?? (after.items[index]?.amount_minor === undefined ? [required] : [])
    return found.map(({ path, message }) => faultOf(change, path, message))
  })
  return { items, faults }
}

/** Faults from the fields that an error names, such as `items.0.amount_minor`. */
const mapFieldErrors = (fields: readonly { path: string; message: string }[], changes: readonly Change[]) =>
  fields.flatMap(({ path, message }) => {
    const [, index, param] = /^items\.(\d+)\.(.+)$/.exec(path) ?? []
    const change = changes[Number(index)]
    return change?.after ? [faultOf(change, param, message)] : []
  })

/**
 * The request body of a batch, its unreadable cells, and a function that finds the rows named by an error. The body that pays
 * an earlier batch again has only the changes. If row 2 of three rows is removed and row 3 gets another amount, it is
 * `{ again: 'pba_…', items: [{ batch_index: 1, omit: true }, { batch_index: 2, amount_minor: '5000' }] }`.
 */
export const batchRequestOf = async (list: BatchSheet, currency: string) => {
  const faultsOf = (details: Details): RowFault[] => faultsIn(details, (index) => list.rows[Number(index)]?.number)
  if (!list.repeats) return { body: sheetToCsv(list), faults: [], faultsOf }
  const changes = diffRows(list.repeats.rows, list.rows)
  const { items, faults } = await changesToItems(list, changes, currency)
  return {
    body: { again: list.repeats.id, ...(items.length > 0 && { items }) },
    faults: faultsOf({ items: faults }),
    faultsOf: (details: Details) =>
      faultsOf(!details.items && Array.isArray(details.fields) ? { items: mapFieldErrors(details.fields, changes) } : details),
  }
}
