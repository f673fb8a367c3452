import { type Address, parseAddress, recoverSigner } from '../../../../auth/wallet.ts'
import type { Tx } from '../../../../db/client.ts'
import { type Actor, audit } from '../../../../events/audit.ts'
import { CommitThenThrow, invalidFields, Refusal } from '../../../../lib/errors.ts'
import type { Deps } from '../../deps.ts'
import { type IdentityProof, walletProof } from '../../identities/proof.ts'
import { burnNonces, type IssuedNonce, type SignInNonce } from './nonces.ts'
import { newSignInNonce, readSignInNonce } from './sign-in-nonce.ts'
import { checkSignInMessage, expectedOf, prepareSignInMessage, readSignInMessage, type SignInMessage } from './siwe.ts'

export type WalletChallenge = IssuedNonce & { message?: string }
export type SignedMessage = { message: string; signature: string }

/** Stores nothing. */
export const createWalletNonce = (
  deps: Pick<Deps, 'clock' | 'config' | 'derivations'>,
  request: { address?: Address | undefined; chain_id?: number | undefined },
): WalletChallenge => {
  const { chain_ids } = expectedOf(deps.config)
  if (request.chain_id !== undefined && !chain_ids.includes(request.chain_id)) {
    throw invalidFields({ path: 'chain_id', message: `must be one of ${chain_ids.join(', ')}` })
  }
  const issued = newSignInNonce(deps, deps.clock.now())
  if (request.address === undefined) return issued
  const message = prepareSignInMessage(deps.config, {
    address: request.address,
    chainId: request.chain_id ?? chain_ids[0] ?? 1,
    nonce: issued.nonce,
    issuedAt: issued.issuedAt.toISOString(),
    expirationTime: issued.expiresAt.toISOString(),
  })
  return { ...issued, message }
}

export const badNonce = (deps: Pick<Deps, 'config'>): Refusal =>
  new Refusal('invalid_signature', {
    message: 'The nonce is unknown, used or expired: ask for a new one.',
    details: {
      field: 'nonce',
      expected: { ...expectedOf(deps.config), nonce: 'one from POST /v1/auth/wallet/nonce, used once within ten minutes' },
    },
  })

/** What a signed message says, before its nonce is used. */
export type ReadAttempt = {
  input: SignedMessage
  siwe: SignInMessage
  nonce: SignInNonce | undefined
  wrong: Refusal | null
  /** Who signed it, if it is a message for this service and its nonce is ours. */
  recovered: Address | undefined
}

/** Needs no database. Throws 400 for text that is not a sign-in message. */
export const readAttempt = (deps: Pick<Deps, 'clock' | 'config' | 'derivations'>, input: SignedMessage): ReadAttempt => {
  const siwe = readSignInMessage(deps.config, input.message)
  const now = deps.clock.now()
  const nonce = readSignInNonce(deps, siwe.nonce, now)
  const wrong = checkSignInMessage(deps.config, siwe, now)
  const recovered = nonce && !wrong ? recoverSigner(input.message, input.signature) : undefined
  return { input, siwe, nonce, wrong, recovered }
}

const isByOwnKey = ({ siwe, recovered }: ReadAttempt): boolean => recovered?.toLowerCase() === siwe.address.toLowerCase()

/** A message that its address's own key has signed: what nearly every sign-in is. Undefined for what `examineWallet` has to look at. */
export const plainProof = (attempt: ReadAttempt): { nonce: SignInNonce; proof: IdentityProof } | undefined => {
  const { nonce, recovered } = attempt
  return nonce && recovered && isByOwnKey(attempt) ? { nonce, proof: walletProof(recovered, null) } : undefined
}

/** The signer: the address's own key, or its contract on the message's chain, when that chain can be queried. */
const findSigner = async (
  deps: Pick<Deps, 'contractWallets'>,
  attempt: ReadAttempt,
): Promise<{ address: Address; chainId: number | null } | null> => {
  const { siwe, recovered, input } = attempt
  if (recovered && isByOwnKey(attempt)) return { address: recovered, chainId: null }
  const address = parseAddress(siwe.address)
  const valid = address && (await deps.contractWallets.isValidSignature({ chainId: siwe.chainId, address, ...input }))
  return address && valid ? { address, chainId: siwe.chainId } : null
}

/** The result of an attempt. Its nonce is used up in every case; nothing else has been written yet. */
export type WalletAttempt = { verdict: IdentityProof | Refusal }

/**
 * Checks a signed message outside any transaction, because a query to a chain takes time. The nonce is used up first: however often one
 * message is sent, it causes one query.
 */
export const examineWallet = async (
  deps: Pick<Deps, 'config' | 'contractWallets' | 'db'>,
  attempt: ReadAttempt,
): Promise<WalletAttempt> => {
  const { siwe, nonce, wrong, recovered = null } = attempt
  if (!nonce || !(await burnNonces(deps.db, [nonce])).has(nonce.nonce)) return { verdict: badNonce(deps) }
  if (wrong) return { verdict: wrong }
  const signer = await findSigner(deps, attempt)
  if (!signer) {
    const details = { field: 'signature', recovered_address: recovered, expected: { address: siwe.address } }
    return {
      verdict: new Refusal('invalid_signature', { message: 'The signature is not by the address in the message.', details }),
    }
  }
  return { verdict: walletProof(signer.address, signer.chainId) }
}

/** What the attempt proved. A refusal commits its audit row. */
export const redeemWallet = async (tx: Tx, actor: Actor, { verdict }: WalletAttempt): Promise<IdentityProof> => {
  if (!(verdict instanceof Refusal)) return verdict
  await audit(tx, actor, tx.at, { action: 'sign_in.refused', after: { provider: 'wallet', reason: verdict.message } })
  throw new CommitThenThrow(verdict)
}
