import { useState } from 'react'
import { capitalized, countWords } from '../../lib/list-words.ts'
import type { PaymentList, RowFault } from '../../lib/payment-list.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/layout.tsx'

type Props = {
  list: PaymentList
  faults: readonly RowFault[]
  onCell: (row: number, column: number, text: string) => void
  onRemove: (row: number) => void
}

const shownAtFirst = 100

/** The fields of a payment as people call them. */
const fieldNames: Readonly<Record<string, string>> = {
  display_name: 'Name',
  destination: 'Phone or account',
  amount_minor: 'Amount',
  purpose_code: 'Purpose code',
  account_reference: 'Reference',
  beneficiary_id: 'Beneficiary',
  payment_rail: 'Way to pay',
}

const fieldName = (param: string): string => fieldNames[param] ?? capitalized(param.replaceAll('_', ' '))

/** The rows that cannot be paid first, to be mended in place; the others as they are. */
export const ListRows = ({ list, faults, onCell, onRemove }: Props) => {
  const [all, setAll] = useState(false)
  const [edited, setEdited] = useState<ReadonlySet<number>>(new Set())
  const wrong = new Map(faults.map(({ index }) => [index, faults.filter((fault) => fault.index === index)]))
  const places = list.rows.map((_, index) => index).sort((one, other) => Number(wrong.has(other)) - Number(wrong.has(one)))
  const shown = all ? places : places.slice(0, Math.max(shownAtFirst, wrong.size))
  const width = Math.max(list.columns.length, ...list.rows.map(({ cells }) => cells.length))
  // A column without a title has a name here, so that its cells can be looked at and moved.
  const columns = Array.from({ length: width }, (_, place) => ({ place, title: list.columns[place] || `Column ${place + 1}` }))
  return (
    <Card title={countWords(list.rows.length, 'row')} flush>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Row</th>
              {columns.map(({ place, title }) => (
                <th scope="col" key={place}>
                  {title}
                </th>
              ))}
              <th scope="col">
                <span className="visually-hidden">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row
                key={row}
                row={row}
                list={list}
                columns={columns}
                faults={wrong.get(row) ?? []}
                editing={wrong.has(row) || edited.has(row)}
                onEdit={() => setEdited(new Set([...edited, row]))}
                onCell={onCell}
                onRemove={onRemove}
              />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < places.length && (
        <div className="card-footer">
          <Button variant="quiet" onClick={() => setAll(true)}>
            {`Show all ${places.length} rows`}
          </Button>
        </div>
      )}
    </Card>
  )
}

type RowProps = Omit<Props, 'faults'> & {
  row: number
  columns: readonly { place: number; title: string }[]
  faults: readonly RowFault[]
  editing: boolean
  onEdit: () => void
}

const Row = ({ row, list, columns, faults, editing, onEdit, onCell, onRemove }: RowProps) => {
  const { number = 0, cells = [] } = list.rows[row] ?? {}
  return (
    <>
      <tr>
        <td className="faint">{number}</td>
        {columns.map(({ place, title }) => (
          <td key={place}>
            {editing ? (
              <input
                className="input"
                aria-label={`Row ${number}, ${title}`}
                aria-describedby={faults.length > 0 ? `row-${row}-faults` : undefined}
                value={cells[place] ?? ''}
                onChange={(event) => onCell(row, place, event.target.value)}
              />
            ) : (
              cells[place]
            )}
          </td>
        ))}
        <td className="nowrap">
          {!editing && (
            <Button size="small" variant="quiet" label={`Edit row ${number}`} onClick={onEdit}>
              Edit
            </Button>
          )}
          {editing && (
            <Button size="small" variant="quiet" label={`Remove row ${number}`} onClick={() => onRemove(row)}>
              Remove
            </Button>
          )}
        </td>
      </tr>
      {faults.length > 0 && (
        <tr>
          <td />
          <td colSpan={columns.length + 1} id={`row-${row}-faults`}>
            {faults.map(({ param, message }) => (
              <p key={`${param} ${message}`} className="field-error">
                {param === null ? message : `${fieldName(param)}: ${message}`}
              </p>
            ))}
          </td>
        </tr>
      )}
    </>
  )
}
