import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Config } from '../../config.ts'
import type { Db, Tx } from '../../db/client.ts'
import { newestFirst } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { namesSql, oneOf } from '../../db/tables/columns.ts'
import { payments } from '../../db/tables/payments.ts'
import { rarePaymentStatuses } from '../../db/transitions.ts'
import { failure } from '../../errors/failures.ts'
import { audit } from '../../events/audit.ts'
import type { PageRequest } from '../../http/pagination.ts'
import { transfer, transferWithin } from '../../ledger/ledger.ts'
import { isoTime, isoTimeOrNull, secondsAfter } from '../../lib/clock.ts'
import { conflict } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { providers, railNames } from '../../lib/rail-names.ts'
import { isSameReceipt, receiptForms } from '../../lib/text.ts'
import type { Evidence } from '../../rails/rail.ts'
import { attemptsOf, silenceSeconds } from '../attempts/attempt.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import type { Operator } from '../operators.ts'
import { writeChange } from '../payments/change.ts'
import { lockPaymentWithAccount, type PaymentRecord } from '../payments/queries.ts'
import type { FindPayments, ResolvePayment } from '../payments/schema.ts'
import { settlePayments } from '../payments/settle.ts'
import { agreeToCost } from '../suspense/adjustment-service.ts'
import { receiptTaken } from '../suspense/receipts-service.ts'

/** `waitingId`: the adjustment that waits for a second administrator. Until then the payment is unchanged. */
export type Resolution = { payment: PaymentRecord; waitingId: Uuid | null }

const decided = (payment: PaymentRecord): Resolution => ({ payment, waitingId: null })

const all = prepare(
  'payments.all',
  { status: 'text?', rare: 'flag?', attention: 'flag?', receipts: 'text[]?', before: 'uuid?', take: 'rows' },
  'pool',
  (orm, param) =>
    newestFirst(
      orm.select().from(payments),
      { id: payments.id },
      param,
      param.status && eq(payments.status, param.status),
      // Repeats the index's condition, because a plan for any status would not use the partial index.
      param.rare && oneOf(payments.status, rarePaymentStatuses),
      // Two queries, because a single one with `or` would need bitmap scans. A late success has its receipt's claim.
      param.receipts &&
        sql`${payments.id} = any(array(
          select p.id from payments p where p.rail in ${sql.raw(namesSql(railNames))} and p.provider_receipt = any(${param.receipts})
          union all
          select c.owner_id from receipt_claims c where c.provider in ${sql.raw(namesSql(providers))} and c.direction = 'out'
            and c.owner_kind = 'payment' and c.receipt_key = any(${param.receipts})))`,
      param.attention && and(isNotNull(payments.lateSuccessAt), isNull(payments.lateSuccessResolvedAt)),
    ),
)

export const listAllPayments = (
  db: Db,
  { status, attention, provider_receipt: receipt }: Pick<FindPayments, 'status' | 'attention' | 'provider_receipt'>,
  page: PageRequest,
): Promise<PaymentRecord[]> =>
  db.run(all, {
    status,
    rare: rarePaymentStatuses.some((rare) => rare === status),
    attention: attention !== undefined,
    ...(receipt !== undefined && { receipts: receiptForms(receipt) }),
    ...page,
  })

const evidenceOf = ({ outcome, provider_receipt: receipt }: ResolvePayment): Evidence =>
  outcome === 'succeeded'
    ? { kind: 'succeeded', receipt: receipt ?? null, amountMinor: null }
    : { kind: 'failed', ...failure('resolved_by_operator') }

