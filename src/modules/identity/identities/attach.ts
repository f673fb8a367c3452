import { eq } from 'drizzle-orm'
import type { Tx } from '../../../db/client.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { recomputeAccountEmail } from './email.ts'
import { presentIdentity } from './present.ts'
import type { IdentityProof } from './proof.ts'
import type { IdentityRecord } from './queries.ts'

export const attachIdentity = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  { accountId, proof, linkedByGrantId }: { accountId: Uuid; proof: IdentityProof; linkedByGrantId: Uuid | null },
): Promise<IdentityRecord> => {
  const { at } = tx
  const [identity] = await tx.orm
    .insert(identities)
    .values({ id: newId(), accountId, ...proof, linkedByGrantId, createdAt: at, lastUsedAt: at })
    .returning()
  if (!identity) throw new Error('an inserted identity was not returned')
  await recomputeAccountEmail(tx, accountId, at)
  await deps.appendEvents(tx, at, [{ type: 'identity.linked', accountId, workspaceId: null, data: presentIdentity(identity) }])
  const { provider, subject } = proof
  await audit(tx, actor, at, {
    action: 'identity.link',
    subject: { type: 'identity', id: identity.id },
    after: { provider, subject, ...(linkedByGrantId && { linked_by: formatId('grant', linkedByGrantId) }) },
  })
  return identity
}

/** What the provider says now: an e-mail that it no longer verifies stops being the account's. */
export const touchIdentity = async (tx: Tx, identity: IdentityRecord, proof: IdentityProof): Promise<IdentityRecord> => {
  const { email, emailVerified } = proof
  const fresh = { lastUsedAt: tx.at, email, emailVerified, displayName: proof.displayName ?? identity.displayName }
  await tx.orm.update(identities).set(fresh).where(eq(identities.id, identity.id))
  await recomputeAccountEmail(tx, identity.accountId, fresh.lastUsedAt)
  return { ...identity, ...fresh }
}
