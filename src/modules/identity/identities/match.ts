import { and, eq, sql } from 'drizzle-orm'
import { first, type Tx } from '../../../db/client.ts'
import { emailKeyOf } from '../../../db/email-key.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { verifiedEmail } from './lock.ts'
import type { IdentityProof } from './proof.ts'
import { findIdentity, type IdentityRecord } from './queries.ts'

/**
 * `linkedByGrantId`: the grant that links a new identity, when every identity that verifies its e-mail on this account was linked by a
 * grant.
 */
export type Match = { accountId: Uuid; existing: IdentityRecord | null; linkedByGrantId: Uuid | null }

/** The attached identities whose provider has verified this e-mail. */
const verifiedBy = prepare('identities.with_email', { email: 'text' }, (orm, at) =>
  orm
    .select({ accountId: identities.accountId, linkedByGrantId: identities.linkedByGrantId })
    .from(identities)
    .where(and(eq(emailKeyOf(identities.email), at.email), sql`${identities.emailVerified}`)),
)

const accountWith = prepare('accounts.with_email', { email: 'text' }, (orm, at) =>
  orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(emailKeyOf(accounts.email), at.email)),
)

/**
 * The account with this e-mail, else the only account with an attached identity that has it. Only e-mails that a provider has verified are
 * compared: an unverified one never leads its real owner into another account.
 */
const matchByEmail = async (tx: Tx, proof: IdentityProof): Promise<Match | null> => {
  const email = verifiedEmail(proof)
  if (email === null) return null
  const [owner, matches] = await Promise.all([first(tx, accountWith, { email }), tx.run(verifiedBy, { email })])
  const candidates = new Set(owner ? [owner.id] : matches.map(({ accountId }) => accountId))
  const [accountId, ...others] = candidates
  if (accountId === undefined || others.length > 0) return null
  const own = matches.filter((carrier) => carrier.accountId === accountId)
  const byPerson = own.some(({ linkedByGrantId }) => linkedByGrantId === null)
  return { accountId, existing: null, linkedByGrantId: byPerson ? null : (own[0]?.linkedByGrantId ?? null) }
}

/** The account that a sign-in is for: the linked identity's, else the one with the verified e-mail, else a new one. */
export const findMatch = async (tx: Tx, proof: IdentityProof): Promise<Match | null> => {
  const existing = await findIdentity(tx, proof)
  return existing ? { accountId: existing.accountId, existing, linkedByGrantId: null } : matchByEmail(tx, proof)
}
