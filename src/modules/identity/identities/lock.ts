import { eq } from 'drizzle-orm'
import { first, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { emailKey } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { IdentityRecord } from './queries.ts'

type Named = Pick<IdentityRecord, 'provider' | 'issuer' | 'subjectKey'>
type WithEmail = Pick<IdentityRecord, 'email' | 'emailVerified'>

/** In the form that is compared. */
export const verifiedEmail = ({ email, emailVerified }: WithEmail): string | null =>
  email && emailVerified ? emailKey(email) : null

const emailName = (email: string) => `email:${email}`

export const identityName = ({ provider, issuer, subjectKey }: Named): string => `identity:${provider}:${issuer}:${subjectKey}`

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

export const lockEmails = (tx: Tx, emails: readonly string[]): Promise<void> => lockNames(tx, emails.map(emailName))

const lockRow = prepare('accounts.lock_identities', { id: 'uuid' }, (orm, at) =>
  orm
    .select({ status: accounts.status, email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, at.id))
    .for('no key update'),
)

/**
 * Guards an account's set of identities and its e-mail. NO KEY UPDATE: inserting an identity or a session takes KEY SHARE on this row,
 * and two that hold that and both want FOR UPDATE would wait for each other.
 */
export const lockAccount = async (tx: Tx, accountId: Uuid) => {
  const account = await first(tx, lockRow, { id: accountId })
  if (!account) throw new Error('an account that must exist is missing')
  return account
}
