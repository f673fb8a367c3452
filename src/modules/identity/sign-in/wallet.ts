import type { z } from 'zod'
import { type Address, parseAddress, recoverSigner } from '../../../auth/wallet.ts'
import type { Config } from '../../../config.ts'
import type { Db } from '../../../db/client.ts'
import { isoTime } from '../../../lib/clock.ts'
import { invalidFields, Refusal } from '../../../lib/errors.ts'
import type { Parts } from '../../parts.ts'
import { type IdentityProof, walletProof } from '../identities/queries.ts'
import type { CreateNonce, Nonce, SignedMessage } from '../schema.ts'
import { burnNonce, newSignInNonce, readSignInNonce, type SignInNonce } from './nonces.ts'
import { checkSignInMessage, expectedOf, prepareSignInMessage, readSignInMessage, statementOf } from './siwe.ts'

/** Stores nothing. */
export const createWalletNonce = (
  deps: Pick<Parts, 'clock' | 'config' | 'derivations'>,
  request: z.output<typeof CreateNonce>,
): z.output<typeof Nonce> => {
  const expected = expectedOf(deps.config)
  const { chain_ids } = expected
  if (request.chain_id !== undefined && !chain_ids.includes(request.chain_id)) {
    throw invalidFields({ path: 'chain_id', message: `must be one of ${chain_ids.join(', ')}` })
  }
  const { nonce, issuedAt, expiresAt } = newSignInNonce(deps.derivations, deps.clock.now())
  const statement = statementOf(request.intent)
  const message =
    request.address &&
    prepareSignInMessage(deps.config, {
      statement,
      address: request.address,
      chainId: request.chain_id ?? chain_ids[0] ?? 1,
      nonce,
      issuedAt: issuedAt.toISOString(),
      expirationTime: expiresAt.toISOString(),
    })
  const times = { issued_at: isoTime(issuedAt), expires_at: isoTime(expiresAt) }
  return { nonce, ...expected, statement, ...times, ...(message && { message }) }
}

const badNonce = (config: Config): Refusal =>
  new Refusal('invalid_signature', {
    message: 'The nonce is unknown, used or expired: ask for a new one.',
    details: {
      field: 'nonce',
      expected: { ...expectedOf(config), nonce: 'one from POST /v1/auth/wallet/nonce, used once within ten minutes' },
    },
  })

/** What a signed message proves, or why it proves nothing. `nonce`: not used up yet. */
export type WalletAttempt = { verdict: IdentityProof | Refusal; nonce: SignInNonce | null }

/** Uses up the nonce of an attempt, also of one that proves nothing. One whose nonce was used before proves nothing, whatever it says. */
export const spendNonce = async (db: Db, config: Config, { nonce, verdict }: WalletAttempt): Promise<WalletAttempt['verdict']> =>
  nonce === null || (await burnNonce(db, nonce)) ? verdict : badNonce(config)

const wrongSigner = (recovered: Address | undefined, claimed: string): Refusal =>
  new Refusal('invalid_signature', {
    message: 'The signature is not by the address in the message.',
    details: { field: 'signature', recovered_address: recovered ?? null, expected: { address: claimed } },
  })

/**
 * Checks a signed message, outside any transaction. Only a contract's signature needs more than the message: a query to its chain, which takes
 * time. Its nonce is used up first: however often one message is sent, it causes one query. Throws 400 for text that is not a sign-in message.
 */
export const examineWallet = async (
  deps: Pick<Parts, 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations'>,
  input: z.output<typeof SignedMessage>,
): Promise<WalletAttempt> => {
  const siwe = readSignInMessage(deps.config, input.message)
  const now = deps.clock.now()
  const nonce = readSignInNonce(deps.derivations, siwe.nonce, now)
  if (!nonce) return { verdict: badNonce(deps.config), nonce: null }
  const wrong = checkSignInMessage(deps.config, siwe, { now, intent: input.intent })
  if (wrong) return { verdict: wrong, nonce }
  const recovered = recoverSigner(input.message, input.signature)
  if (recovered?.toLowerCase() === siwe.address.toLowerCase()) return { verdict: walletProof(recovered, null), nonce }
  const refused = { verdict: wrongSigner(recovered, siwe.address), nonce }
  const { chainId } = siwe
  const address = parseAddress(siwe.address)
  if (!address || !deps.contractWallets.chainIds.includes(chainId)) return refused
  const spent = { verdict: await spendNonce(deps.db, deps.config, refused), nonce: null }
  if (spent.verdict !== refused.verdict) return spent
  const isValid = await deps.contractWallets.isValidSignature({
    chainId,
    address,
    message: input.message,
    signature: input.signature,
  })
  return isValid ? { verdict: walletProof(address, chainId), nonce: null } : spent
}

/** For a link: what the message proves, its nonce used up. */
export const examineForLink = async (
  deps: Pick<Parts, 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations'>,
  input: z.output<typeof SignedMessage>,
): Promise<WalletAttempt['verdict']> => spendNonce(deps.db, deps.config, await examineWallet(deps, input))
