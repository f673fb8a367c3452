import type { Principal } from '../../../auth/principal.ts'
import { requireFreshProof } from '../../../auth/step-up.ts'
import type { Tx } from '../../../db/client.ts'
import { Refusal } from '../../../lib/errors.ts'
import { revokeApiKey } from '../../delegation/api-keys/service.ts'
import { revokeOwnGrant } from '../../delegation/grants/service.ts'
import { endPendingInvitation } from '../../workspaces/invitations/service.ts'
import type { Deps } from '../deps.ts'
import { detachThese } from '../identities/detach.ts'
import { listIdentities } from '../identities/queries.ts'
import { removePasskey } from '../passkeys/service.ts'
import { linkingGrantOf } from '../sessions/authority.ts'
import { type Begun, findBegun, type Root } from './begun.ts'
import { presentBegun } from './present.ts'
import type { BeganHere } from './schema.ts'

type EndDeps = Pick<Deps, 'clock' | 'config' | 'onAuthorityLost' | 'onGrantsRevoked'>

/** Keys, passkeys and invitations are the whole account's: who acts for it by a key, or by what a key linked, does not end them. */
const requirePerson = async (tx: Tx, principal: Principal): Promise<void> => {
  if ((await linkingGrantOf(tx, principal)) !== null)
    throw new Refusal('forbidden', { message: 'Only a person in their own session can end everything that began there.' })
  requireFreshProof(principal.proof, tx.at)
}

const requireWayLeft = async (tx: Tx, { accountId }: Principal, root: Root, begun: Begun): Promise<void> => {
  const ending = new Set([root.id, ...begun.identities.map(({ id }) => id)])
  if ((await listIdentities(tx, accountId)).every(({ id }) => ending.has(id))) throw new Refusal('last_identity')
}

/** Grants first: with them end their keys, and the sign-in methods that they linked. */
const endBegun = async (tx: Tx, deps: EndDeps, principal: Principal, begun: Begun): Promise<void> => {
  for (const { id } of begun.grants) await revokeOwnGrant(tx, deps.onGrantsRevoked, principal, id)
  for (const { key } of begun.apiKeys) await revokeApiKey(tx, deps.onGrantsRevoked, principal, key.id)
  await detachThese(
    tx,
    deps,
    principal,
    begun.identities.map(({ id }) => id),
  )
  for (const { id } of begun.passkeys) await removePasskey(tx, deps.onAuthorityLost, principal, id)
  for (const invitation of begun.invitations) await endPendingInvitation(tx, principal, invitation)
}

/**
 * Ends a session or a sign-in method by `end`, and says what began there; with `everything` that ends too, in the same transaction, except the
 * caller's own session and the method that began it. Without a way to sign in that stays, nothing is done. Null: the caller is a key.
 */
export const endWithOrigins = async <Ended>(
  tx: Tx,
  deps: EndDeps,
  principal: Principal,
  { root, everything }: { root: Root; everything: boolean },
  end: (tx: Tx) => Promise<Ended>,
): Promise<{ ended: Ended; beganHere: BeganHere | null }> => {
  if (everything) await requirePerson(tx, principal)
  const begun = principal.grant ? null : await findBegun(tx, principal, root)
  if (everything && begun) await requireWayLeft(tx, principal, root, begun)
  const ended = await end(tx)
  if (everything && begun) await endBegun(tx, deps, principal, begun)
  return { ended, beganHere: begun && (await presentBegun(tx, begun, everything)) }
}
