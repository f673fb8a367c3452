import { and, desc, eq, lt } from 'drizzle-orm'
import type { Db, Tx } from '../../../db/client.ts'
import { payments } from '../../../db/tables/payments.ts'
import { audit } from '../../../events/audit.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { lockBalance } from '../../../ledger/ledger.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import { failure } from '../../../lib/failure-codes.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Evidence } from '../../../rails/rail.ts'
import type { Deps } from '../../deps.ts'
import type { Operator } from '../../operators.ts'
import type { ResolvePayment } from '../admin-schema.ts'
import { lockPayment, ownerOfPayment, type PaymentRecord } from '../queries.ts'
import { settlePayment } from './outcome.ts'

/** Of all tenants. */
export const listAllPayments = (
  db: Db,
  status: PaymentRecord['status'] | undefined,
  page: PageRequest,
): Promise<PaymentRecord[]> =>
  db.orm
    .select()
    .from(payments)
    .where(
      and(
        status === undefined ? undefined : eq(payments.status, status),
        page.before === null ? undefined : lt(payments.id, page.before),
      ),
    )
    .orderBy(desc(payments.id))
    .limit(page.take)

const evidenceOf = ({ outcome, provider_receipt: receipt }: ResolvePayment): Evidence =>
  outcome === 'succeeded'
    ? { kind: 'succeeded', receipt: receipt ?? null, amountMinor: null }
    : { kind: 'failed', ...failure('resolved_by_operator') }

/**
 * Ends a payment that nobody else can: a person has seen, at the provider, what became of it. Only what is `unknown`; while a rail
 * may still answer, its word is waited for. The same outcome again says the same.
 */
export const resolvePayment = async (
  tx: Tx,
  deps: Deps,
  operator: Operator,
  id: Uuid,
  input: ResolvePayment,
): Promise<PaymentRecord> => {
  const ownerId = await ownerOfPayment(tx, id)
  if (!ownerId) throw notFound()
  await lockBalance(tx, ownerId)
  const { status } = await lockPayment(tx, id)
  if (status === input.outcome) return lockPayment(tx, id)
  if (status !== 'unknown') throw conflict(`A payment that is ${status} is not an operator's to resolve.`, 'status', { status })
  const verdict = await settlePayment(tx, deps, id, evidenceOf(input), { kind: 'operator', actor: operator })
  if (verdict !== 'applied') throw conflict('Another payment has this receipt.', 'provider_receipt')
  const payment = await lockPayment(tx, id)
  await audit(tx, operator, deps.clock.now(), {
    action: 'admin.payment_resolve',
    workspaceId: payment.workspaceId,
    subject: { type: 'payment', id },
    before: { status },
    after: { status: payment.status, evidence: input.evidence, provider_receipt: payment.providerReceipt },
  })
  return payment
}
