import { sql } from 'drizzle-orm'
import { type Principal, requireFreshProof } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import { lockNames, requireLocked } from '../../../db/account-lock.ts'
import { first, type Tx } from '../../../db/client.ts'
import { insertRow, prepareWrite, updateRow } from '../../../db/prepare-write.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { emailKey } from '../../../lib/email-key.ts'
import { CommitThenThrow, catchRefusal, conflict, notFound, Refusal } from '../../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import { requireBelowBound } from '../../bounds.ts'
import type { Parts } from '../../parts.ts'
import { accountWithEmail, lockAccountRow } from '../accounts/queries.ts'
import { mailNewMethod } from '../security-mail.ts'
import {
  type Initiator,
  renewProof,
  requireSignInAuthority,
  revokeSessions,
  signInAuthorityRefusal,
} from '../sessions/service.ts'
import {
  findIdentity,
  type IdentityProof,
  type IdentityRecord,
  listIdentities,
  presentIdentity,
  readOwnMethods,
} from './queries.ts'

type NamedIdentity = Pick<IdentityRecord, 'provider' | 'issuer' | 'subjectKey' | 'email' | 'emailVerified'>

export const verifiedEmail = ({ email, emailVerified }: Pick<NamedIdentity, 'email' | 'emailVerified'>): string | null =>
  email && emailVerified ? emailKey(email) : null

const emailsOf = (all: readonly NamedIdentity[]): string[] => all.flatMap((identity) => verifiedEmail(identity) ?? [])

const emailName = (email: string): string => `email:${email}`

/**
 * Locks the names of an identity and of its e-mail, in sorted order, before any row, because a row that does not exist yet
 * cannot be locked. The second of two first sign-ins with one identity, or of two claims on one e-mail, waits.
 */
export const lockIdentity = (tx: Tx, identity: NamedIdentity): Promise<unknown> => {
  const { provider, issuer, subjectKey } = identity
  return lockNames(tx, `identity:${provider}:${issuer}:${subjectKey}`, ...emailsOf([identity]).map(emailName))
}

/**
 * The account keeps its e-mail while one of its identities verifies it. Otherwise, it takes the verified e-mail of its oldest
 * identity whose e-mail no other account has, or none.
 */
export const recomputeAccountEmail = async (tx: Tx, accountId: Uuid): Promise<void> => {
  const [{ email: current }, attached] = await Promise.all([lockAccountRow(tx, accountId), listIdentities(tx, { accountId })])
  const emails = emailsOf(attached)
  if (current === null ? emails.length === 0 : emails.includes(emailKey(current))) return
  await lockNames(tx, ...emails.map(emailName))
  let next: string | null = null
  for (const identity of attached) {
    const email = verifiedEmail(identity)
    if (next !== null || email === null) continue
    const owner = await first(tx, accountWithEmail, { email })
    if (owner === undefined || owner.id === accountId) next = identity.email
  }
  if (next !== current) updateRow(tx, accounts, { id: accountId }, { email: next, updatedAt: tx.at })
}

type NewIdentity = Pick<IdentityRecord, 'accountId' | 'linkedByGrantId' | 'originSessionId'> & { proof: IdentityProof }

/** If the account has other identities, the caller runs `recomputeAccountEmail` next. */
export const attachIdentity = (tx: Tx, actor: Actor, { accountId, proof, linkedByGrantId, originSessionId }: NewIdentity) => {
  const { at } = tx
  const { provider, issuer, subject } = proof
  const identity = { id: newId(), accountId, ...proof, linkedByGrantId, originSessionId, createdAt: at, lastUsedAt: at }
  insertRow(tx, identities, identity)
  tx.defer(appendEvents(tx, [{ type: 'identity.linked', accountId, workspaceId: null, data: presentIdentity(identity) }]))
  audit(tx, actor, 'identity.link', {
    subject: identity.id,
    after: { provider, issuer, subject, ...(linkedByGrantId && { linked_by: formatId('grant', linkedByGrantId) }) },
  })
  return identity
}

