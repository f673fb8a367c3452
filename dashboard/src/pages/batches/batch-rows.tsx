import { useState } from 'react'
import type { RowFault } from '../../../../client/src/list-faults.ts'
import { type BatchSheet, fieldName, isEditable, isShown, type SheetColumn, type SheetRow } from '../../lib/batch-sheet.ts'
import { tBatch } from '../../lib/batch-texts.ts'
import { Button } from '../../ui/button.tsx'
import { Table } from '../../ui/listing.tsx'
import { Card } from '../../ui/page.tsx'

type RowsProps = {
  list: BatchSheet
  faults: readonly RowFault[]
  onCell: (row: number, column: number, text: string) => void
  onRemove: (row: number) => void
}

const shownAtFirst = 100

/** Editable rows: first the ones with faults, to be corrected in place, then the others. */
export const BatchRows = ({ list, faults, onCell, onRemove }: RowsProps) => {
  const [all, setAll] = useState(false)
  const [edited, setEdited] = useState<ReadonlySet<number>>(new Set())
  const wrong = Map.groupBy(faults, ({ row }) => row)
  const sortedRows = list.rows.toSorted((one, other) => Number(wrong.has(other.number)) - Number(wrong.has(one.number)))
  const shown = all ? sortedRows : sortedRows.slice(0, Math.max(shownAtFirst, wrong.size))
  const width = Math.max(list.columns.length, ...list.rows.map(({ cells }) => cells.length))
  // Names columns without a title, so that a person can look at their cells and move them.
  const columns = Array.from({ length: width }, (_, index) => ({
    index,
    title: list.columns[index]?.title || tBatch('column', { place: index + 1 }),
    meaning: list.columns[index]?.meaning ?? null,
  })).filter((column) => isShown(list, column))
  return (
    <Card title={tBatch('rows', { count: list.rows.length })} flush>
      <Table headings={[tBatch('row_head'), ...columns.map(({ title }) => title), { hidden: tBatch('change') }]} folded="cells">
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
      {shown.length < sortedRows.length && (
        <div className="row row-end card-footer">
          <Button variant="ghost" onClick={() => setAll(true)}>
            {tBatch('show_rows', { length: sortedRows.length })}
          </Button>
        </div>
      )}
    </Card>
  )
}

type RowProps = Pick<RowsProps, 'onCell' | 'onRemove'> & {
  row: SheetRow
  columns: readonly (SheetColumn & { index: number })[]
  fixed: (column: SheetColumn) => boolean
  faults: readonly string[]
  editing: boolean
  onEdit: () => void
}

const Row = ({ row: { number, cells }, columns, fixed, faults, editing, onEdit, onCell, onRemove }: RowProps) => (
  <>
    <tr>
      <td className="faint">{number}</td>
      {columns.map(({ index, title, meaning }) => (
        <td key={index} data-title={title}>
          {editing && !fixed({ title, meaning }) ? (
            <input
              className="input"
              aria-label={tBatch('row_of', { number, title })}
              aria-describedby={faults.length > 0 ? `row-${number}-faults` : undefined}
              value={cells[index] ?? ''}
              onChange={(event) => onCell(number, index, event.target.value)}
            />
          ) : (
            cells[index]
          )}
        </td>
      ))}
      <td className="nowrap">
        <Button
          size="small"
          variant="ghost"
          label={tBatch('act_row', { what: editing ? tBatch('remove') : tBatch('edit'), number })}
          onClick={editing ? () => onRemove(number) : onEdit}
        >
          {editing ? tBatch('remove') : tBatch('edit')}
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
