import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { factTypes } from '../../../../src/lib/approval-facts.ts'
import { isolated } from '../../../../src/lib/text.ts'
import { batchLinesQuery, type Schemas } from '../../api/queries.ts'
import { richBatch, tBatch } from '../../lib/batch-texts.ts'
import { toHex } from '../../lib/hex.ts'
import { t } from '../../lib/language.ts'
import { compareMinor, majorText, sumMinor } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Table } from '../../ui/listing.tsx'
import { Amount, Card, Empty, Failure, Notice, SkeletonRows, TextNotice } from '../../ui/page.tsx'
import { VirtualRows } from '../../ui/virtual-rows.tsx'
import { LineFacts } from '../approvals/facts.tsx'

/** Numbers of lines shown at first, which keep the page light: lines with facts, and other lines. */
const maxFlaggedLines = 75
const maxOtherLines = 25

type Bytes = Uint8Array<ArrayBuffer>

/** Joins the parts by hand, because a Blob takes a millisecond for each of 2,000 hashes. */
const hash = async (...parts: readonly Bytes[]): Promise<Bytes> => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let end = 0
  for (const part of parts) {
    whole.set(part, end)
    end += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', whole))
}

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

const rootOf = async (hashes: readonly Bytes[]): Promise<Bytes> => {
  const [only] = hashes
  if (only && hashes.length === 1) return only
  // RFC 6962: the left part has the largest power of two below the count.
  const left = 2 ** Math.floor(Math.log2(hashes.length - 1))
  const parts = await Promise.all([rootOf(hashes.slice(0, left)), rootOf(hashes.slice(left))])
  return hash(nodePrefix, ...parts)
}

/** Merkle root of the leaves in order (RFC 6962, section 2.1), hexadecimal. Computed here, not taken from the service. */
const merkleRoot = async (leaves: readonly string[]): Promise<string> => {
  const encoder = new TextEncoder()
  const hashes = await Promise.all(leaves.map((leaf) => hash(leafPrefix, encoder.encode(leaf))))
  return toHex(await rootOf(hashes))
}

type Line = Schemas['PaymentBatchLines']['lines'][number]

/** A line as shown. Beneficiary, destination, amount and reference come from the leaf, so the approved data is shown. */
type BatchLine = {
  paymentId: string
  index: number
  /** Row number in the spreadsheet, for a CSV batch. */
  row: number | null
  payee: string
  rail: string
  mask: string
  amountMinor: string
  reference: string | null
  lastMinor: string | null
  facts: Line['facts']
}

const textOf = (leaf: Record<string, unknown>, name: string): string => {
  const value = leaf[name]
  return typeof value === 'string' ? value : ''
}

const readLine = ({ payment_id: paymentId, leaf, row, last_amount_minor: lastMinor, facts }: Line): BatchLine => {
  const bound = JSON.parse(leaf) as Record<string, unknown>
  const reference = textOf(bound, 'account_reference')
  return {
    paymentId,
    index: Number(bound.index),
    row,
    payee: isolated(textOf(bound, 'payee')),
    rail: textOf(bound, 'rail'),
    mask: textOf(bound, 'destination_mask'),
    amountMinor: textOf(bound, 'amount_minor'),
    reference: reference === '' ? null : isolated(reference),
    lastMinor,
    facts,
  }
}

const weightOf = ({ facts: [first] }: BatchLine): number => (first ? factTypes.indexOf(first.type) : factTypes.length)

/** Sorts by the most serious fact, then the largest amount. */
const byFacts = (lines: readonly BatchLine[]): BatchLine[] =>
  lines.toSorted((one, other) => weightOf(one) - weightOf(other) || compareMinor(other.amountMinor, one.amountMinor))

type Props = { batch: Schemas['PaymentBatchSummary']; message: string }

/** Lines of a pending batch, the ones with facts first. The browser computes the Merkle root from the loaded lines. */
export const BatchLines = ({ batch, message }: Props) => {
  const lines = useQuery(batchLinesQuery(batch.id))
  if (lines.isPending)
    return (
      <Card title={t('payments_label')} flush>
        <SkeletonRows rows={5} />
      </Card>
    )
  if (lines.isError)
    return (
      <Card title={t('payments_label')}>
        <Failure error={lines.error} onRetry={() => void lines.refetch()} />
      </Card>
    )
  return <Lines lines={lines.data.lines} batch={batch} message={message} />
}