/** Books a payout that succeeded late. The payer is charged the amount and the fee, or the organisation bears the amount. */
const bookLateSuccess = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  payment: PaymentRecord,
  input: ResolvePayment & { outcome: 'charged' | 'written_off' },
): Promise<Resolution> => {
  const resolution = input.outcome
  const amountMinor = payment.lateSuccessAmountMinor
  if (amountMinor === null) throw conflict('This payment has no late success.', 'late_success', { status: payment.status })
  if (payment.lateSuccessResolution === resolution) return decided(payment)
  if (payment.lateSuccessResolution !== null)
    throw conflict('This late success is booked already.', 'late_success', { resolution: payment.lateSuccessResolution })
  const { id, accountId, feeMinor } = payment
  const reference = { type: 'payment', id } as const
  const memo = 'late success'
  const change = { lateSuccessResolution: resolution, lateSuccessResolvedAt: tx.at }
  const options = { actor: operator, type: null, action: `payment.late_success_${resolution}` } as const
  if (resolution === 'written_off') {
    const cost = { kind: 'late_success_written_off', payment, amountMinor, evidence: input.evidence } as const
    const waitingId = await agreeToCost(tx, config, operator, cost)
    if (waitingId !== null) return { payment, waitingId }
    const move = { id: newId(), debit: 'adjustments', credit: 'rail_clearing', amountMinor, reference, memo } as const
    await transferWithin(tx, [move])
    return decided(await writeChange(tx, payment, change, options))
  }
  const move = { ownerId: accountId, amountMinor: -amountMinor, against: 'rail_clearing', reference, memo } as const
  const charged = await transfer(tx, move)
  const fee = { ownerId: accountId, against: 'fees', reference: { type: 'fee', id }, memo } as const
  const { balance } = feeMinor === null ? charged : await transfer(tx, { ...fee, amountMinor: -feeMinor })
  return decided(await writeChange(tx, payment, change, { ...options, balance: await balanceUpdated(tx, accountId, balance) }))
}

/** Refuses to fail a payment before the rail had time to answer: a later answer could not take the money back. */
const refuseTooEarly = async (tx: Tx, { id, updatedAt: unknownSince }: PaymentRecord): Promise<void> => {
  const attempts = await attemptsOf(tx, [id])
  const sent = attempts.find(({ state, askedAt }) => state !== 'not_sent' && (state !== 'resolved' || askedAt !== null))
  // A provider may still correct its report after a mismatch, so the wait starts there.
  const asked = sent?.state === 'disputed' ? sent.updatedAt : sent?.askedAt
  // Without an attempt, or if a declared loss ended it before its first query, there is nothing to query.
  const since = sent ? asked : unknownSince
  const from = since ? secondsAfter(since, silenceSeconds) : null
  if (from && from <= tx.at) return
  const message = from
    ? `The rail was asked about this payment and may still answer: decide from ${isoTime(from)} on.`
    : 'The service has not asked the rail about this payment yet. It asks automatically within a minute, while its jobs run.'
  throw conflict(message, 'rail_may_answer', { from: isoTimeOrNull(from) })
}

const endUnknown = async (tx: Tx, config: Config, operator: Operator, payment: PaymentRecord, input: ResolvePayment) => {
  const { status, amountMinor, providerReceipt } = payment
  const { provider_receipt: given } = input
  // A different receipt belongs to another movement, which this resolution would not book.
  if (status === 'succeeded' && given !== undefined && providerReceipt !== null && !isSameReceipt(given, providerReceipt))
    throw conflict('This payment has succeeded with another receipt.', 'provider_receipt')
  if (status === input.outcome) return decided(payment)
  if (status !== 'unknown') throw conflict(`A payment that is ${status} cannot be resolved.`, 'status', { status })
  if (input.outcome === 'failed') {
    await refuseTooEarly(tx, payment)
    const cost = { kind: 'payment_failed', payment, amountMinor, evidence: input.evidence } as const
    const waitingId = await agreeToCost(tx, config, operator, cost)
    if (waitingId !== null) return { payment, waitingId }
  }
  const source = { kind: 'operator', actor: operator } as const
  const settled = only(await settlePayments(tx, [{ payment, evidence: evidenceOf(input), source }]))
  if (settled.verdict !== 'applied')
    throw settled.holder && given !== undefined
      ? receiptTaken(given, settled.holder)
      : conflict('Another payment has this receipt.', 'provider_receipt')
  return decided(settled.payment)
}

/** An outcome that costs the organisation may need the same decision by a second administrator. Repeating it changes nothing. */
export const resolvePayment = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  input: ResolvePayment,
): Promise<Resolution> => {
  const payment = await lockPaymentWithAccount(tx, id)
  const { outcome } = input
  const resolution =
    outcome === 'charged' || outcome === 'written_off'
      ? await bookLateSuccess(tx, config, operator, payment, { ...input, outcome })
      : await endUnknown(tx, config, operator, payment, input)
  const after = resolution.payment
  if (after === payment) return resolution
  const { workspaceId, status, providerReceipt, lateSuccessReceipt } = after
  audit(tx, operator, 'admin.payment_resolve', {
    workspaceId,
    subject: id,
    before: { status: payment.status },
    after: { status, outcome, evidence: input.evidence, provider_receipt: providerReceipt ?? lateSuccessReceipt },
  })
  return resolution
}
