import { and, eq, ne } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { emailKeyOf } from '../../../db/tables/columns.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { lockAccount, lockEmails, verifiedEmail } from './lock.ts'
import { listIdentities } from './queries.ts'

const others = prepare('accounts.others_with_email', { email: 'text', accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(emailKeyOf(accounts.email), at.email), ne(accounts.id, at.accountId))),
)
const changeEmail = prepareUpdate('accounts.change_email', accounts, ['email', 'updatedAt'])

const isTaken = async (tx: Tx, accountId: Uuid, email: string): Promise<boolean> =>
  (await tx.run(others, { accountId, email })).length > 0

/**
 * Runs after every change of an account's identities. The account keeps its e-mail while one of them verifies it; else it gets the e-mail
 * of the oldest identity whose verified e-mail no other account has; else it has none.
 */
export const recomputeAccountEmail = async (tx: Tx, accountId: Uuid, at: Date): Promise<void> => {
  const [{ email: current }, attached] = await Promise.all([lockAccount(tx, accountId), listIdentities(tx, accountId)])
  const vouched = attached.filter((identity) => verifiedEmail(identity) !== null)
  if (vouched.some((identity) => verifiedEmail(identity) === (current === null ? null : emailKey(current)))) return
  await lockEmails(
    tx,
    vouched.flatMap((identity) => verifiedEmail(identity) ?? []),
  )
  let next: string | null = null
  for (const identity of vouched) next ??= (await isTaken(tx, accountId, verifiedEmail(identity) ?? '')) ? null : identity.email
  if (next === current) return
  changeEmail(tx, accountId, { email: next, updatedAt: at })
}
