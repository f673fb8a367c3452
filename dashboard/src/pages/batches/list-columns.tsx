import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { columnOfTitle, labelOfColumn, listColumns } from '../../../../src/lib/list-columns.ts'
import { moneyText } from '../../lib/money.ts'
import { type ListColumn, leftOut, listProblem, type PaymentList, understood, withMeaning } from '../../lib/payment-list.ts'
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
    queryFn: () => understood(first),
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
