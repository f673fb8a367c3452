import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import { lockFurtherAccounts } from '../../db/account-lock.ts'
import { type Db, first, type Tx } from '../../db/client.ts'
import { newestFirst, ownedBy } from '../../db/list-queries.ts'
import { prepare, type RowOf } from '../../db/prepare.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import { balanceAccountSql } from '../../db/tables/workspaces.ts'
import { presenter } from '../../http/presenter.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'
import { Mandate } from './schema.ts'

export type MandateRow = typeof intentMandates.$inferSelect

const withUsage = (orm: QueryBuilder) =>
  orm
    .select({
      ...getTableColumns(intentMandates),
      spentMinor: sql<Minor>`coalesce(${usageCounters.usedMinor}, 0)`.mapWith(usageCounters.usedMinor),
      paymentsMade: sql<number>`coalesce(${usageCounters.payments}, 0)::int`,
      balanceAccountId: sql<Uuid>`(select ${sql.raw(balanceAccountSql('w'))} from workspaces w where w.id = ${intentMandates.workspaceId})`,
    })
    .from(intentMandates)
    .leftJoin(usageCounters, and(eq(usageCounters.subjectId, intentMandates.id), eq(usageCounters.period, 'total')))

const byId = prepare('mandates.by_id', { id: 'uuid', workspaceId: 'uuid?' }, (orm, param) =>
  withUsage(orm).where(
    and(eq(intentMandates.id, param.id), param.workspaceId && eq(intentMandates.workspaceId, param.workspaceId)),
  ),
)
const byNonce = prepare('mandates.by_nonce', { nonce: 'text' }, (orm, param) =>
  withUsage(orm).where(eq(intentMandates.nonce, param.nonce)),
)

/** Includes the total of payments that count against the mandate. Payments that ended unpaid do not count. */
export type MandateRecord = RowOf<typeof byId>

/** `workspaceId`: omitted for signatures and the public text, which name no workspace. */
export const findMandate = (db: Db, id: Uuid, workspaceId?: Uuid): Promise<MandateRecord | undefined> =>
  first(db, byId, { id, workspaceId })

export const findMandateByNonce = (db: Db, nonce: string): Promise<MandateRecord | undefined> => first(db, byNonce, { nonce })

/** A mandate is expired after its end, even before the sweep has recorded it. */
export const mandateStatus = (mandate: Pick<MandateRow, 'status' | 'expiresAt'>, at: Date): MandateRow['status'] =>
  mandate.status === 'active' && mandate.expiresAt <= at ? 'expired' : mandate.status

/** `status`: a result of `mandateStatus`. */
export const mandateList = prepare(
  'mandates.list',
  { workspaceId: 'uuid', status: 'text?', at: 'timestamptz', before: 'uuid?', take: 'rows' },
  'page',
  (orm, param) =>
    newestFirst(
      withUsage(orm),
      { owner: intentMandates.workspaceId, id: intentMandates.id },
      param,
      ownedBy(intentMandates.workspaceId, param.workspaceId),
      param.status &&
        sql`case when ${intentMandates.status} = 'active' and ${intentMandates.expiresAt} <= ${param.at} then 'expired'
          else ${intentMandates.status} end = ${param.status}`,
    ),
)

/**
 * Locks the paying account first, as does every writer of its money and its counters. The mandate is read afterwards, with its
 * current counter.
 */
export const lockMandate = async (tx: Tx, id: Uuid, workspaceId?: Uuid): Promise<MandateRecord | undefined> => {
  const unlocked = await findMandate(tx, id, workspaceId)
  if (!unlocked) return undefined
  await lockFurtherAccounts(tx, unlocked.balanceAccountId)
  await tx.query('select 1 from intent_mandates where id = $1 for update', [id])
  return findMandate(tx, id)
}

const shown = presenter(Mandate)
export const presentMandate = (mandate: MandateRecord, at: Date): Mandate =>
  shown(mandate, { status: mandateStatus(mandate, at) })
