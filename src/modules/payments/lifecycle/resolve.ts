import { and, desc, eq, isNotNull, isNull, lt } from 'drizzle-orm'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import { audit } from '../../../events/audit.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { transfer, transferWithin } from '../../../ledger/ledger.ts'
import { conflict, Refusal } from '../../../lib/errors.ts'
import { failure } from '../../../lib/failure-codes.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/only.ts'
import type { Evidence } from '../../../rails/rail.ts'
import { balanceUpdated } from '../../identity/accounts/service.ts'
import type { Operator } from '../../operators.ts'
import type { FindPayments, ResolvePayment } from '../admin-schema.ts'
import type { Deps } from '../deps.ts'
import { lockPaymentWithAccount, type PaymentRecord } from '../queries.ts'
import { settlePayments } from './outcome.ts'
import { writeChange } from './write-change.ts'

type ResolveDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'config'>

/** Of all tenants. */
export const listAllPayments = (
  db: Db,
  { status, attention }: Pick<FindPayments, 'status' | 'attention'>,
  page: PageRequest,
): Promise<PaymentRecord[]> =>
  db.orm
    .select()
    .from(payments)
    .where(
      and(
        status === undefined ? undefined : eq(payments.status, status),
        attention === undefined ? undefined : and(isNotNull(payments.lateSuccessAt), isNull(payments.lateSuccessResolvedAt)),
        page.before === null ? undefined : lt(payments.id, page.before),
      ),
    )
    .orderBy(desc(payments.id))
    .limit(page.take)

const evidenceOf = ({ outcome, provider_receipt: receipt }: ResolvePayment): Evidence =>
  outcome === 'succeeded'
    ? { kind: 'succeeded', receipt: receipt ?? null, amountMinor: null }
    : { kind: 'failed', ...failure('resolved_by_operator') }

const noteResolution = (
  tx: Tx,
  operator: Operator,
  before: PaymentRecord,
  after: PaymentRecord,
  input: ResolvePayment,
): Promise<void> =>
  audit(tx, operator, tx.at, {
    action: 'admin.payment_resolve',
    workspaceId: after.workspaceId,
    subject: { type: 'payment', id: after.id },
    before: { status: before.status },
    after: {
      status: after.status,
      outcome: input.outcome,
      evidence: input.evidence,
      provider_receipt: after.providerReceipt ?? after.lateSuccessReceipt,
    },
  })

/** Books the money that left: the provider paid it out, so it is posted to the clearing account, and charged to the payer or to us. */
const bookLateSuccess = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  operator: Operator,
  payment: PaymentRecord,
  resolution: 'charged' | 'written_off',
): Promise<PaymentRecord> => {
  const amountMinor = payment.lateSuccessAmountMinor
  if (amountMinor === null) throw conflict('This payment has no late success.', 'late_success', { status: payment.status })
  if (payment.lateSuccessResolution === resolution) return payment
  if (payment.lateSuccessResolution !== null)
    throw conflict('This late success is booked already.', 'late_success', { resolution: payment.lateSuccessResolution })
  const { id, accountId } = payment
  const { at } = tx
  const reference = { type: 'payment', id } as const
  const memo = 'late success'
  const change = { lateSuccessResolution: resolution, lateSuccessResolvedAt: at }
  const options = { actor: operator, type: null, action: `payment.late_success_${resolution}` } as const
  if (resolution === 'written_off') {
    const move = { id: newId(), debit: 'adjustments', credit: 'rail_clearing', amountMinor, reference, memo } as const
    await transferWithin(tx, [move], at)
    return writeChange(tx, deps, payment, change, options)
  }
  const { balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor: -amountMinor,
    against: 'rail_clearing',
    reference,
    memo,
    at,
  })
  return writeChange(tx, deps, payment, change, { ...options, balance: await balanceUpdated(tx, deps, accountId, balance) })
}

const endUnknown = async (
  tx: Tx,
  deps: ResolveDeps,
  operator: Operator,
  payment: PaymentRecord,
  input: ResolvePayment,
): Promise<PaymentRecord> => {
  const { status } = payment
  if (status === input.outcome) return payment
  if (status !== 'unknown') throw conflict(`A payment that is ${status} cannot be resolved.`, 'status', { status })
  const source = { kind: 'operator', actor: operator } as const
  const settled = only(await settlePayments(tx, deps, [{ payment, evidence: evidenceOf(input), source }]))
  if (settled.verdict !== 'applied') throw conflict('Another payment has this receipt.', 'provider_receipt')
  return settled.payment
}

const involved = statement(
  'payments.operator_involved',
  `select from members m join workspaces w on w.id = m.workspace_id
   where m.account_id = $1 and (w.id = $2 or w.owning_account_id = $3) limit 1`,
)

/** What gives a customer money that may have left costs the organisation: nobody decides it where they would gain. */
const refuseOwnGain = async (tx: Tx, operator: Operator, payment: PaymentRecord): Promise<void> => {
  const { accountId } = operator
  if (accountId === null) return
  if (
    accountId !== payment.accountId &&
    (await tx.query(involved, [accountId, payment.workspaceId, payment.accountId])).length === 0
  )
    return
  throw new Refusal('separation_of_duties', {
    message:
      'An administrator decides nothing that costs the organisation for their own account, or for a workspace that they belong to.',
  })
}

/**
 * Decisions for a person who has checked with the provider what happened: the outcome of a payment that is `unknown` (not while its rail
 * may still answer), and who pays for a late success. The same outcome again gives the same answer.
 */
export const resolvePayment = async (
  tx: Tx,
  deps: ResolveDeps,
  operator: Operator,
  id: Uuid,
  input: ResolvePayment,
): Promise<PaymentRecord> => {
  const payment = await lockPaymentWithAccount(tx, id)
  const { outcome } = input
  if (outcome === 'failed' || outcome === 'written_off') await refuseOwnGain(tx, operator, payment)
  const after =
    outcome === 'charged' || outcome === 'written_off'
      ? await bookLateSuccess(tx, deps, operator, payment, outcome)
      : await endUnknown(tx, deps, operator, payment, input)
  if (after !== payment) await noteResolution(tx, operator, payment, after, input)
  return after
}
