import { useState } from 'react'
import type { RowFault } from '../../../../client/src/list-faults.ts'
import { fieldName, type ListRow, type PaymentList } from '../../lib/payment-list.ts'
import { countWords } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { Table } from '../../ui/listing.tsx'
import { Card } from '../../ui/page.tsx'

type Props = {
  list: PaymentList
  faults: readonly RowFault[]
  /** A row is named by its number in the file. */
  onCell: (row: number, column: number, text: string) => void
  onRemove: (row: number) => void
}

const shownAtFirst = 100

/** The rows that cannot be paid first, to be mended in place; the others as they are. */
export const ListRows = ({ list, faults, onCell, onRemove }: Props) => {
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

type RowProps = Pick<Props, 'onCell' | 'onRemove'> & {
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
