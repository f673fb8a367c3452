import { asc, eq, sql } from 'drizzle-orm'
import { alias, makePgArray } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { auditLog } from '../../../db/tables/events.ts'
import { intentMandates } from '../../../db/tables/mandates.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import type { Uuid } from '../../../lib/ids.ts'

const items = alias(payments, 'items')

export const findApprovalRow = selectRow('receipts.approval', approvals, ['id'], { lane: 'joined' })
export const findMandateRow = selectRow('receipts.mandate', intentMandates, ['id'], { lane: 'joined' })

/** The audit rows, each with the seal that covers it: the first seal at or after the row. As text: a comparison of two columns at once. */
export const auditOf = prepare(
  'receipts.audit',
  { paymentId: 'uuid' },
  (orm, at) =>
    orm
      .select({
        id: sql<Uuid>`a.id`,
        action: sql<string>`a.action`,
        at: sql<Date>`a.at`,
        inputs: sql<unknown>`case when a.action = 'payment.create' then a.inputs end`.mapWith(auditLog.inputs),
        sequence: sql<bigint | null>`s.sequence`,
        rowsRoot: sql<Buffer | null>`s.rows_root`,
        through: sql<{
          transaction: string
          id: Uuid
        }>`json_build_object('transaction', s.through_transaction::text, 'id', s.through_id)`,
        after: sql<{ transaction: string; id: Uuid } | null>`case when p.sequence is not null
        then json_build_object('transaction', p.through_transaction::text, 'id', p.through_id) end`,
      })
      .from(
        sql`audit_log a left join lateral (
        select * from audit_seals where (through_transaction, through_id) >= (a.transaction, a.id)
        order by through_transaction, through_id limit 1) s on true
      left join audit_seals p on p.sequence = s.sequence - 1`,
      )
      .where(
        sql`a.subject_id = any(array(select ${at.paymentId} union all select approval_id from payments where id = ${at.paymentId}))`,
      )
      .orderBy(sql`a.transaction`, sql`a.id`),
  'joined',
)

/** The versions of policies, in the order in which they are asked for. As text: rows from lists, each of which is one text. */
const policyVersions = prepare(
  'receipts.policies',
  { ids: 'text', versions: 'text' },
  (orm, at) =>
    orm
      .select({ document: sql<Readonly<Record<string, unknown>>>`v.document` })
      .from(
        sql`unnest(${at.ids}::uuid[], ${at.versions}::int[]) with ordinality as w(id, version, place)
        join spending_policy_versions v on v.policy_id = w.id and v.version = w.version`,
      )
      .orderBy(sql`w.place`),
  'joined',
)

/** A copy, which keeps what is made of it. */
const documentIn = ({ document }: { document: Readonly<Record<string, unknown>> }) => ({ ...document })

export const readPolicyVersions = async (
  db: Db,
  asked: readonly { id: Uuid; version: number }[],
): Promise<Readonly<Record<string, unknown>>[]> => {
  const [ids, versions] = [makePgArray(asked.map(({ id }) => id)), makePgArray(asked.map(({ version }) => version))]
  return (await db.run(policyVersions, { ids, versions })).map((row) => documentIn(row))
}

/** The leaves of the batch that the payment is an item of, in their order, with the batch's root. None for a payment of its own. */
export const leavesOf = prepare('receipts.batch', { paymentId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: paymentBatches.id, root: paymentBatches.merkleRoot, leaf: items.batchLeaf, index: items.batchIndex })
    .from(payments)
    .innerJoin(paymentBatches, eq(paymentBatches.id, payments.batchId))
    .innerJoin(items, eq(items.batchId, payments.batchId))
    .where(eq(payments.id, at.paymentId))
    .orderBy(asc(items.batchIndex)),
)
