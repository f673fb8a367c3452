import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RowFault } from '../../../../client/src/list-faults.ts'
import { columnOfTitle, labelOfColumn, listColumns } from '../../../../src/lib/list-columns.ts'
import {
  fieldName,
  type ListColumn,
  type ListRow,
  leftOut,
  listProblem,
  type PaymentList,
  understood,
  withMeaning,
} from '../../lib/payment-list.ts'
import { countWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Table } from '../../ui/listing.tsx'
import { Card, Notice } from '../../ui/page.tsx'

type Item = Awaited<ReturnType<typeof understood>>[number]
type Props = { list: PaymentList; onChange: (list: PaymentList) => void }

const rowsShown = 3

const noteOf = (title: string): string => `metadata.${title}`

const optionsOf = ({ title, meaning }: ListColumn) => [
  ...(meaning === null ? [{ value: '', label: 'Choose…' }] : []),
  ...listColumns.map((value) => ({ value, label: labelOfColumn(value) })),
  ...(meaning?.startsWith('metadata.') ? [{ value: meaning, label: `A note: ${meaning.slice('metadata.'.length)}` }] : []),
  ...(title !== '' && meaning !== noteOf(title) && columnOfTitle(title) !== title && columnOfTitle(noteOf(title)) !== null
    ? [{ value: noteOf(title), label: 'A note of yours' }]
    : []),
  { value: leftOut, label: 'Leave out' },
]

/** As the service reads it, which is not always what the cell says: a zero that was lost is there again. */
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

/** What each column of the file is, with the first rows as they were understood. */
export const ListColumns = ({ list, onChange }: Props) => {
  const currency = useSession().account.balance.currency
  const { columns, rows } = list
  const first = { ...list, rows: rows.slice(0, rowsShown) }
  const read = useQuery({
    queryKey: ['list as understood', JSON.stringify(first)],
    queryFn: () => understood(first, currency),
    placeholderData: keepPreviousData,
  })
  const problem = listProblem(list)
  const unknown = columns.filter(({ meaning }) => meaning === null).length
  return (
    <Card title="Columns" note="What each column of your file is. It is remembered for the next file." flush>
      <Table headings={['In your file', 'Is', ...first.rows.map(({ number }) => `Row ${number}`)]} label="Columns">
        {columns.map((column, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
          <tr key={place}>
            <td>
              <bdi>{column.title || `Column ${place + 1}`}</bdi>
            </td>
            <td>
              <select
                className="input"
                aria-label={`What “${column.title || `Column ${place + 1}`}” is`}
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
                {`Leave out all ${unknown} that are not known`}
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

/** The rows that cannot be paid first, to be mended in place; the others as they are. */
export const ListRows = ({ list, faults, onCell, onRemove }: RowsProps) => {
  const [all, setAll] = useState(false)
  const [edited, setEdited] = useState<ReadonlySet<number>>(new Set())
  const wrong = Map.groupBy(faults, ({ row }) => row)
  const places = list.rows.toSorted((one, other) => Number(wrong.has(other.number)) - Number(wrong.has(one.number)))
  const shown = all ? places : places.slice(0, Math.max(shownAtFirst, wrong.size))
  const width = Math.max(list.columns.length, ...list.rows.map(({ cells }) => cells.length))
  // A column without a title has a name here, so that its cells can be looked at and moved.
  const columns = Array.from({ length: width }, (_, place) => ({
    place,
    title: list.columns[place]?.title || `Column ${place + 1}`,
  }))
  return (
    <Card title={countWords(list.rows.length, 'row')} flush>
      <Table headings={['Row', ...columns.map(({ title }) => title), { hidden: 'Change' }]}>
        {shown.map((row) => (
          <Row
            key={row.number}
            row={row}
            columns={columns}
            faults={(wrong.get(row.number) ?? []).map(({ param, message }) =>
              param === null || param === 'row' ? message : `${fieldName(list, param)}: ${message}`,
            )}
            editing={wrong.has(row.number) || edited.has(row.number)}
            onEdit={() => setEdited(new Set([...edited, row.number]))}
            {...{ onCell, onRemove }}
          />
        ))}
      </Table>
      {shown.length < places.length && (
        <div className="row row-end card-footer">
          <Button variant="quiet" onClick={() => setAll(true)}>
            {`Show all ${places.length} rows`}
          </Button>
        </div>
      )}
    </Card>
  )
}

type RowProps = Pick<RowsProps, 'onCell' | 'onRemove'> & {
  row: ListRow
  columns: readonly { place: number; title: string }[]
  faults: readonly string[]
  editing: boolean
  onEdit: () => void
}

const Row = ({ row: { number, cells }, columns, faults, editing, onEdit, onCell, onRemove }: RowProps) => (
  <>
    <tr>
      <td className="faint">{number}</td>
      {columns.map(({ place, title }) => (
        <td key={place}>
          {editing ? (
            <input
              className="input"
              aria-label={`Row ${number}, ${title}`}
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
          label={`${editing ? 'Remove' : 'Edit'} row ${number}`}
          onClick={editing ? () => onRemove(number) : onEdit}
        >
          {editing ? 'Remove' : 'Edit'}
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
