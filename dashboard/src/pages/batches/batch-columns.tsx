import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RowFault } from '../../../../client/src/list-faults.ts'
import { columnOfTitle, listColumns } from '../../../../src/lib/list-columns.ts'
import { tList } from '../../lib/list-texts.ts'
import {
  asRead,
  columnWords,
  fieldName,
  isEditable,
  isShown,
  type ListColumn,
  type ListRow,
  leftOut,
  listProblem,
  type PaymentList,
  withMeaning,
} from '../../lib/payment-list.ts'
import { moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Table } from '../../ui/listing.tsx'
import { Card, Notice } from '../../ui/page.tsx'

type Item = Awaited<ReturnType<typeof asRead>>['items'][number]
const rowsShown = 3

const noteOf = (title: string): string => `metadata.${title}`

const optionsOf = ({ title, meaning }: ListColumn) => [
  ...(meaning === null ? [{ value: '', label: tList('choose') }] : []),
  ...listColumns.map((value) => ({ value, label: columnWords(value) })),
  ...(meaning?.startsWith('metadata.')
    ? [{ value: meaning, label: tList('note', { slice: meaning.slice('metadata.'.length) }) }]
    : []),
  ...(title !== '' && meaning !== noteOf(title) && columnOfTitle(title) !== title && columnOfTitle(noteOf(title)) !== null
    ? [{ value: noteOf(title), label: tList('own_note') }]
    : []),
  { value: leftOut, label: tList('leave_out') },
]

/** The value as the service reads it, which may differ from the cell: a lost leading zero is restored. */
const shownOf = (item: Item, meaning: string | null, currency: string): string => {
  const { amount_minor: minor, metadata } = item
  const isAmount = meaning === 'amount' || meaning === 'amount_minor'
  if (isAmount) return typeof minor === 'string' && /^\d{1,18}$/.test(minor) ? moneyText(minor, currency) : '?'
  const notes = Object.entries((metadata ?? {}) as Record<string, unknown>)
  const value = meaning?.startsWith('metadata.')
    ? notes.find(([name]) => `metadata.${name}` === meaning)?.[1]
    : Object.entries(item).find(([name]) => name === meaning)?.[1]
  return typeof value === 'string' ? value : ''
}

