import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { verifiedEmail } from './lock.ts'
import type { IdentityProof } from './proof.ts'
import { findIdentity, type IdentityRecord } from './queries.ts'

export type Match = { accountId: Uuid; existing: IdentityRecord | null }

/** Only an account's own, and so verified, e-mail is matched: one that somebody merely claimed can't catch its owner later. */
const matchByEmail = async (tx: Tx, proof: IdentityProof): Promise<Match | null> => {
  const email = verifiedEmail(proof)
  if (email === null) return null
  const [match] = await tx.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(sql`lower(${accounts.email})`, email))
  return match ? { accountId: match.id, existing: null } : null
}

/** Whose account a sign-in is for: the linked pair's, else the one with the verified e-mail, else nobody's yet. */
export const findMatch = async (tx: Tx, proof: IdentityProof): Promise<Match | null> => {
  const existing = await findIdentity(tx, proof)
  return existing ? { accountId: existing.accountId, existing } : matchByEmail(tx, proof)
}
