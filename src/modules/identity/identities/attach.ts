import { statement, type Tx } from '../../../db/client.ts'
import { prepareInsert } from '../../../db/prepare-write.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import { recomputeAccountEmail } from './email.ts'
import { presentIdentity } from './present.ts'
import type { IdentityProof } from './proof.ts'
import type { IdentityRecord } from './queries.ts'

const insertIdentity = prepareInsert('identities.insert', identities)

type Attached = Pick<IdentityRecord, 'accountId' | 'linkedByGrantId' | 'originSessionId'> & { proof: IdentityProof }

/** The first identity of a new account, whose e-mail is the identity's. Nothing is waited for. */
export const attachFirstIdentity = (
  tx: Tx,
  actor: Actor,
  { accountId, proof, linkedByGrantId, originSessionId }: Attached,
): IdentityRecord => {
  const { at } = tx
  const { provider, issuer, subject } = proof
  const identity = { id: newId(), accountId, ...proof, linkedByGrantId, originSessionId, createdAt: at, lastUsedAt: at }
  insertIdentity(tx, identity)
  tx.defer(appendEvents(tx, [{ type: 'identity.linked', accountId, workspaceId: null, data: presentIdentity(identity) }]))
  tx.defer(
    audit(tx, actor, at, {
      action: 'identity.link',
      subject: { type: 'identity', id: identity.id },
      after: { provider, issuer, subject, ...(linkedByGrantId && { linked_by: formatId('grant', linkedByGrantId) }) },
    }),
  )
  return identity
}

export const attachIdentity = async (tx: Tx, actor: Actor, attached: Attached): Promise<IdentityRecord> => {
  const identity = attachFirstIdentity(tx, actor, attached)
  await recomputeAccountEmail(tx, attached.accountId, tx.at)
  return identity
}

const noteProofs = statement(
  'identities.note_proofs',
  `update identities i set last_used_at = $5, email = p.email, email_verified = p.email_verified, display_name = coalesce(p.display_name, i.display_name)
   from unnest($1::uuid[], $2::text[], $3::boolean[], $4::text[]) as p(id, email, email_verified, display_name) where i.id = p.id`,
)

export type UsedIdentity = { id: Uuid; proof: IdentityProof }

/**
 * What the providers say now, of each identity once. Where an e-mail is verified no longer, or another one is, `recomputeAccountEmail` comes next.
 */
export const noteProofsOf = (tx: Tx, used: readonly UsedIdentity[]): void => {
  if (used.length === 0) return
  const proofs = used.map(({ proof }) => proof)
  tx.defer(
    tx.query(noteProofs, [
      used.map(({ id }) => id),
      proofs.map(({ email }) => email),
      proofs.map(({ emailVerified }) => `${emailVerified}`),
      proofs.map(({ displayName }) => displayName),
      tx.at,
    ]),
  )
}

/** An attached identity was proven again. */
export const touchIdentity = async (tx: Tx, identity: IdentityRecord, proof: IdentityProof): Promise<IdentityRecord> => {
  noteProofsOf(tx, [{ id: identity.id, proof }])
  await recomputeAccountEmail(tx, identity.accountId, tx.at)
  const { email, emailVerified } = proof
  return { ...identity, lastUsedAt: tx.at, email, emailVerified, displayName: proof.displayName ?? identity.displayName }
}
