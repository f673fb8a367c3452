import { and, eq, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { payees } from '../../../db/tables/beneficiaries.ts'
import { payments } from '../../../db/tables/payments.ts'
import { readTogether, togetherByIds } from '../../../db/together.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { lastPaidSql, toSamePayee } from '../../beneficiaries/payee-queries.ts'
import type { PaymentRecord } from '../queries.ts'

/** What was paid before to the payee of an approval's payment. */
export type History = { paymentsCount: number; lastPaidAt: Date | null; lastPaid: Minor[] }
/** By approval; undefined where the payee was never paid. */
export type Histories = ReadonlyMap<Uuid, History | undefined>

const earlier = alias(payments, 'earlier')

/**
 * Payments to the same payee under any name, in this workspace: a fingerprint belongs to one workspace. At a paybill those to the same
 * account.
 */
const payeeHistories = prepare(
  'approvals.payee_histories',
  { approvalIds: 'uuid[]' },
  (orm, at) =>
    orm
      .select({
        approvalId: approvals.id,
        paymentsCount: sql<number>`count(*)::int`,
        lastPaidAt: sql<Date | null>`max(${earlier.completedAt})`,
        lastPaid: sql<
          Minor[]
        >`${sql.raw(lastPaidSql({ payee: 'payees', rail: 'payments.rail', reference: 'payments.account_reference', without: 'payments.id' }))}`,
      })
      .from(approvals)
      .innerJoin(payments, eq(payments.id, approvals.paymentId))
      .innerJoin(payees, eq(payees.id, payments.payeeId))
      .innerJoin(earlier, and(sql.raw(toSamePayee('earlier', 'payments')), ne(earlier.id, payments.id)))
      .where(and(sql`${approvals.id} = any(${at.approvalIds})`, sql`${earlier.status} in ${sql.raw(paidPaymentsSql)}`))
      .groupBy(approvals.id, payments.id, payees.id),
  // A payee may have been paid many times.
  'page',
)

/** Of one approval, by its id alone. */
const historyOfOne = togetherByIds(
  (db, approvalIds) => db.run(payeeHistories, { approvalIds }),
  ({ approvalId }) => approvalId,
)

export const historyOf = async (db: Db, id: Uuid): Promise<Histories> => new Map([[id, (await historyOfOne(db, [id]))[0]]])

const place = { payee_id: 'uuid', rail: 'text', account_reference: 'text', without: 'uuid[]' } as const
/** `without`: payments that do not count. A payee may have been paid many times. */
const paidTo = readTogether<History & { payeeId: Uuid }, typeof place>(
  'approvals.paid_to_payee',
  place,
  `select own.id as "payeeId", paid.*,
     ${lastPaidSql({ payee: 'own', rail: 'key.rail', reference: 'key.account_reference', without: 'all(key.without)' })} as "lastPaid"
   from payees own cross join lateral (
     select count(*)::int as "paymentsCount", max(earlier.completed_at) as "lastPaidAt" from payments earlier
     where ${toSamePayee('earlier', 'key')} and earlier.status in ${paidPaymentsSql} and earlier.id <> all(key.without)) as paid
   where own.id = key.payee_id and paid."paymentsCount" > 0`,
  'page',
  { most: 64 },
)

type Waiting = { approval: { id: Uuid }; payment: Pick<PaymentRecord, 'id' | 'payeeId' | 'rail' | 'accountReference'> }

/** Of approvals that wait: their own payments were not paid. What goes to one payee is looked up once. */
export const historiesOf = async (db: Db, waiting: readonly Waiting[]): Promise<Histories> => {
  const byPayee = Map.groupBy(waiting, ({ payment: { payeeId, rail, accountReference } }) =>
    JSON.stringify([payeeId, rail, accountReference]),
  )
  const groups = [...byPayee.values()].map(async ([first, ...others]) => {
    if (!first) return []
    const alike = [first, ...others]
    const { payeeId, rail, accountReference } = first.payment
    const without = alike.map(({ payment }) => payment.id)
    const [history] = await paidTo(db, { payee_id: payeeId, rail, account_reference: accountReference, without })
    return alike.map(({ approval }) => [approval.id, history] as const)
  })
  return new Map((await Promise.all(groups)).flat())
}