/** Records a new proof of an attached identity. If its verified e-mail changes, the caller runs `recomputeAccountEmail`. */
export const recordProof = (tx: Tx, identity: IdentityRecord, proof: IdentityProof): IdentityRecord => {
  const { email, emailVerified } = proof
  const displayName = proof.displayName ?? identity.displayName
  const changes = { lastUsedAt: tx.at, email, emailVerified, displayName }
  // A mail server rejected the earlier address, not this one.
  if (emailKey(email ?? '') !== emailKey(identity.email ?? ''))
    return updateRow(tx, identities, identity, { ...changes, mailRefusedAt: null })
  return updateRow(tx, identities, identity, changes)
}

/** `status`: read under the account's lock. `isLinked`: the account already has the identity. Null: the sign-in is allowed. */
export const statusRefusal = (status: string, isLinked: boolean): Refusal | null => {
  if (status === 'closed') return new Refusal('account_frozen', { message: 'This account is closed.' })
  // People can still read a frozen account, but cannot add a sign-in method.
  return status === 'frozen' && !isLinked ? new Refusal('account_frozen') : null
}

/** Refuses a new method without fresh proof: a method that a thief's session linked would outlive the session. */
export const newMethodRefusal = (initiator: Initiator, now: Date): Refusal | null => {
  const unproven = catchRefusal(() => requireFreshProof(initiator, now))
  if (!(unproven instanceof Refusal)) return null
  if (initiator.proof === 'never') return unproven
  const message =
    'This sign-in method is not linked to the account, so it does not prove whose session this is. Confirm with one that is, then link this one.'
  return new Refusal('step_up_required', { message, ...(unproven.details && { details: unproven.details }) })
}

/**
 * Links a proven identity. If it belongs to another account, the answer does not say to which. `provesSession`: an identity that
 * is already attached proves the initiator's session.
 */
export const linkIdentity = async (
  tx: Tx,
  config: Config,
  actor: Actor,
  { provesSession, ...initiator }: Initiator & { provesSession: boolean },
  proof: IdentityProof,
) => {
  const { accountId, originGrantId: linkedByGrantId, originSessionId } = initiator
  const unauthorized = await signInAuthorityRefusal(tx, config, initiator)
  await lockIdentity(tx, proof)
  const { status } = await lockAccountRow(tx, accountId)
  const existing = await findIdentity(tx, proof)
  const ofAnother = existing !== undefined && existing.accountId !== accountId
  const refusal =
    unauthorized ??
    statusRefusal(status, false) ??
    (ofAnother ? conflict('This identity belongs to another account.', 'identity') : null)
  if (refusal) {
    audit(tx, actor, 'identity.link_refused', { after: { provider: proof.provider, reason: refusal.message } })
    throw new CommitThenThrow(refusal)
  }
  if (existing) {
    const isOwn = existing.linkedByGrantId === null || (await readOwnMethods(tx, accountId)).has(existing.id)
    if (provesSession) await renewProof(tx, actor, initiator, { ...existing, isOwn })
    const identity = recordProof(tx, existing, proof)
    await recomputeAccountEmail(tx, accountId)
    return { outcome: 'already_linked' as const, identity }
  }
  const unproven = newMethodRefusal(initiator, tx.at)
  if (unproven) throw unproven
  await requireBelowBound(tx, 'identities', accountId)
  const identity = attachIdentity(tx, actor, { accountId, proof, linkedByGrantId, originSessionId })
  mailNewMethod(tx, identity)
  await recomputeAccountEmail(tx, accountId)
  return { outcome: 'linked' as const, identity }
}

type DetachDeps = Pick<Parts, 'config' | 'onAuthorityLost'>

const removeRows = prepareWrite('identities.remove', { ids: 'uuid[]' }, (orm, param) =>
  orm.delete(identities).where(sql`${identities.id} = any(${param.ids})`),
)

