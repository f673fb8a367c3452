import { administratorsAmong } from '../../../auth/administrators.ts'
import { grantBehind, sessionBehind } from '../../../auth/credential.ts'
import type { Acting, Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { grantLife } from '../../../db/credential-life.ts'
import { updateRow } from '../../../db/prepare-write.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { isLimited } from '../../delegation/control-rules.ts'
import { shareLineage } from '../../delegation/queries.ts'
import { findSession, type SessionRecord } from './queries.ts'

const forbidden = (message: string): Refusal => new Refusal('forbidden', { message })

/** What an actor acts with, or what began what ends now without it; null where it is the sign-in itself. */
const behind = (actor: Actor) =>
  'credential' in actor ? { credential: actor.credential, grantId: actor.grant?.id ?? null } : (actor.startedBy ?? null)

export const grantOf = (actor: Actor): Uuid | null => behind(actor)?.grantId ?? null

/** The grant whose revocation also ends what this actor links now. */
export const linkingGrantOf = async (tx: Tx, actor: Actor): Promise<Uuid | null> => {
  const begun = behind(actor)
  return begun && grantBehind(tx, begun.credential, begun.grantId)
}

/**
 * The reason why an actor may not change the account's sign-in methods and sessions, if there is one: an actor that can change them can
 * take over the account. A person may. A key may when a person gave it `account.manage` and nothing in its lineage limits its spending,
 * because a session has no limits; never where the account is an administrator's. Locks the lineage until the transaction ends, so it is
 * called before any lock of the account itself: a revocation takes the same locks in this order.
 */
export const signInAuthorityRefusal = async (
  tx: Tx,
  config: Config,
  accountId: Uuid,
  grantId: Uuid | null,
): Promise<Refusal | null> => {
  if (grantId === null) return null
  const lineage = await shareLineage(tx, grantId)
  const own = lineage.at(-1)
  if (own?.id !== grantId || lineage.some((grant) => grantLife(grant, tx.at) !== 'active')) return new Refusal('invalid_token')
  if (lineage.some((grant) => grant.frozenAt !== null)) return new Refusal('grant_frozen')
  if (!own.permissions.includes('account.manage'))
    return new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  if (lineage.some(isLimited)) return forbidden('A key with spending controls cannot change how the account is signed in to.')
  if ((await administratorsAmong(tx, [accountId], config.ADMIN_ACCOUNTS)).size > 0)
    return forbidden("A key cannot change how an administrator's account is signed in to.")
  return null
}

/** For callers that record nothing when they are refused. */
export const requireSignInAuthority = async (
  tx: Tx,
  config: Config,
  { accountId, grant }: Pick<Principal, 'accountId' | 'grant'>,
): Promise<void> => {
  const refusal = await signInAuthorityRefusal(tx, config, accountId, grant?.id ?? null)
  if (refusal) throw refusal
}

/** The session in which an actor acts, if it acts in one: what is made now keeps it as its origin. */
export const sessionOf = async (tx: Tx, actor: Actor): Promise<Uuid | null> => {
  const begun = behind(actor)
  return begun && sessionBehind(tx, begun.credential)
}

/** A sign-in method or a passkey of the account. */
type Method = { id: Uuid; createdAt: Date; originSessionId: Uuid | null }

/** Whether a method proves a session: it began the session, or it was there before. What was added since may be a thief's. */
export const provesSession = (session: SessionRecord, { id, createdAt, originSessionId }: Method): boolean =>
  id === (session.beganByIdentityId ?? session.identityId) || (createdAt < session.createdAt && originSessionId !== session.id)

type Owner = Actor & { accountId: Uuid }

/** A method of the account was used again: its person is who they were. False where it proves nothing of this session. */
export const renewProof = async (tx: Tx, actor: Owner, method: Method): Promise<boolean> => {
  const sessionId = await sessionOf(tx, actor)
  const session = sessionId === null ? undefined : await findSession(tx, { accountId: actor.accountId, id: sessionId })
  if (!session || session.revokedAt || !provesSession(session, method)) return false
  updateRow(tx, sessions, session, { provenAt: tx.at })
  audit(tx, actor, 'session.prove', { workspaceId: null, subject: session.id })
  return true
}

/** Whoever links now. A link that ends at a provider's callback has the proof of the session that began it. */
export const actingOf = async (tx: Tx, actor: Owner): Promise<Acting> => {
  if ('credential' in actor) return actor
  const { startedBy } = actor
  if (!startedBy) throw new Error('nobody began this link')
  const session = await findSession(tx, { accountId: actor.accountId, id: startedBy.credential.id })
  return { ...startedBy, grant: startedBy.grantId, provenAt: session?.provenAt ?? null }
}
