import { and, eq, inArray, lte } from 'drizzle-orm'
import type { Db, Tx } from '../../../db/client.ts'
import { deposits } from '../../../db/tables/deposits.ts'
import { railAttempts, topups } from '../../../db/tables/payments.ts'
import { readDepositCode } from '../../../lib/deposit-code.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Provider } from '../../../lib/rail-names.ts'

export type DepositRecord = typeof deposits.$inferSelect

export const findDeposit = async (db: Db, id: Uuid): Promise<DepositRecord | undefined> =>
  (await db.orm.select().from(deposits).where(eq(deposits.id, id)))[0]

export const lockDeposit = async (tx: Tx, id: Uuid): Promise<DepositRecord | undefined> =>
  (await tx.orm.select().from(deposits).where(eq(deposits.id, id)).for('update'))[0]

export const lockDepositOfSuspense = async (tx: Tx, suspenseId: Uuid): Promise<DepositRecord | undefined> =>
  (await tx.orm.select().from(deposits).where(eq(deposits.suspenseId, suspenseId)).for('update'))[0]

/** Stored and not booked: its process ended in between, or booking failed. */
export const listUnsettled = async (db: Db, before: Date, take: number): Promise<Uuid[]> =>
  (
    await db.orm
      .select({ id: deposits.id })
      .from(deposits)
      .where(and(eq(deposits.state, 'received'), lte(deposits.receivedAt, before)))
      .orderBy(deposits.receivedAt)
      .limit(take)
  ).map(({ id }) => id)

/** Those of these receipts that are stored. */
export const knownReceipts = async (db: Db, provider: Provider, receipts: readonly string[]): Promise<Set<string>> =>
  new Set(
    (
      await db.orm
        .select({ receipt: deposits.receipt })
        .from(deposits)
        .where(and(eq(deposits.provider, provider), inArray(deposits.receipt, [...receipts])))
    ).map(({ receipt }) => receipt),
  )

/** What a typed account number means: the top-up of a deposit, or the attempt of a prompt; undefined when nothing here has it. */
export const findByReference = async (
  db: Db,
  reference: string,
): Promise<{ topupId: Uuid; attemptId: Uuid | null } | undefined> => {
  const code = readDepositCode(reference)
  if (code !== undefined) {
    const [topup] = await db.orm.select({ id: topups.id }).from(topups).where(eq(topups.depositCode, code))
    return topup && { topupId: topup.id, attemptId: null }
  }
  const digits = reference.replace(/\s/g, '')
  if (!/^\d{12}$/.test(digits)) return undefined
  const [attempt] = await db.orm
    .select({ id: railAttempts.id, topupId: railAttempts.subjectId })
    .from(railAttempts)
    .where(and(eq(railAttempts.reference, digits), eq(railAttempts.kind, 'topup')))
  return attempt && { topupId: attempt.topupId, attemptId: attempt.id }
}

export const hasOpenDeposits = async (db: Db): Promise<boolean> => {
  const [open] = await db.query<{ yes: boolean }>(
    `select exists (select from topups where status in ('pending', 'expired') and deposit_code is not null) as yes`,
  )
  return open?.yes ?? false
}
