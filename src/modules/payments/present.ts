import type { Column } from '../../http/csv.ts'
import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMajor, formatMinor } from '../../lib/money.ts'
import { localDateTime, timeZoneAt, type Zones } from '../../policy/calendar.ts'
import { namesText } from '../creators.ts'
import { withoutTrace } from '../policies/present.ts'
import type { Decision } from '../policies/schema.ts'
import type { NamedPayment, PaymentRecord } from './queries.ts'
import type { Payment } from './schema.ts'

/** The time of the last query to the rail about a payment, and of the next one. `attempts`: oldest first. */
export const presentCheck = (
  attempts: readonly { checkedAt: Date | null; nextCheckAt: Date | null }[],
): NonNullable<Payment['outcome_check']> => {
  const last = attempts.at(-1)
  return { last_at: isoTimeOrNull(last?.checkedAt ?? null), next_at: isoTimeOrNull(last?.nextCheckAt ?? null) }
}

/** The decision that required an approval when the payment was due, else that of its creation. `presentDecision` wrote both. */
export const decisionOf = ({ snapshot }: Pick<PaymentRecord, 'snapshot'>): Decision =>
  (snapshot.due_decision ?? snapshot.decision) as Decision

export const presentPayment = (payment: PaymentRecord): Payment => ({
  id: formatId('payment', payment.id),
  workspace_id: formatId('workspace', payment.workspaceId),
  status: payment.status,
  amount_minor: formatMinor(payment.amountMinor),
  fee_minor: formatMinor(payment.feeMinor ?? 0n),
  currency: payment.currency,
  batch_id: payment.batchId && formatId('payment_batch', payment.batchId),
  execute_at: isoTimeOrNull(payment.executeAt),
  batch_index: payment.batchIndex,
  batch_row: payment.batchRow,
  beneficiary_id: formatId('beneficiary', payment.beneficiaryId),
  beneficiary: payment.snapshot.beneficiary,
  payment_type: payment.paymentType,
  payment_rail: payment.rail,
  purpose_code: payment.purposeCode,
  account_reference: payment.accountReference,
  narrative: payment.narrative,
  metadata: payment.metadata,
  idempotency_key: payment.idempotencyKey,
  mandate_id: payment.mandateId && formatId('mandate', payment.mandateId),
  approval_id: payment.approvalId && formatId('approval', payment.approvalId),
  initiated_by: payment.snapshot.initiated_by,
  decision: decisionOf(payment),
  provider_receipt: payment.providerReceipt,
  failure_code: payment.failureCode,
  failure_message: payment.failureMessage,
  provider_code: payment.providerCode,
  late_success:
    payment.lateSuccessAt && payment.lateSuccessAmountMinor !== null
      ? {
          receipt: payment.lateSuccessReceipt,
          amount_minor: formatMinor(payment.lateSuccessAmountMinor),
          at: isoTime(payment.lateSuccessAt),
        }
      : null,
  created_at: isoTime(payment.createdAt),
  updated_at: isoTime(payment.updatedAt),
  completed_at: isoTimeOrNull(payment.completedAt),
})

export const presentListed = (payment: PaymentRecord): Payment => withoutTrace(presentPayment(payment))

type Exported = NamedPayment & { shown: Payment }

/** Adds the payment in the API's form, which `paymentColumns` reads. */
export const presentRow = <Row extends PaymentRecord>(row: Row): Row & { shown: Payment } => ({
  ...row,
  shown: presentPayment(row),
})

const columnOf = (name: keyof Payment): Column<Exported> => [name, ({ shown }) => shown[name]?.toString() ?? null]

/** Local times use the workspace's time zone at the payment's creation. */
export const paymentColumns = (zones: Zones): readonly Column<Exported>[] => [
  ...(['id', 'created_at'] as const).map(columnOf),
  ...(['createdAt', 'completedAt', 'executeAt', 'updatedAt'] as const).map(
    (name): Column<Exported> => [
      name.replace('At', '_local'),
      ({ createdAt, [name]: time }) => time && localDateTime(time, timeZoneAt(zones, createdAt)),
    ],
  ),
  ['time_zone', ({ createdAt }) => timeZoneAt(zones, createdAt)],
  columnOf('status'),
  ['amount', ({ amountMinor }) => formatMajor(amountMinor)],
  ...(['amount_minor', 'fee_minor', 'currency', 'beneficiary_id'] as const).map(columnOf),
  ['beneficiary_name', (row) => row.payee],
  ['destination', ({ shown }) => shown.beneficiary.destination_mask],
  ...(['payment_rail', 'payment_type', 'account_reference', 'narrative', 'provider_receipt'] as const).map(columnOf),
  ...(['failure_code', 'failure_message', 'provider_code', 'mandate_id', 'approval_id'] as const).map(columnOf),
  ['approved_by_names', ({ approvers }) => namesText(approvers)],
  ['list', ({ batchName }) => batchName],
  ...(['batch_id', 'batch_index', 'batch_row', 'execute_at', 'purpose_code'] as const).map(columnOf),
  ['requested_by_name', ({ initiatorName }) => initiatorName],
  ['requested_through', ({ shown }) => shown.initiated_by.label],
  ['initiator_account_id', ({ shown }) => shown.initiated_by.account_id],
  ['grant_id', ({ shown }) => shown.initiated_by.grant_id],
  ['metadata', (row) => JSON.stringify(row.metadata)],
  ...(['updated_at', 'completed_at', 'idempotency_key'] as const).map(columnOf),
  ['fee', ({ feeMinor }) => formatMajor(feeMinor ?? 0n)],
]

/** Columns of a batch's result file, in reading order. */
const resultColumnNames = [
  ...['batch_row', 'beneficiary_name', 'destination', 'amount', 'currency', 'status', 'failure_message', 'provider_receipt'],
  ...['completed_local', 'time_zone', 'account_reference', 'narrative', 'purpose_code', 'list', 'requested_by_name'],
  ...['requested_through', 'approved_by_names', 'metadata', 'id', 'batch_index', 'amount_minor', 'failure_code', 'completed_at'],
  ...['fee', 'fee_minor'],
]
export const resultColumns = (zones: Zones): readonly Column<Exported>[] => {
  const all = paymentColumns(zones)
  return resultColumnNames.flatMap((name) => all.filter(([column]) => column === name))
}
