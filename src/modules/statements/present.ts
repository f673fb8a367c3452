import type { z } from 'zod'
import type { Column } from '../../http/csv.ts'
import { presenter } from '../../http/presenter.ts'
import type { StatementEntry as Entry, StatementScope, StatementSummary } from '../../ledger/statement.ts'
import { dateAfter, isoTime } from '../../lib/clock.ts'
import { invalidFields } from '../../lib/errors.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMajor, formatMinor } from '../../lib/money.ts'
import { localDateTime, periodsAt, startOfDateInZones, timeZoneAt, type Zones } from '../../policy/calendar.ts'
import { namesText } from '../creators.ts'
import { Period, type ReadStatement, StatementEntry } from './schema.ts'

const maxDays = 366

const lastOfMonth = (date: string): string => {
  const [year = 0, month = 1] = date.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}

/** Both days are inclusive, in the workspace's time zone on that day. `timeZone`: the zone at the end. A 400 names the field. */
export const periodOf = ({ from, to }: Pick<ReadStatement, 'from' | 'to'>, now: Date, zones: Zones) => {
  const first = from ?? (to === undefined ? periodsAt(now, timeZoneAt(zones, now)).month : `${to.slice(0, 7)}-01`)
  const last = to ?? lastOfMonth(first)
  if (last < first) throw invalidFields({ path: 'to', message: 'must not be before from' })
  if (dateAfter(first, maxDays) <= last) throw invalidFields({ path: 'to', message: `a period has at most ${maxDays} days` })
  const [start, end] = [startOfDateInZones(zones, first), startOfDateInZones(zones, dateAfter(last, 1))]
  const timeZone = timeZoneAt(zones, new Date(Math.min(now.getTime(), end.getTime() - 1)))
  return { from: first, to: last, timeZone, zones, start, end }
}

/** `unfinishedAt`: the time of the request, if the last day has not ended. */
export type ReadPeriod = ReturnType<typeof periodOf> & { unfinishedAt: Date | null }

const shownPeriod = presenter(Period)
const { by_payee: ByPayee, by_type: ByType } = Period.shape.totals.unwrap().shape
const shownPayee = presenter(ByPayee.element)
const shownType = presenter(ByType.element)

export const presentPeriod = (period: ReadPeriod, currency: string, { sums }: StatementSummary) =>
  shownPeriod(period, {
    currency,
    in_minor: sums?.inMinor ?? null,
    out_minor: sums?.outMinor ?? null,
    totals: sums && { by_payee: sums.byPayee.map((row) => shownPayee(row)), by_type: sums.byType.map((row) => shownType(row)) },
    totals_pending: sums === null,
  })

/** Null for a workspace that shares its balance. */
export const balancesOf = ({ scope, summary }: { scope: StatementScope; summary: StatementSummary }) => {
  const shown = (minor: bigint) => (scope.workspaceId === null ? formatMinor(minor) : null)
  return { opening_balance_minor: shown(summary.openingMinor), closing_balance_minor: shown(summary.closingMinor) }
}

const shownEntry = presenter(StatementEntry)

export const presentEntry = (entry: Entry): z.output<typeof StatementEntry> =>
  shownEntry(entry, {
    payee:
      entry.payeeId === null
        ? null
        : {
            id: formatId('beneficiary', entry.payeeId),
            display_name: entry.payeeName ?? '',
            destination_mask: entry.payeeMask ?? '',
          },
    payment_rail: entry.rail,
    batch: entry.batchId === null ? null : { id: formatId('payment_batch', entry.batchId), name: entry.batchName },
    approved_by: entry.approvedBy.map(({ id }) => formatId('account', id)),
    approved_by_names: entry.approvedBy.map(({ name }) => name),
  })

export const presentPart = (entry: Entry) => ({ ...presentEntry(entry), balance_after_minor: null })

export type Line =
  | { id: string; at: Date; entry: Entry }
  | { id: string; at: Date; balance: 'opening_balance' | 'closing_balance' | 'balance_so_far'; minor: bigint }

const ofEntry =
  (value: (entry: Entry) => string | null) =>
  (line: Line): string | null =>
    'entry' in line ? value(line.entry) : null

export const columnsOf = (zones: Zones, currency: string, hasBalances: boolean): readonly Column<Line>[] => [
  ['date', ({ at }) => localDateTime(at, timeZoneAt(zones, at)).slice(0, 10)],
  ['time', ({ at }) => localDateTime(at, timeZoneAt(zones, at)).slice(11)],
  ['time_zone', ({ at }) => timeZoneAt(zones, at)],
  ['type', (line) => ('entry' in line ? line.entry.type : line.balance)],
  ['payee', ofEntry(({ payeeName }) => payeeName)],
  ['destination', ofEntry(({ payeeMask }) => payeeMask)],
  ['payment_rail', ofEntry(({ rail }) => rail)],
  ['amount', ofEntry(({ amountMinor }) => formatMajor(amountMinor))],
  ['currency', () => currency],
  ...(hasBalances
    ? [['balance', (line) => formatMajor('entry' in line ? line.entry.balanceAfterMinor : line.minor)] satisfies Column<Line>]
    : []),
  ['reference', ofEntry(({ reference }) => reference)],
  ['narrative', ofEntry(({ narrative }) => narrative)],
  ['purpose_code', ofEntry(({ purposeCode }) => purposeCode)],
  ['list', ofEntry(({ batchName }) => batchName)],
  ['provider_receipt', ofEntry(({ providerReceipt }) => providerReceipt)],
  ['requested_by_name', ofEntry(({ requestedByName }) => requestedByName)],
  ['requested_through', ofEntry(({ requestedThrough }) => requestedThrough)],
  ['approved_by_names', ofEntry(({ approvedBy }) => namesText(approvedBy))],
  ['requested_by', ofEntry(({ requestedBy }) => requestedBy && formatId('account', requestedBy))],
  ['grant_id', ofEntry(({ grantId }) => grantId && formatId('grant', grantId))],
  ['approved_by', ofEntry(({ approvedBy }) => approvedBy.map(({ id }) => formatId('account', id)).join(' '))],
  ['batch_id', ofEntry(({ batchId }) => batchId && formatId('payment_batch', batchId))],
  ['batch_index', ofEntry(({ batchIndex }) => batchIndex?.toString() ?? null)],
  ['idempotency_key', ofEntry(({ idempotencyKey }) => idempotencyKey)],
  ['payment_id', ofEntry(({ paymentId }) => paymentId && formatId('payment', paymentId))],
  ['topup_id', ofEntry(({ topupId }) => topupId && formatId('topup', topupId))],
  ['metadata', ofEntry(({ metadata }) => JSON.stringify(metadata))],
  ['fee', ofEntry(({ feeMinor }) => formatMajor(feeMinor))],
  ['at', ({ at }) => isoTime(at)],
  ['amount_minor', ofEntry(({ amountMinor }) => formatMinor(amountMinor))],
  ['fee_minor', ofEntry(({ feeMinor }) => formatMinor(feeMinor))],
]
