import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { columnOfTitle, listColumns } from '../../../../src/lib/list-columns.ts'
import {
  type BatchSheet,
  columnWords,
  ignoredMeaning,
  parseLikeService,
  type SheetColumn,
  sheetProblem,
  withMeaning,
} from '../../lib/batch-sheet.ts'
import { tBatch } from '../../lib/batch-texts.ts'
import { moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Table } from '../../ui/listing.tsx'
import { Card, Notice } from '../../ui/page.tsx'

type Item = Awaited<ReturnType<typeof parseLikeService>>['items'][number]
const rowsShown = 3

const ownField = (title: string): string => `metadata.${title}`

/** Whether the column can become a custom field: its title is usable, and has no other meaning. */
const canBecomeOwnField = ({ title, meaning }: SheetColumn): boolean =>
  title !== '' && meaning !== ownField(title) && columnOfTitle(title) !== title && columnOfTitle(ownField(title)) !== null

const optionsOf = (column: SheetColumn) => [
  ...(column.meaning === null ? [{ value: '', label: tBatch('choose') }] : []),
  ...listColumns.map((value) => ({ value, label: columnWords(value) })),
  ...(column.meaning?.startsWith('metadata.')
    ? [{ value: column.meaning, label: tBatch('own_field_of', { name: column.meaning.slice('metadata.'.length) }) }]
    : []),
  ...(canBecomeOwnField(column) ? [{ value: ownField(column.title), label: tBatch('own_field') }] : []),
  { value: ignoredMeaning, label: tBatch('leave_out') },
]

/** The value as the service reads it, which may differ from the cell: a lost leading zero is restored. */
const shownOf = (item: Item, meaning: string | null, currency: string): string => {
  const { amount_minor: minor, metadata } = item
  const isAmount = meaning === 'amount' || meaning === 'amount_minor'
  if (isAmount) return typeof minor === 'string' && /^\d{1,18}$/.test(minor) ? moneyText(minor, currency) : '?'
  const ownFields = Object.entries((metadata ?? {}) as Record<string, unknown>)
  const value = meaning?.startsWith('metadata.')
    ? ownFields.find(([name]) => ownField(name) === meaning)?.[1]
    : Object.entries(item).find(([name]) => name === meaning)?.[1]
  return typeof value === 'string' ? value : ''
}

/** Meaning of each column, with the values of the first rows as the service reads them. */
export const BatchColumns = ({ list, onChange }: { list: BatchSheet; onChange: (list: BatchSheet) => void }) => {
  const currency = useSession().account.balance.currency
  const { columns, rows } = list
  const first = { ...list, rows: rows.slice(0, rowsShown) }
  const read = useQuery({
    queryKey: ['list as understood', JSON.stringify(first)],
    queryFn: async () => (await parseLikeService(first, currency)).items,
    placeholderData: keepPreviousData,
  })
  const problem = sheetProblem(list)
  const unknown = columns.filter(({ meaning }) => meaning === null).length
  return (
    <Card title={tBatch('columns')} note={tBatch('columns.note')} flush>
      <Table
        headings={[tBatch('in_file'), tBatch('is'), ...first.rows.map(({ number }) => tBatch('row', { number }))]}
        label={tBatch('columns')}
      >
        {columns.map((column, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns have no ID and keep their positions
          <tr key={index}>
            <td>
              <bdi>{column.title || tBatch('column', { place: index + 1 })}</bdi>
            </td>
            <td>
              <select
                className="input"
                aria-label={tBatch('what_is', { title: column.title || tBatch('column', { place: index + 1 }) })}
                value={column.meaning ?? ''}
                onChange={({ target }) => onChange(withMeaning(list, index, target.value))}
              >
                {optionsOf(column).map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </td>
            {first.rows.map(({ number, cells }, row) => (
              <td key={number} className={column.meaning === ignoredMeaning ? 'faint' : undefined}>
                <bdi>
                  {column.meaning === null || column.meaning === ignoredMeaning
                    ? cells[index]
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
                  onChange({ ...list, columns: columns.map((each) => ({ ...each, meaning: each.meaning ?? ignoredMeaning })) })
                }
              >
                {tBatch('leave_unknown', { unknown })}
              </Button>
            )}
          </Notice>
        </div>
      )}
    </Card>
  )
}
