import { and, eq, ne } from 'drizzle-orm'
import { statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { updateRow } from '../../../db/prepare-write.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { emailKeyOf } from '../../../db/tables/columns.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { lockAccountRow } from '../accounts/queries.ts'
import { type IdentityRecord, listIdentities } from './queries.ts'

type Named = Pick<IdentityRecord, 'provider' | 'issuer' | 'subjectKey'>
type WithEmail = Pick<IdentityRecord, 'email' | 'emailVerified'>

/** In the form that is compared. */
export const verifiedEmail = ({ email, emailVerified }: WithEmail): string | null =>
  email && emailVerified ? emailKey(email) : null

const emailName = (email: string) => `email:${email}`

const identityName = ({ provider, issuer, subjectKey }: Named): string => `identity:${provider}:${issuer}:${subjectKey}`

const namesOf = (identity: Named & WithEmail): string[] => {
  const email = verifiedEmail(identity)
  return email === null ? [identityName(identity)] : [identityName(identity), emailName(email)]
}

const keyOfName = (name: string): string => `hashtextextended(${name}, 0)`

const lockName = statement('identities.lock_name', `select pg_advisory_xact_lock(${keyOfName('$1')})`)

/** A row that does not exist yet cannot be locked, so names are locked: of identities and of e-mails, in sorted order, before any row. */
const lockNames = async (tx: Tx, names: readonly string[]): Promise<void> => {
  await Promise.all([...new Set(names)].sort().map((name) => tx.query(lockName, [name])))
}

/** Of two first sign-ins with one identity, or two claims on one e-mail, at the same moment, the second one waits. */
export const lockIdentity = (tx: Tx, identity: Named & WithEmail): Promise<void> => lockNames(tx, namesOf(identity))

export const lockIdentities = (tx: Tx, all: readonly (Named & WithEmail)[]): Promise<void> =>
  lockNames(
    tx,
    all.flatMap((identity) => namesOf(identity)),
  )

const lockEmails = (tx: Tx, emails: readonly string[]): Promise<void> => lockNames(tx, emails.map(emailName))

const others = prepare('accounts.others_with_email', { email: 'text', accountId: 'uuid' }, (orm, at) =>
  orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(emailKeyOf(accounts.email), at.email), ne(accounts.id, at.accountId))),
)

const isTaken = async (tx: Tx, accountId: Uuid, email: string): Promise<boolean> =>
  (await tx.run(others, { accountId, email })).length > 0

/**
 * Runs after every change of an account's identities. The account keeps its e-mail while one of them verifies it; else it gets the e-mail
 * of the oldest identity whose verified e-mail no other account has; else it has none.
 */
export const recomputeAccountEmail = async (tx: Tx, accountId: Uuid, at: Date): Promise<void> => {
  const [{ email: current }, attached] = await Promise.all([lockAccountRow(tx, accountId), listIdentities(tx, { accountId })])
  const vouched = attached.filter((identity) => verifiedEmail(identity) !== null)
  if (vouched.some((identity) => verifiedEmail(identity) === (current === null ? null : emailKey(current)))) return
  await lockEmails(
    tx,
    vouched.flatMap((identity) => verifiedEmail(identity) ?? []),
  )
  let next: string | null = null
  for (const identity of vouched) next ??= (await isTaken(tx, accountId, verifiedEmail(identity) ?? '')) ? null : identity.email
  if (next === current) return
  updateRow(tx, accounts, { id: accountId }, { email: next, updatedAt: at })
}
