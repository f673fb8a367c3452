import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { batchLinesQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { type BatchLine, byDeviation, readLines } from '../../lib/batch-lines.ts'
import { countWords } from '../../lib/list-words.ts'
import { merkleRoot } from '../../lib/merkle-root.ts'
import { sumMinor } from '../../lib/money.ts'
import { Amount } from '../../ui/amount.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Notice, SkeletonRows } from '../../ui/layout.tsx'
import { Badge } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'

type Props = { batch: Schemas['PaymentBatchSummary']; message: string }

/** Every line of a batch that waits for a decision: those that deviate first. The root is computed here from what is shown. */
export const BatchLines = ({ batch, message }: Props) => {
  const lines = useQuery(batchLinesQuery(batch.id))
  if (lines.isPending)
    return (
      <Card title="Payments" flush>
        <SkeletonRows rows={5} />
      </Card>
    )
  if (lines.isError)
    return (
      <Card title="Payments">
        <Failure error={lines.error} onRetry={() => void lines.refetch()} />
      </Card>
    )
  const read = readLines(lines.data.lines)
  const odd = read.filter(({ deviations }) => deviations.length > 0).length
  return (
    <Card
      title={countWords(read.length, 'payment')}
      note={
        odd === 0
          ? 'None deviates from the last payment to the same payee, or has another name than the payee.'
          : `${odd} to look at come first.`
      }
      flush
    >
      <div className="card-body">
        <Comparison leaves={lines.data.lines.map(({ leaf }) => leaf)} read={read} batch={batch} message={message} />
      </div>
      <LinesTable lines={byDeviation(read)} currency={batch.currency} />
    </Card>
  )
}

type ComparisonProps = Props & { leaves: readonly string[]; read: readonly BatchLine[] }

/** Whether the text that is signed is about exactly these lines. */
const Comparison = ({ leaves, read, batch, message }: ComparisonProps) => {
  const root = useQuery({ queryKey: ['merkle-root', batch.id, leaves.length], queryFn: () => merkleRoot(leaves) })
  if (root.isPending) return <Notice title="Computing what these lines add up to…" />
  const inOrder = read.every(({ index }, place) => index === place)
  const sums = sumMinor(read.map(({ amountMinor }) => amountMinor)) === batch.total_minor
  if (root.data && inOrder && sums && message.includes(`Merkle root: ${root.data}`))
    return (
      <Notice tone="good" title="You approve exactly these lines" live>
        <p className="quiet">
          This page computed their checksum and their total itself. Both match the text that is signed:{' '}
          <span className="mono small">{root.data.slice(0, 16)}…</span>
        </p>
      </Notice>
    )
  return (
    <Notice tone="bad" title="Do not approve: these lines differ from the text that is signed" live>
      <p>Their checksum or their total is another one. Tell the operator of the service.</p>
    </Notice>
  )
}

const LinesTable = ({ lines, currency }: { lines: readonly BatchLine[]; currency: string }) => (
  <Table headings={['Payee', 'Destination', 'Look at', { figures: 'Last time' }, { figures: 'Amount' }]} folded="line">
    {lines.map((line) => (
      <tr key={line.paymentId}>
        <td>
          <Link href={`/payments/${line.paymentId}`}>{line.payee}</Link>
          <span className="faint">
            {line.row !== null && ` row ${line.row}`} {line.reference}
          </span>
        </td>
        <td className="mono nowrap">{line.mask}</td>
        <td>
          {line.deviations.map((words) => (
            <Badge key={words} tone="warn">
              {words}
            </Badge>
          ))}
        </td>
        <td className="figure faint">
          {line.lastMinor === null ? 'never' : <Amount minor={line.lastMinor} currency={currency} />}
        </td>
        <td className="figure">
          <Amount minor={line.amountMinor} currency={currency} />
        </td>
      </tr>
    ))}
  </Table>
)
