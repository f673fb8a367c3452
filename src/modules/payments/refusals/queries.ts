import { eq, sql } from 'drizzle-orm'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { createdBetween } from '../../../db/created-between.ts'
import { newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { prepare, type Values } from '../../../db/prepare.ts'
import { selectAmong } from '../../../db/select-rows.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { grants } from '../../../db/tables/grants.ts'
import { paymentRefusals } from '../../../db/tables/payment-refusals.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type RefusalRow = typeof paymentRefusals.$inferSelect
export type Payee = Pick<typeof beneficiaries.$inferSelect, 'displayName' | 'destinationMask'>
/** The names of the beneficiary and of the key or agent, as they are when this is read. */
export type RefusalRecord = { refusal: RefusalRow; payee: Payee | null; label: string | null }

const filters = {
  beneficiaryId: 'uuid?',
  grantId: 'uuid?',
  initiatorAccountId: 'uuid?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
} as const

const list = prepare(
  'payment_refusals.list',
  { workspaceId: 'uuid', within: 'uuid?', ...filters, before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm
        .select({
          refusal: paymentRefusals,
          payee: { displayName: beneficiaries.displayName, destinationMask: beneficiaries.destinationMask },
          label: grants.label,
        })
        .from(paymentRefusals)
        .leftJoin(beneficiaries, eq(beneficiaries.id, paymentRefusals.beneficiaryId))
        .leftJoin(grants, eq(grants.id, paymentRefusals.grantId)),
      { owner: paymentRefusals.workspaceId, id: paymentRefusals.id },
      at,
      ownedBy(paymentRefusals.workspaceId, at.workspaceId),
      at.within &&
        sql`exists (select from grants g where g.id = ${paymentRefusals.grantId} and (g.id = ${at.within} or g.ancestor_ids @> array[${at.within}]))`,
      at.beneficiaryId && eq(paymentRefusals.beneficiaryId, at.beneficiaryId),
      at.grantId && eq(paymentRefusals.grantId, at.grantId),
      at.initiatorAccountId && eq(paymentRefusals.initiatorAccountId, at.initiatorAccountId),
      createdBetween(
        {
          id: paymentRefusals.id,
          at: paymentRefusals.createdAt,
          owner: { column: paymentRefusals.workspaceId, id: at.workspaceId },
        },
        at.createdAfter,
        at.createdBefore,
      ),
    ),
  'page',
)

/** `within`: the grant of a delegated reader, which sees what it and the grants below it asked for. */
export const listRefusals = (
  db: Db,
  workspaceId: Uuid,
  page: PageRequest,
  filter: Values<typeof filters> & { within: Uuid | null },
): Promise<RefusalRecord[]> => db.run(list, { workspaceId, ...filter, ...page })

/** Of one grant, or of one person without a grant, in 24 hours. */
export const mostRecent = 1_000

const countRecent = statement(
  'payment_refusals.count_recent',
  `select asking, (select count(*) from (
     select from payment_refusals r where coalesce(r.grant_id, r.initiator_account_id) = asking and r.created_at > $2 limit ${mostRecent}) as recent)::int as count
   from unnest($1::uuid[]) as asking`,
)

/** How many of each are recent. It counts no further than `mostRecent`. */
export const countRefusals = async (tx: Tx, asking: readonly Uuid[], since: Date): Promise<Map<Uuid, number>> => {
  const rows = await tx.query<{ asking: Uuid; count: number }>(countRecent, [asking, since])
  return new Map(rows.map(({ asking, count }) => [asking, count]))
}

export const findGrants = selectAmong('payment_refusals.grants', grants, 'id')
