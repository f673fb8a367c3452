import { statement, type Tx } from '../../../db/client.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { recomputeAccountEmail } from './email.ts'
import { presentIdentity } from './present.ts'
import type { IdentityProof } from './proof.ts'
import type { IdentityRecord } from './queries.ts'

const insert = statement(
  'identities.insert',
  `insert into identities (id, account_id, provider, issuer, subject, subject_key, email, email_verified, display_name, chain_id, linked_by_grant_id,
     created_at, last_used_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`,
)

type Attached = { accountId: Uuid; proof: IdentityProof; linkedByGrantId: Uuid | null }

/** The first identity of a new account, whose e-mail is the identity's. Nothing is waited for. */
export const attachFirstIdentity = (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents'>,
  actor: Actor,
  { accountId, proof, linkedByGrantId }: Attached,
): IdentityRecord => {
  const { at } = tx
  const { provider, issuer, subject, subjectKey, email, emailVerified, displayName, chainId } = proof
  const identity = { id: newId(), accountId, ...proof, linkedByGrantId, createdAt: at, lastUsedAt: at }
  const named = [identity.id, accountId, provider, issuer, subject, subjectKey]
  tx.defer(tx.query(insert, [...named, email, emailVerified, displayName, chainId, linkedByGrantId, at]))
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
