import { asc, eq, sql } from 'drizzle-orm'
import { prepare } from '../../../db/prepare.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { intentMandates } from '../../../db/tables/mandates.ts'
import { payments } from '../../../db/tables/payments.ts'
import type { Uuid } from '../../../lib/ids.ts'

// What a receipt is made of, each found by the payment alone: so all of it is read at once.

export const paidTo = prepare('receipts.beneficiary', { paymentId: 'uuid' }, (orm, at) =>
  orm
    .select({
      displayName: beneficiaries.displayName,
      paymentRail: beneficiaries.paymentRail,
      destinationMask: beneficiaries.destinationMask,
    })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .where(eq(payments.id, at.paymentId)),
)

export const approvalOf = prepare('receipts.approval', { paymentId: 'uuid' }, (orm, at) =>
  orm.select().from(approvals).where(eq(approvals.paymentId, at.paymentId)),
)

export const decisionsOf = prepare('receipts.decisions', { paymentId: 'uuid' }, (orm, at) =>
  orm
    .select({ decision: approvalDecisions })
    .from(approvals)
    .innerJoin(approvalDecisions, eq(approvalDecisions.approvalId, approvals.id))
    .where(eq(approvals.paymentId, at.paymentId))
    .orderBy(asc(approvalDecisions.id)),
)

export const mandateOf = prepare('receipts.mandate', { paymentId: 'uuid' }, (orm, at) =>
  orm
    .select({ mandate: intentMandates })
    .from(payments)
    .innerJoin(intentMandates, eq(intentMandates.id, payments.mandateId))
    .where(eq(payments.id, at.paymentId)),
)

/** The audit rows, each with the seal that covers it: the first seal at or after the row. As text: a comparison of two columns at once. */
export const auditOf = prepare('receipts.audit', { paymentId: 'uuid' }, (orm, at) =>
  orm
    .select({
      id: sql<Uuid>`a.id`,
      action: sql<string>`a.action`,
      at: sql<Date>`a.at`,
      inputs: sql<unknown>`case when a.action = 'payment.create' then a.after->'inputs' end`,
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
      sql`a.subject_id = any(array(select ${at.paymentId} union all select id from approvals where payment_id = ${at.paymentId}))`,
    )
    .orderBy(sql`a.transaction`, sql`a.id`),
)

/** The versions of policies, in the order in which they are asked for. As text: rows from lists. */
export const policyVersionsOf = prepare('receipts.policies', { ids: 'uuid[]', versions: 'int[]' }, (orm, at) =>
  orm
    .select({ document: sql<Readonly<Record<string, unknown>>>`v.document` })
    .from(
      sql`unnest(${at.ids}, ${at.versions}) with ordinality as w(id, version, place)
        join spending_policy_versions v on v.policy_id = w.id and v.version = w.version`,
    )
    .orderBy(sql`w.place`),
)
