import type { Tx } from '../../../db/client.ts'
import { prepareInsert, prepareUpdate } from '../../../db/prepare-write.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { recomputeAccountEmail } from './email.ts'
import { presentIdentity } from './present.ts'
import type { IdentityProof } from './proof.ts'
import type { IdentityRecord } from './queries.ts'

const insertIdentity = prepareInsert('identities.insert', identities)

type Attached = { accountId: Uuid; proof: IdentityProof; linkedByGrantId: Uuid | null }

/** The first identity of a new account, whose e-mail is the identity's. Nothing is waited for. */
export const attachFirstIdentity = (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  { accountId, proof, linkedByGrantId }: Attached,
): IdentityRecord => {
  const { at } = tx
  const { provider, subject } = proof
  const identity = { id: newId(), accountId, ...proof, linkedByGrantId, createdAt: at, lastUsedAt: at }
  insertIdentity(tx, identity)
  tx.defer(
    deps.appendEvents(tx, at, [{ type: 'identity.linked', accountId, workspaceId: null, data: presentIdentity(identity) }]),
  )
  tx.defer(
    audit(tx, actor, at, {
      action: 'identity.link',
      subject: { type: 'identity', id: identity.id },
      after: { provider, subject, ...(linkedByGrantId && { linked_by: formatId('grant', linkedByGrantId) }) },
    }),
  )
  return identity
}

export const attachIdentity = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  attached: Attached,
): Promise<IdentityRecord> => {
  const identity = attachFirstIdentity(tx, deps, actor, attached)
  await recomputeAccountEmail(tx, attached.accountId, tx.at)
  return identity
}

const touchRow = prepareUpdate('identities.note_proof', identities, ['lastUsedAt', 'email', 'emailVerified', 'displayName'])

/** What the provider says now: an e-mail that it no longer verifies stops being the account's. */
export const touchIdentity = async (tx: Tx, identity: IdentityRecord, proof: IdentityProof): Promise<IdentityRecord> => {
  const { email, emailVerified } = proof
  const fresh = { lastUsedAt: tx.at, email, emailVerified, displayName: proof.displayName ?? identity.displayName }
  touchRow(tx, identity.id, fresh)
  await recomputeAccountEmail(tx, identity.accountId, fresh.lastUsedAt)
  return { ...identity, ...fresh }
}