/** Meaning of each column, with the first rows as understood. */
export const ListColumns = ({ list, onChange }: { list: PaymentList; onChange: (list: PaymentList) => void }) => {
  const currency = useSession().account.balance.currency
  const { columns, rows } = list
  const first = { ...list, rows: rows.slice(0, rowsShown) }
  const read = useQuery({
    queryKey: ['list as understood', JSON.stringify(first)],
    queryFn: async () => (await asRead(first, currency)).items,
    placeholderData: keepPreviousData,
  })
  const problem = listProblem(list)
  const unknown = columns.filter(({ meaning }) => meaning === null).length
  return (
    <Card title={tList('columns')} note={tList('columns.note')} flush>
      <Table
        headings={[tList('in_file'), tList('is'), ...first.rows.map(({ number }) => tList('row', { number }))]}
        label={tList('columns')}
      >
        {columns.map((column, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
          <tr key={place}>
            <td>
              <bdi>{column.title || tList('column', { place: place + 1 })}</bdi>
            </td>
            <td>
              <select
                className="input"
                aria-label={tList('what_is', { title: column.title || tList('column', { place: place + 1 }) })}
                value={column.meaning ?? ''}
                onChange={({ target }) => onChange(withMeaning(list, place, target.value))}
              >
                {optionsOf(column).map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </td>
            {first.rows.map(({ number, cells }, row) => (
              <td key={number} className={column.meaning === leftOut ? 'faint' : undefined}>
                <bdi>
                  {column.meaning === null || column.meaning === leftOut
                    ? cells[place]
                    : shownOf(read.data?.[row] ?? {}, column.meaning, currency)}
                </bdi>
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {problem !== null && (
        <div className="card-body">
          <Notice tone="warn" title={problem} live>
            {unknown > 1 && (
              <Button
                size="small"
                onClick={() =>
                  onChange({ ...list, columns: columns.map((each) => ({ ...each, meaning: each.meaning ?? leftOut })) })
                }
              >
                {tList('leave_unknown', { unknown })}
              </Button>
            )}
          </Notice>
        </div>
      )}
    </Card>
  )
}

type RowsProps = {
  list: PaymentList
  faults: readonly RowFault[]
  onCell: (row: number, column: number, text: string) => void
  onRemove: (row: number) => void
}

const shownAtFirst = 100

/** Rows with faults first, to correct in place; then the others. */
export const ListRows = ({ list, faults, onCell, onRemove }: RowsProps) => {
  const [all, setAll] = useState(false)
  const [edited, setEdited] = useState<ReadonlySet<number>>(new Set())
  const wrong = Map.groupBy(faults, ({ row }) => row)
  const places = list.rows.toSorted((one, other) => Number(wrong.has(other.number)) - Number(wrong.has(one.number)))
  const shown = all ? places : places.slice(0, Math.max(shownAtFirst, wrong.size))
  const width = Math.max(list.columns.length, ...list.rows.map(({ cells }) => cells.length))
  // Names columns without a title, so a person can look at their cells and move them.
  const columns = Array.from({ length: width }, (_, place) => ({
    place,
    title: list.columns[place]?.title || tList('column', { place: place + 1 }),
    meaning: list.columns[place]?.meaning ?? null,
  })).filter((column) => isShown(list, column))
  return (
    <Card title={tList('rows', { count: list.rows.length })} flush>
      <Table headings={[tList('row_head'), ...columns.map(({ title }) => title), { hidden: tList('change') }]} folded="cells">
        {shown.map((row) => (
          <Row
            key={row.number}
            row={row}
            columns={columns}
            faults={(wrong.get(row.number) ?? []).map(({ param, message }) =>
              param === null || param === 'row' ? message : `${fieldName(list, param)}: ${message}`,
            )}
            fixed={(column) => !isEditable(list, column)}
            editing={wrong.has(row.number) || edited.has(row.number)}
            onEdit={() => setEdited(new Set([...edited, row.number]))}
            {...{ onCell, onRemove }}
          />
        ))}
      </Table>
      {shown.length < places.length && (
        <div className="row row-end card-footer">
          <Button variant="quiet" onClick={() => setAll(true)}>
            {tList('show_rows', { length: places.length })}
          </Button>
        </div>
      )}
    </Card>
  )
}

type RowProps = Pick<RowsProps, 'onCell' | 'onRemove'> & {
  row: ListRow
  columns: readonly (ListColumn & { place: number })[]
  fixed: (column: ListColumn) => boolean
  faults: readonly string[]
  editing: boolean
  onEdit: () => void
}

const Row = ({ row: { number, cells }, columns, fixed, faults, editing, onEdit, onCell, onRemove }: RowProps) => (
  <>
    <tr>
      <td className="faint">{number}</td>
      {columns.map(({ place, title, meaning }) => (
        <td key={place} data-title={title}>
          {editing && !fixed({ title, meaning }) ? (
            <input
              className="input"
              aria-label={tList('row_of', { number, title })}
              aria-describedby={faults.length > 0 ? `row-${number}-faults` : undefined}
              value={cells[place] ?? ''}
              onChange={(event) => onCell(number, place, event.target.value)}
            />
          ) : (
            cells[place]
          )}
        </td>
      ))}
      <td className="nowrap">
        <Button
          size="small"
          variant="quiet"
          label={tList('act_row', { what: editing ? tList('remove') : tList('edit'), number })}
          onClick={editing ? () => onRemove(number) : onEdit}
        >
          {editing ? tList('remove') : tList('edit')}
        </Button>
      </td>
    </tr>
    {faults.length > 0 && (
      <tr>
        <td />
        <td colSpan={columns.length + 1} id={`row-${number}-faults`}>
          {faults.map((fault) => (
            <p key={fault} className="field-error">
              {fault}
            </p>
          ))}
        </td>
      </tr>
    )}
  </>
)
