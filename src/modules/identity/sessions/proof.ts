import { isAdministrator } from '../../../auth/administrators.ts'
import { requireFreshProof } from '../../../auth/step-up.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'

/** The session that an actor acts with, or the dashboard token that it issued. */
const sessionOf = (actor: Actor): Uuid | null =>
  'credential' in actor ? actor.credential.id : (actor.startedBy?.credentialId ?? null)

const named = `sessions.id = any(array[$1::uuid, (select d.session_id from dashboard_tokens d where d.id = $1::uuid)])`
const renew = statement('sessions.prove', `update sessions set proven_at = $2 where ${named} and revoked_at is null returning id`)
const read = statement('sessions.proven_at', `select proven_at as "provenAt" from sessions where ${named}`)

/** A sign-in method that the account already had was used again: the session's person is who they were. */
export const renewProof = async (tx: Tx, actor: Actor): Promise<void> => {
  const [session] = await tx.query<{ id: Uuid }>(renew, [sessionOf(actor), tx.at])
  if (session)
    await audit(tx, actor, tx.at, { action: 'session.prove', workspaceId: null, subject: { type: 'session', id: session.id } })
}

/**
 * A new sign-in method of an administrator's account needs a fresh proof by an old one: otherwise a stolen session would link a method of its
 * own, and prove itself with that.
 * @throws 403 `step_up_required`
 */
export const requireProofToChange = async (
  tx: Tx,
  deps: Pick<Deps, 'config'>,
  actor: Actor & { accountId: Uuid },
): Promise<void> => {
  if (!(await isAdministrator(tx, actor.accountId, deps.config.ADMIN_ACCOUNTS))) return
  const [session] = await tx.query<{ provenAt: Date }>(read, [sessionOf(actor)])
  requireFreshProof(session?.provenAt ?? null, tx.at)
}
