import { SiweMessage } from 'siwe'
import type { Principal, RequestOrigin } from '../../auth/principal.ts'
import { type Address, recoverSigner } from '../../auth/wallet.ts'
import { inTx } from '../../db/client.ts'
import { audit } from '../../events/audit.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { walletIssuer } from '../identities/queries.ts'
import { type IdentityProof, linkIdentity, type SignInResult, signIn } from '../identities/service.ts'
import { burnNonce, type IssuedNonce, issueNonce } from './nonces.ts'
import { checkSiweMessage, expectedOf, nonceTtlSeconds, readSiweMessage, signInStatement } from './siwe.ts'

export type WalletChallenge = IssuedNonce & { message?: string }

export const createWalletNonce = async (
  deps: Deps,
  wanted: { address?: Address; chain_id?: number },
): Promise<WalletChallenge> => {
  const issued = await issueNonce(deps.db, deps.clock.now(), { purpose: 'wallet_sign_in', ttlSeconds: nonceTtlSeconds })
  if (wanted.address === undefined) return issued
  const { domain, uri, chain_ids } = expectedOf(deps.config)
  const message = new SiweMessage({
    domain,
    address: wanted.address,
    statement: signInStatement,
    uri,
    version: '1',
    chainId: wanted.chain_id ?? chain_ids[0] ?? 1,
    nonce: issued.nonce,
    issuedAt: issued.issuedAt.toISOString(),
    expirationTime: issued.expiresAt.toISOString(),
  }).prepareMessage()
  return { ...issued, message }
}

/** Proof that the wallet signed a message of ours, once. Throws `invalid_signature`; the nonce is gone either way. */
export const proveWallet = async (deps: Deps, input: { message: string; signature: string }): Promise<IdentityProof> => {
  const message = readSiweMessage(input.message)
  const now = deps.clock.now()
  const fresh = await burnNonce(deps.db, message.nonce, 'wallet_sign_in', now)
  if (!fresh) {
    throw new Refusal('invalid_signature', {
      message: 'The nonce is unknown, used or expired: ask for a new one.',
      details: {
        field: 'nonce',
        expected: { ...expectedOf(deps.config), nonce: 'one from POST /v1/auth/wallet/nonce, used once within ten minutes' },
      },
    })
  }
  checkSiweMessage(deps.config, message, now)
  const signer = recoverSigner(input.message, input.signature)
  if (signer?.toLowerCase() !== message.address.toLowerCase()) {
    throw new Refusal('invalid_signature', {
      message: 'The signature is not by the address in the message.',
      details: { field: 'signature', expected: { address: message.address } },
    })
  }
  return {
    provider: 'wallet',
    issuer: walletIssuer,
    subject: signer,
    subjectKey: signer.toLowerCase(),
    email: null,
    emailVerified: false,
    displayName: null,
  }
}

/** Signs in, or links the wallet to the caller's account when there is a caller. */
export const verifyWallet = async (
  deps: Deps,
  caller: Principal | null,
  origin: RequestOrigin,
  input: { message: string; signature: string },
): Promise<SignInResult> => {
  if (caller && !caller.permissions.has('account.manage'))
    throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  const proof = await proveWallet(deps, input).catch(async (error: unknown) => {
    if (error instanceof Refusal && error.code === 'invalid_signature') {
      await inTx(deps.db, (tx) =>
        audit(tx, caller ?? { accountId: null, origin, way: 'sign_in:wallet' }, deps.clock.now(), {
          action: 'sign_in.refused',
          after: { reason: error.message },
        }),
      )
    }
    throw error
  })
  return inTx(deps.db, async (tx): Promise<SignInResult> => {
    if (!caller) return signIn(tx, deps, proof, origin)
    return { ...(await linkIdentity(tx, deps, caller, proof)), accountId: caller.accountId, session: null }
  })
}
