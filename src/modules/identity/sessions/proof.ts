import type { Proof } from '../../../auth/principal.ts'
import { sessionBehind } from '../../../auth/session-behind.ts'
import type { Tx } from '../../../db/client.ts'
import { prepareUpdate } from '../../../db/prepare-write.ts'
import { sessions } from '../../../db/tables/sessions.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findSession, type SessionRecord } from './queries.ts'

/** The session in which an actor acts, if it acts in one: what is made now keeps it as its origin. */
export const sessionOf = async (tx: Tx, actor: Actor): Promise<Uuid | null> => {
  const credential = 'credential' in actor ? actor.credential : actor.startedBy?.credential
  return credential ? sessionBehind(tx, credential) : null
}

/** A sign-in method or a passkey of the account. */
type Method = { id: Uuid; createdAt: Date; originSessionId: Uuid | null }

/** Whether a method proves a session: it began the session, or it was there before. What was added since may be a thief's. */
export const provesSession = (session: SessionRecord, { id, createdAt, originSessionId }: Method): boolean =>
  id === (session.beganByIdentityId ?? session.identityId) || (createdAt < session.createdAt && originSessionId !== session.id)

const setProven = prepareUpdate('sessions.prove', sessions, ['provenAt'])

type Owner = Actor & { accountId: Uuid }

/** A method of the account was used again: its person is who they were. False where it proves nothing of this session. */
export const renewProof = async (tx: Tx, actor: Owner, method: Method): Promise<boolean> => {
  const sessionId = await sessionOf(tx, actor)
  const session = sessionId === null ? undefined : await findSession(tx, actor.accountId, sessionId)
  if (!session || session.revokedAt || !provesSession(session, method)) return false
  setProven(tx, session.id, { provenAt: tx.at })
  await audit(tx, actor, tx.at, { action: 'session.prove', workspaceId: null, subject: { type: 'session', id: session.id } })
  return true
}

/** Of whoever links now. A link that ends at a provider's callback has the proof of the session that began it. */
export const proofOf = async (tx: Tx, actor: Owner): Promise<Proof> => {
  if ('credential' in actor) return actor.proof
  if (actor.startedBy?.grantId) return 'not_needed'
  if (actor.startedBy?.credential.kind !== 'session') return 'never'
  const session = await findSession(tx, actor.accountId, actor.startedBy.credential.id)
  return session ? { at: session.provenAt } : 'never'
}
