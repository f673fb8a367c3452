import { eq } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { prepareWrite } from '../../../db/prepare-write.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { notFound, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { lockAccountRow } from '../accounts/queries.ts'
import { linkingGrantOf, requireSignInAuthority } from '../sessions/authority.ts'
import { revokeSessions } from '../sessions/service.ts'
import { lockIdentities, recomputeAccountEmail } from './lock.ts'
import { type IdentityRecord, listIdentities, presentIdentity } from './queries.ts'

type DetachDeps = Pick<Parts, 'config' | 'onAuthorityLost'>

const removeRow = prepareWrite('identities.remove', { id: 'uuid' }, (orm, at) =>
  orm.delete(identities).where(eq(identities.id, at.id)),
)

/** Sessions that began with it end too, and what a wallet signed counts no more: a stolen sign-in method leaves nothing behind. */
const detach = async (tx: Tx, deps: DetachDeps, actor: Actor, identity: IdentityRecord): Promise<void> => {
  const at = tx.at
  const { id, accountId, provider, subject } = identity
  await revokeSessions(tx, deps.config, actor, { accountId, identityId: id })
  tx.defer(tx.run(removeRow, { id }))
  await recomputeAccountEmail(tx, accountId, at)
  await appendEvents(tx, [{ type: 'identity.unlinked', accountId, workspaceId: null, data: presentIdentity(identity) }])
  audit(tx, actor, 'identity.unlink', { subject: id, before: { provider, subject } })
  if (provider === 'wallet') await deps.onAuthorityLost(tx, actor, accountId)
}

/**
 * An account's identities, read under its lock. Their names, and those of all e-mails that may move to another account, are locked first.
 */
const lockAttached = async (tx: Tx, accountId: Uuid): Promise<IdentityRecord[]> => {
  await lockIdentities(tx, await listIdentities(tx, { accountId }))
  await lockAccountRow(tx, accountId)
  return listIdentities(tx, { accountId })
}

/** Detaches every sign-in method of an account that is closed by its owner. */
export const detachAll = async (tx: Tx, deps: DetachDeps, principal: Principal): Promise<void> => {
  for (const identity of await lockAttached(tx, principal.accountId)) await detach(tx, deps, principal, identity)
}

/** Detaches those of these sign-in methods that the account still has. */
export const detachThese = async (tx: Tx, deps: DetachDeps, principal: Principal, ids: readonly Uuid[]): Promise<void> => {
  if (ids.length === 0) return
  const attached = await lockAttached(tx, principal.accountId)
  for (const identity of attached.filter(({ id }) => ids.includes(id))) await detach(tx, deps, principal, identity)
}

/** Detaches a sign-in method. Of two removals at the same time, the second sees the result of the first, so one method always stays. */
export const unlinkIdentity = async (tx: Tx, deps: DetachDeps, principal: Principal, id: Uuid): Promise<IdentityRecord> => {
  await requireSignInAuthority(tx, deps.config, principal)
  const attached = await lockAttached(tx, principal.accountId)
  const identity = attached.find((candidate) => candidate.id === id)
  if (!identity) throw notFound()
  const others = attached.filter((other) => other !== identity)
  // What a key links ends with the key, so neither the key nor a session that began with what it linked may leave only such methods behind:
  // its end would lock the person out, or leave the account to whoever had the key.
  const behind = await linkingGrantOf(tx, principal)
  const staying = behind === null ? others : others.filter((other) => other.linkedByGrantId === null)
  if (staying.length === 0) throw new Refusal('last_identity')
  await detach(tx, deps, principal, identity)
  return identity
}

/**
 * Runs when grants were revoked: the sign-in methods that they linked are detached, and their sessions end. The last sign-in method of an
 * account stays, without its sessions. The caller has locked the grants.
 */
export const detachLinkedBy = async (
  tx: Tx,
  deps: DetachDeps,
  actor: Actor,
  { accountId, grantIds }: { accountId: Uuid; grantIds: readonly Uuid[] },
): Promise<void> => {
  const isLinked = ({ linkedByGrantId }: IdentityRecord) => linkedByGrantId !== null && grantIds.includes(linkedByGrantId)
  if (!(await listIdentities(tx, { accountId })).some(isLinked)) return
  let attached = await lockAttached(tx, accountId)
  for (const identity of attached.filter(isLinked)) {
    if (attached.length === 1) {
      await revokeSessions(tx, deps.config, actor, { accountId, identityId: identity.id })
      return
    }
    await detach(tx, deps, actor, identity)
    attached = attached.filter((other) => other !== identity)
  }
}
