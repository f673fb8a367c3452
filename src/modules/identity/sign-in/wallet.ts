import type { z } from 'zod'
import { recoverSigner, withHint } from '../../../auth/recover-signer.ts'
import type { Config } from '../../../config.ts'
import type { Db } from '../../../db/client.ts'
import { isoTime } from '../../../lib/clock.ts'
import { invalidFields, Refusal } from '../../../lib/errors.ts'
import { type Address, parseAddress } from '../../../lib/wallet-name.ts'
import type { Parts } from '../../parts.ts'
import { newMethodRefusal } from '../identities/link.ts'
import { findIdentity, type IdentityProof, walletProof } from '../identities/queries.ts'
import type { CreateNonce, Nonce, SignedMessage } from '../schema.ts'
import type { Initiator } from '../sessions/service.ts'
import { consumeSignInNonce, newSignInNonce, readSignInNonce, type SignInNonce } from './nonces.ts'
import { checkSignInMessage, expectedOf, prepareSignInMessage, readSignInMessage, statementOf } from './siwe-message.ts'

export const createWalletNonce = (
  deps: Pick<Parts, 'clock' | 'config' | 'derivations'>,
  request: z.output<typeof CreateNonce>,
): z.output<typeof Nonce> => {
  const expected = expectedOf(deps.config)
  const { chain_ids } = expected
  if (request.chain_id !== undefined && !chain_ids.includes(request.chain_id))
    throw invalidFields({ path: 'chain_id', message: `must be one of ${chain_ids.join(', ')}` })
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

/** `nonce`: still to be used up. Null if it is already used up or unknown. */
export type WalletAttempt = { verdict: IdentityProof | Refusal; nonce: SignInNonce | null }

/** Uses up the nonce, even if the attempt proves nothing. An attempt with a used nonce is refused. */
export const spendNonce = async (db: Db, config: Config, { nonce, verdict }: WalletAttempt): Promise<WalletAttempt['verdict']> =>
  nonce === null || (await consumeSignInNonce(db, nonce)) ? verdict : badNonce(config)

type Signed = { recovered: Address | undefined; claimed: string; signature: string }

/** `whyUncertain`: why the signature may still be a contract's. */
const wrongSigner = ({ recovered, claimed, signature }: Signed, whyUncertain?: string): Refusal => {
  const why =
    whyUncertain === undefined
      ? 'The signature is not by the address in the message.'
      : `The signature is not by the key of the address in the message. ${whyUncertain}`
  return new Refusal('invalid_signature', {
    message: withHint(why, signature),
    details: { field: 'signature', recovered_address: recovered ?? null, expected: { address: claimed } },
  })
}

type WalletDeps = Pick<Parts, 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations'>

/** `contract`: the contract whose chain must verify the signature. Until then, the verdict is a refusal. */
type ReadAttempt = WalletAttempt & { contract?: { chainId: number; address: Address } }

/** Throws 400 for text that is not a sign-in message. */
const readAttempt = (deps: WalletDeps, input: z.output<typeof SignedMessage>): ReadAttempt => {
  const siwe = readSignInMessage(deps.config, input.message)
  const now = deps.clock.now()
  const nonce = readSignInNonce(deps.derivations, siwe.nonce, now)
  if (!nonce) return { verdict: badNonce(deps.config), nonce: null }
  const wrong = checkSignInMessage(deps.config, siwe, { now, intent: input.intent })
  if (wrong) return { verdict: wrong, nonce }
  const recovered = recoverSigner(input.message, input.signature)
  if (recovered?.toLowerCase() === siwe.address.toLowerCase()) return { verdict: walletProof(recovered, null), nonce }
  const { chainId } = siwe
  const address = parseAddress(siwe.address)
  const signed = { recovered, claimed: siwe.address, signature: input.signature }
  if (!address) return { verdict: wrongSigner(signed), nonce }
  if (deps.contractWallets.chainIds.includes(chainId))
    return { verdict: wrongSigner(signed), nonce, contract: { chainId, address } }
  const whyUncertain = `Signatures of contracts on chain ${chainId} are not checked here.`
  return { verdict: wrongSigner(signed, whyUncertain), nonce }
}

/** Runs outside any transaction. The nonce is used up first, so that one message causes one query. */
const askChain = async (deps: WalletDeps, { message, signature }: z.output<typeof SignedMessage>, attempt: ReadAttempt) => {
  const { contract, verdict: refused } = attempt
  if (!contract) return attempt
  const verdict = await spendNonce(deps.db, deps.config, attempt)
  if (verdict !== refused) return { verdict, nonce: null }
  const answer = await deps.contractWallets.query({ ...contract, message, signature })
  if (answer === 'valid') return { verdict: walletProof(contract.address, contract.chainId), nonce: null }
  if (answer === 'invalid') return { verdict, nonce: null }
  const whyUncertain = `Chain ${contract.chainId} did not answer whether it is by a contract there.`
  return {
    verdict: wrongSigner({ recovered: recoverSigner(message, signature), claimed: contract.address, signature }, whyUncertain),
    nonce: null,
  }
}

export const examineWallet = async (deps: WalletDeps, input: z.output<typeof SignedMessage>): Promise<WalletAttempt> =>
  askChain(deps, input, readAttempt(deps, input))

/**
 * Refuses an unproven session before it uses up the nonce, so that the same message is accepted after the proof. A contract that
 * is not a wallet of the account gets the same answer, because its owner is not proven yet.
 */
export const examineForLink = async (deps: WalletDeps, initiator: Initiator, input: z.output<typeof SignedMessage>) => {
  const attempt = readAttempt(deps, input)
  const { contract, verdict } = attempt
  const claim = contract ? walletProof(contract.address, contract.chainId) : verdict
  if (!(claim instanceof Refusal)) {
    const known = await findIdentity(deps.db, claim)
    const isNew = contract ? known?.accountId !== initiator.accountId : known === undefined
    const unproven = isNew ? newMethodRefusal(initiator, deps.clock.now()) : null
    if (unproven) return unproven
  }
  return spendNonce(deps.db, deps.config, await askChain(deps, input, attempt))
}
