import { and, eq, ne } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { emailKeyOf } from '../../../db/email-key.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { lockAccount, lockEmails, verifiedEmail } from './lock.ts'
import { listIdentities } from './queries.ts'

const isTaken = async (tx: Tx, accountId: Uuid, email: string): Promise<boolean> => {
  const others = await tx.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(emailKeyOf(accounts.email), email), ne(accounts.id, accountId)))
  return others.length > 0
}

/**
 * Runs after every change of an account's identities. The account keeps its e-mail while one of them verifies it; else it gets the e-mail
 * of the oldest identity whose verified e-mail no other account has; else it has none.
 */
export const recomputeAccountEmail = async (tx: Tx, accountId: Uuid, at: Date): Promise<void> => {
  const { email: current } = await lockAccount(tx, accountId)
  const vouched = (await listIdentities(tx, accountId)).filter((identity) => verifiedEmail(identity) !== null)
  if (vouched.some((identity) => verifiedEmail(identity) === (current === null ? null : emailKey(current)))) return
  await lockEmails(
    tx,
    vouched.flatMap((identity) => verifiedEmail(identity) ?? []),
  )
  let next: string | null = null
  for (const identity of vouched) next ??= (await isTaken(tx, accountId, verifiedEmail(identity) ?? '')) ? null : identity.email
  if (next === current) return
  await tx.orm.update(accounts).set({ email: next, updatedAt: at }).where(eq(accounts.id, accountId))
}