/** Ends the sessions of the account's identities and voids their wallets' signatures: a stolen method leaves nothing behind. */
const detach = async (tx: Tx, deps: DetachDeps, actor: Actor, accountId: Uuid, detached: readonly IdentityRecord[]) => {
  if (detached.length === 0) return
  const ids = detached.map(({ id }) => id)
  await revokeSessions(tx, deps.config, actor, { accountId, identityIds: ids })
  tx.defer(tx.run(removeRows, { ids }))
  await recomputeAccountEmail(tx, accountId)
  const eventOf = (identity: IdentityRecord) =>
    ({ type: 'identity.unlinked', accountId, workspaceId: null, data: presentIdentity(identity) }) as const
  await appendEvents(tx, detached.map(eventOf))
  for (const { id, provider, subject } of detached)
    audit(tx, actor, 'identity.unlink', { subject: id, before: { provider, subject } })
  if (detached.some(({ provider }) => provider === 'wallet')) await deps.onAuthorityLost(tx, actor, accountId)
}

/**
 * Returns the identities, which stay as they are while the account is locked: a sign-in with one of them waits for that lock too.
 * Also locks their e-mails, because an e-mail may move to another account.
 */
const lockIdentitiesOf = async (tx: Tx, accountId: Uuid): Promise<IdentityRecord[]> => {
  requireLocked(tx, [accountId])
  const attached = await listIdentities(tx, { accountId })
  await lockNames(tx, ...emailsOf(attached).map(emailName))
  await lockAccountRow(tx, accountId)
  return attached
}

export const detachIdentities = async (tx: Tx, deps: DetachDeps, principal: Principal, ids: readonly Uuid[] | 'all') => {
  if (ids.length === 0) return
  const { accountId } = principal
  const attached = await lockIdentitiesOf(tx, accountId)
  const detached = ids === 'all' ? attached : attached.filter(({ id }) => ids.includes(id))
  await detach(tx, deps, principal, accountId, detached)
}

/** Two concurrent removals wait for each other, so that one method always remains. */
export const unlinkIdentity = async (tx: Tx, deps: DetachDeps, principal: Principal, id: Uuid): Promise<IdentityRecord> => {
  await requireSignInAuthority(tx, deps.config, principal)
  const attached = await lockIdentitiesOf(tx, principal.accountId)
  const identity = attached.find((candidate) => candidate.id === id)
  if (!identity) throw notFound()
  const others = attached.filter((other) => other !== identity)
  // Methods that a key linked end with the key. A key, or a session of such a method, may therefore not leave only such methods:
  // the key's end would lock the person out, or the account would stay with the key's holder.
  const own = principal.originGrantId === null ? null : await readOwnMethods(tx, principal.accountId)
  const staying = own ? others.filter((other) => own.has(other.id)) : others
  if (staying.length === 0) throw new Refusal('last_identity')
  if (principal.grant === null && principal.originGrantId !== null && identity.linkedByGrantId !== principal.originGrantId)
    throw new Refusal('forbidden', {
      message: 'A session that began with a sign-in method of a key removes only methods of that key.',
    })
  await detach(tx, deps, principal, identity.accountId, [identity])
  return identity
}

/**
 * Detaches methods that revoked grants linked. An account's last method stays, without sessions, and belongs to the person from
 * then on (`linkerOf`). The oldest stays, because a thief may have added later ones. The caller locked the grants.
 */
export const detachLinkedBy = async (
  tx: Tx,
  deps: DetachDeps,
  actor: Actor,
  { accountId, grantIds }: { accountId: Uuid; grantIds: readonly Uuid[] },
): Promise<void> => {
  const isLinked = ({ linkedByGrantId }: IdentityRecord) => linkedByGrantId !== null && grantIds.includes(linkedByGrantId)
  if (!(await listIdentities(tx, { accountId })).some(isLinked)) return
  const attached = await lockIdentitiesOf(tx, accountId)
  const linked = attached.filter(isLinked)
  const [last] = linked.length === attached.length ? linked : []
  if (last) await revokeSessions(tx, deps.config, actor, { accountId, identityIds: [last.id] })
  const detached = linked.filter((identity) => identity !== last)
  await detach(tx, deps, actor, accountId, detached)
}
