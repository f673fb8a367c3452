import { and, eq, sql } from 'drizzle-orm'
import { type Db, first } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { selectRow } from '../../db/select-rows.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { railAttempts } from '../../db/tables/payments.ts'
import { topups } from '../../db/tables/topups.ts'
import { readDepositCode } from '../../lib/deposit-code.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Provider } from '../../lib/rail-names.ts'
import { receiptKey } from '../../lib/text.ts'

export type DepositRecord = typeof deposits.$inferSelect

export const findDeposit = selectRow('deposits.by_id', deposits, ['id'])
export const lockDeposit = selectRow('deposits.lock', deposits, ['id'], { lock: 'update' })
export const lockDepositOfSuspense = selectRow('deposits.lock_by_suspense', deposits, ['suspenseId'], { lock: 'update' })

const withReceipts = prepare('deposits.with_receipts', { provider: 'text', receipts: 'text[]' }, (orm, at) =>
  orm
    .select({ receipt: deposits.receipt })
    .from(deposits)
    .where(and(eq(deposits.provider, at.provider), sql`${deposits.receipt} = any(${at.receipts})`)),
)

/** Those of these receipts that are stored, by their keys. */
export const knownReceipts = async (db: Db, provider: Provider, told: readonly { receipt: string }[]): Promise<string[]> => {
  const receipts = told.flatMap(({ receipt }) => [receipt, receipt.toUpperCase(), receipt.toLowerCase()])
  return (await db.run(withReceipts, { provider, receipts })).map(({ receipt }) => receiptKey(receipt))
}

const topupByCode = selectRow('topups.by_deposit_code', topups, ['depositCode'])

const attemptByReference = prepare('rail_attempts.topup_by_reference', { reference: 'text' }, (orm, at) =>
  orm
    .select({ id: railAttempts.id, topupId: railAttempts.subjectId })
    .from(railAttempts)
    .where(and(eq(railAttempts.reference, at.reference), sql`${railAttempts.send} = 1`, eq(railAttempts.kind, 'topup'))),
)

/** What a typed account number means: the top-up of a deposit, or the attempt of a prompt; undefined when nothing here has it. */
export const findByReference = async (
  db: Db,
  reference: string,
): Promise<{ topupId: Uuid; attemptId: Uuid | null } | undefined> => {
  const code = readDepositCode(reference)
  if (code !== undefined) {
    const topup = await topupByCode(db, { depositCode: code })
    return topup && { topupId: topup.id, attemptId: null }
  }
  const digits = reference.replace(/\s/g, '')
  if (!/^\d{12}$/.test(digits)) return undefined
  const attempt = await first(db, attemptByReference, { reference: digits })
  return attempt && { topupId: attempt.topupId, attemptId: attempt.id }
}

export const hasOpenDeposits = async (db: Db): Promise<boolean> => {
  const [open] = await db.query<{ yes: boolean }>(
    `select exists (select from topups where status in ('pending', 'expired') and deposit_code is not null) as yes`,
  )
  return open?.yes ?? false
}
