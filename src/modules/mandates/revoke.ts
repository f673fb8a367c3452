import type { Principal, RequestOrigin } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { CommitThenThrow, conflict, found, notFound, wrongSignature } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { walletKey } from '../identity/identities/proof.ts'
import { findIdentity } from '../identity/identities/queries.ts'
import type { OnAuthorityLost } from '../ports.ts'
import { endMandate } from './end.ts'

import { findMandateIn, lockMandate, type MandateRecord, mandateStatus } from './queries.ts'

/** A second revocation gives the same answer; a mandate that ended otherwise stays as it is. */
const revoke = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  actor: Actor,
  mandate: MandateRecord,
  why: Record<string, unknown>,
): Promise<MandateRecord> => {
  if (mandate.status === 'revoked') return mandate
  const status = mandateStatus(mandate, tx.at)
  if (status !== 'active') throw conflict(`The mandate is already ${status}.`, status, { status })
  const revoked = await endMandate(tx, mandate, { to: 'revoked', actor, why })
  await onAuthorityLost(tx, actor, mandate.accountId)
  return revoked
}

export const revokeByCredential = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  principal: Principal,
  id: Uuid,
): Promise<MandateRecord> => {
  if (!(await findMandateIn(tx, principal.workspace.id, id))) throw notFound()
  const mandate = found(await lockMandate(tx, id))
  return revoke(tx, onAuthorityLost, principal, mandate, { via: 'credential' })
}

/** The wallet that signed a mandate may always revoke it, and so may any other wallet that its account has now. */
const mayRevoke = async (tx: Tx, mandate: MandateRecord, signer: string): Promise<boolean> =>
  signer === mandate.signer || (await findIdentity(tx, walletKey(signer)))?.accountId === mandate.accountId

/** `signer`: the wallet whose signature on the revocation was verified, if there is one. */
export type SignedRevocation = { origin: RequestOrigin; signer: string | undefined; signature: string }

export const revokeBySignature = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  id: Uuid,
  { origin, signer, signature }: SignedRevocation,
): Promise<MandateRecord> => {
  const mandate = found(await lockMandate(tx, id))
  const { accountId, workspaceId } = mandate
  if (!signer || !(await mayRevoke(tx, mandate, signer))) {
    const actor = { accountId: null, origin, way: 'signature' }
    await audit(tx, actor, tx.at, { action: 'mandate.refused', workspaceId, subject: { type: 'mandate', id } })
    throw new CommitThenThrow(wrongSignature(signer))
  }
  return revoke(tx, onAuthorityLost, { accountId, origin, way: 'signature' }, mandate, { via: 'signature', signer, signature })
}
