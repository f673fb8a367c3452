import { SiweMessage } from 'siwe'
import { type Address, parseAddress, recoverSigner } from '../../../auth/wallet.ts'
import type { Tx } from '../../../db/client.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, invalidFields, Refusal } from '../../../lib/errors.ts'
import type { Deps } from '../../deps.ts'
import { type IdentityProof, walletProof } from '../identities/proof.ts'
import { burnNonce, type IssuedNonce, issueNonce } from './nonces.ts'
import { checkSiweMessage, expectedOf, nonceTtlSeconds, readSiweMessage, signInStatement } from './siwe.ts'

export type WalletChallenge = IssuedNonce & { message?: string }
export type SignedMessage = { message: string; signature: string }

export const createWalletNonce = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  request: { address?: Address | undefined; chain_id?: number | undefined },
): Promise<WalletChallenge> => {
  const { domain, uri, chain_ids } = expectedOf(deps.config)
  if (request.chain_id !== undefined && !chain_ids.includes(request.chain_id)) {
    throw invalidFields({ path: 'chain_id', message: `must be one of ${chain_ids.join(', ')}` })
  }
  const issued = await issueNonce(deps.db, deps.clock.now(), { purpose: 'wallet_sign_in', ttlSeconds: nonceTtlSeconds })
  if (request.address === undefined) return issued
  const message = new SiweMessage({
    domain,
    address: request.address,
    statement: signInStatement,
    uri,
    version: '1',
    chainId: request.chain_id ?? chain_ids[0] ?? 1,
    nonce: issued.nonce,
    issuedAt: issued.issuedAt.toISOString(),
    expirationTime: issued.expiresAt.toISOString(),
  }).prepareMessage()
  return { ...issued, message }
}

const badNonce = (deps: Pick<Deps, 'config'>): Refusal =>
  new Refusal('invalid_signature', {
    message: 'The nonce is unknown, used or expired: ask for a new one.',
    details: {
      field: 'nonce',
      expected: { ...expectedOf(deps.config), nonce: 'one from POST /v1/auth/wallet/nonce, used once within ten minutes' },
    },
  })

/** The signer: the address's own key, or its contract on the message's chain, when that chain can be queried. */
const findSigner = async (
  deps: Pick<Deps, 'contractWallets'>,
  siwe: SiweMessage,
  input: SignedMessage,
): Promise<{ address: Address; chainId: number | null } | null> => {
  const signer = recoverSigner(input.message, input.signature)
  if (signer?.toLowerCase() === siwe.address.toLowerCase()) return { address: signer, chainId: null }
  const address = parseAddress(siwe.address)
  const valid = address && (await deps.contractWallets.isValidSignature({ chainId: siwe.chainId, address, ...input }))
  return address && valid ? { address, chainId: siwe.chainId } : null
}

/** The result of an attempt. Its nonce is used up in every case; nothing else has been written yet. */
export type WalletAttempt = { verdict: IdentityProof | Refusal }

/**
 * Checks a signed message outside any transaction, because a query to a chain takes time. The nonce is used up first: however often one
 * message is sent, it causes one query. Throws 400 for text that is not such a message.
 */
export const examineWallet = async (
  deps: Pick<Deps, 'clock' | 'config' | 'contractWallets' | 'db'>,
  input: SignedMessage,
): Promise<WalletAttempt> => {
  const siwe = readSiweMessage(input.message)
  const now = deps.clock.now()
  const { nonce } = siwe
  if (!(await burnNonce(deps.db, nonce, 'wallet_sign_in', now))) return { verdict: badNonce(deps) }
  const wrong = checkSiweMessage(deps.config, siwe, now)
  if (wrong) return { verdict: wrong }
  const signer = await findSigner(deps, siwe, input)
  if (!signer) {
    const recovered = recoverSigner(input.message, input.signature) ?? null
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