const matches = ({ payee, mask, amountMinor, reference, row }: BatchLine, text: string): boolean =>
  [
    payee,
    mask,
    majorText(amountMinor),
    majorText(amountMinor).replaceAll(',', ''),
    reference,
    row === null ? null : tBatch('row_at', { at: row }),
  ].some((each) => each?.toLowerCase().includes(text))

const Lines = ({ lines, batch, message }: Props & { lines: readonly Line[] }) => {
  const [text, setText] = useState('')
  const [all, setAll] = useState(false)
  const read = useMemo(() => lines.map(readLine), [lines])
  const sorted = useMemo(() => byFacts(read), [read])
  const odd = read.filter(({ facts }) => facts.length > 0).length
  const search = text.trim().toLowerCase()
  const found = search === '' ? sorted : sorted.filter((line) => matches(line, search))
  const atFirst = Math.min(odd, maxFlaggedLines) + maxOtherLines
  const shown = all ? found : found.slice(0, atFirst)
  return (
    <Card
      title={t('payments', { count: read.length })}
      note={tBatch(odd === 0 ? 'lines.none_odd' : 'lines.odd_first', { count: odd })}
      flush
    >
      <div className="card-body stack">
        <Comparison leaves={lines.map(({ leaf }) => leaf)} read={read} batch={batch} message={message} />
        {read.length > maxOtherLines && (
          <TextField label={t('search')} type="search" value={text} onChange={setText} placeholder={tBatch('lines.search')} />
        )}
      </div>
      {found.length === 0 ? (
        <Empty icon="search" title={t('no_payments_match')} />
      ) : (
        <LinesTable lines={shown} currency={batch.currency} />
      )}
      {shown.length < found.length && (
        <div className="row row-end card-footer no-print">
          <Button variant="ghost" onClick={() => setAll(true)}>
            {t('show_all', { payments: t('payments', { count: found.length }) })}
          </Button>
        </div>
      )}
    </Card>
  )
}

type ComparisonProps = Props & { leaves: readonly string[]; read: readonly BatchLine[] }

const Comparison = ({ leaves, read, batch, message }: ComparisonProps) => {
  const root = useQuery({ queryKey: ['merkle-root', batch.id, leaves.length], queryFn: () => merkleRoot(leaves) })
  if (root.isPending) return <Notice title={tBatch('lines.computing')} />
  if (root.isError) return <Notice tone="warn" title={tBatch('lines.not_computed')} live />
  const inOrder = read.every(({ index }, nth) => index === nth)
  const sums = sumMinor(read.map(({ amountMinor }) => amountMinor)) === batch.total_minor
  if (inOrder && sums && message.includes(`Merkle root: ${root.data}`))
    return (
      <TextNotice tone="good" title={tBatch('lines.same')} live>
        {richBatch('lines.same_note', { root: <span className="mono small">{root.data.slice(0, 16)}…</span> })}
      </TextNotice>
    )
  return (
    <Notice tone="bad" title={tBatch('lines.differ')} live>
      <p>{tBatch('lines.differ_note')}</p>
    </Notice>
  )
}

const LinesTable = ({ lines, currency }: { lines: readonly BatchLine[]; currency: string }) => (
  <Table
    headings={[t('payee'), t('destination'), tBatch('look_at'), { figures: tBatch('last_time') }, { figures: t('amount') }]}
    folded="line"
    bodies
  >
    <VirtualRows rows={lines} columns={5}>
      {(line) => (
        <tr key={line.paymentId}>
          <td>
            <Link href={`/payments/${line.paymentId}`}>{line.payee}</Link>
            <span className="faint">
              {line.row === null ? tBatch('no_at', { at: line.index + 1 }) : tBatch('row_at', { at: line.row })} {line.reference}
            </span>
          </td>
          <td className="mono nowrap">{line.mask}</td>
          <td>
            <LineFacts facts={line.facts} currency={currency} />
          </td>
          <td className="figure faint">
            {line.lastMinor === null ? t('never') : <Amount minor={line.lastMinor} currency={currency} />}
          </td>
          <td className="figure">
            <Amount minor={line.amountMinor} currency={currency} />
          </td>
        </tr>
      )}
    </VirtualRows>
  </Table>
)
