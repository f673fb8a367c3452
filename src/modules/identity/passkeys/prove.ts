import { type Assertion, challengeOf } from '../../../auth/passkey.ts'
import type { Principal } from '../../../auth/principal.ts'
import { sessionBehind } from '../../../auth/session-behind.ts'
import { proofMaxAgeSeconds } from '../../../auth/step-up.ts'
import type { Tx } from '../../../db/client.ts'
import { audit } from '../../../events/audit.ts'
import { CommitThenThrow, Refusal } from '../../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { provesSession, renewProof } from '../sessions/proof.ts'
import { findSession } from '../sessions/queries.ts'
import { consumeNonce, issueNonce, lockNonce } from '../sign-in/wallet/nonces.ts'
import { listPasskeys } from './queries.ts'
import type { ProofOptions } from './schema.ts'
import { provePasskey, recordPasskeyUse, type UsedPasskey } from './service.ts'

/** What the browser needs to sign with a passkey that proves this session. The challenge can be used in this session alone. */
export const startProof = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { accountId, credential }: Principal,
): Promise<ProofOptions> => {
  const id = await sessionBehind(deps.db, credential)
  if (id === null) throw new Error('a credential without a grant has no session')
  const [session, known, { nonce }] = await Promise.all([
    findSession(deps.db, accountId, id),
    listPasskeys(deps.db, accountId),
    issueNonce(deps.db, deps.clock.now(), { purpose: 'proof', ttlSeconds: proofMaxAgeSeconds, boundTo: id }),
  ])
  const proving = session ? known.filter((passkey) => provesSession(session, passkey)) : []
  return {
    challenge: Buffer.from(nonce, 'hex').toString('base64url'),
    timeout: proofMaxAgeSeconds * 1000,
    rpId: new URL(deps.config.publicUrl).hostname,
    allowCredentials: proving.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' })),
    userVerification: 'required',
  }
}

/** What a passkey of the caller signed. Called before the transaction, in which the challenge is used up whatever it is. */
export const examineProof = async (deps: Pick<Deps, 'config' | 'db'>, { accountId }: Principal, assertion: Assertion) => {
  const challenge = challengeOf(assertion.response.clientDataJSON)
  const used = await provePasskey(deps.db, deps.config, accountId, { assertion, challenge: challenge.toString('base64url') })
  return { nonce: challenge.toString('hex'), used }
}

const refusalOf = async (
  tx: Tx,
  principal: Principal,
  { nonce, used }: { nonce: string; used: UsedPasskey | { problem: string } },
): Promise<Refusal | null> => {
  const invalid = (problem: string) =>
    new Refusal('invalid_signature', { message: `The passkey proves nothing: ${problem}.`, details: { field: 'passkey' } })
  const issued = await lockNonce(tx, 'proof', nonce)
  if (!issued || issued.isUsed || issued.expiresAt <= tx.at || issued.boundTo !== (await sessionBehind(tx, principal.credential)))
    return invalid('its challenge is unknown, used, expired or of another session')
  await consumeNonce(tx, nonce, tx.at)
  if ('problem' in used) return invalid(used.problem)
  if (!(await recordPasskeyUse(tx, used))) return invalid('it was removed, or a copy of it has signed before')
  if (await renewProof(tx, principal, used.passkey)) return null
  return new Refusal('step_up_required', {
    message: 'This passkey was added after this session began, so it does not prove whose session it is. Use an older method.',
    details: { max_age_seconds: proofMaxAgeSeconds, proven_at: principal.provenAt?.toISOString() ?? null },
  })
}

/** Proves the caller's session by a passkey. An attempt that proves nothing uses up its challenge, and leaves an audit row. */
export const proveByPasskey = async (
  tx: Tx,
  principal: Principal,
  examined: Awaited<ReturnType<typeof examineProof>>,
): Promise<void> => {
  const refusal = await refusalOf(tx, principal, examined)
  if (!refusal) return
  await audit(tx, principal, tx.at, { action: 'session.prove_refused', workspaceId: null, after: { reason: refusal.message } })
  throw new CommitThenThrow(refusal)
}
