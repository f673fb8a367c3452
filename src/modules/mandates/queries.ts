import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm'
import { lockFurtherAccounts } from '../../db/account-lock.ts'
import type { Db, Tx } from '../../db/client.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { usageCounters } from '../../db/tables/policies.ts'
import type { PageRequest } from '../../http/pagination.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Minor } from '../../lib/money.ts'

export type MandateRow = typeof intentMandates.$inferSelect
/** With the sum of the payments that count against it: those that ended unpaid do not. */
export type MandateRecord = MandateRow & { spentMinor: Minor; paymentsMade: number }

const select = async (
  db: Db,
  where: SQL | undefined,
  page: PageRequest = { before: null, take: 1 },
): Promise<MandateRecord[]> => {
  const rows = await db.orm
    .select({ mandate: intentMandates, spent: usageCounters.usedMinor, payments: usageCounters.payments })
    .from(intentMandates)
    .leftJoin(usageCounters, and(eq(usageCounters.subjectId, intentMandates.id), eq(usageCounters.period, 'total')))
    .where(and(where, page.before === null ? undefined : lt(intentMandates.id, page.before)))
    .orderBy(desc(intentMandates.id))
    .limit(page.take)
  return rows.map(({ mandate, spent, payments }) => ({
    ...mandate,
    spentMinor: spent ?? 0n,
    paymentsMade: Number(payments ?? 0n),
  }))
}

/** By id alone: for signatures and the public text, which name no workspace. */
export const findMandate = async (db: Db, id: Uuid): Promise<MandateRecord | undefined> =>
  (await select(db, eq(intentMandates.id, id)))[0]

export const findMandateIn = async (db: Db, workspaceId: Uuid, id: Uuid): Promise<MandateRecord | undefined> =>
  (await select(db, and(eq(intentMandates.id, id), eq(intentMandates.workspaceId, workspaceId))))[0]

export const findMandateByNonce = async (db: Db, nonce: string): Promise<MandateRecord | undefined> =>
  (await select(db, eq(intentMandates.nonce, nonce)))[0]

/** The status to show: a mandate after its end is expired, even before the sweep has recorded it. */
export const mandateStatus = (mandate: Pick<MandateRow, 'status' | 'expiresAt'>, at: Date): MandateRow['status'] =>
  mandate.status === 'active' && mandate.expiresAt <= at ? 'expired' : mandate.status

/** The same in SQL. */
const hasStatus = (status: MandateRow['status'], at: Date): SQL => {
  if (status === 'expired')
    return sql`(${intentMandates.status} = 'expired' or (${intentMandates.status} = 'active' and ${intentMandates.expiresAt} <= ${at}))`
  return status === 'active'
    ? sql`${intentMandates.status} = 'active' and ${intentMandates.expiresAt} > ${at}`
    : eq(intentMandates.status, status)
}

export const listMandates = (
  db: Db,
  workspaceId: Uuid,
  at: Date,
  status: MandateRow['status'] | undefined,
  page: PageRequest,
): Promise<MandateRecord[]> => select(db, and(eq(intentMandates.workspaceId, workspaceId), status && hasStatus(status, at)), page)

/**
 * Locks the signer's account first, like every writer of its money, then the mandate. The mandate is read afterwards, so that its counter
 * is the one that the lock's last holder left.
 */
export const lockMandate = async (tx: Tx, id: Uuid): Promise<MandateRecord | undefined> => {
  const unlocked = await findMandate(tx, id)
  if (!unlocked) return undefined
  await lockFurtherAccounts(tx, unlocked.accountId)
  await tx.query('select 1 from intent_mandates where id = $1 for update', [id])
  return findMandate(tx, id)
}
