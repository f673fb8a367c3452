import { type Address, recoverSigner } from '../../auth/wallet.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import { invalidFields } from '../../lib/errors.ts'
import { parseWalletName } from '../../lib/wallet-name.ts'
import { proveSigner } from '../identity/identities/signer.ts'
import { findNonce, type IssuedNonce, issueNonce } from '../identity/sign-in/nonces.ts'
import { nonceTtlSeconds } from '../identity/sign-in/siwe.ts'
import type { Parts } from '../parts.ts'
import { mandateMessage, nonceBinding, revocationMessage, termContradictions, termsDigest } from './message.ts'
import { findMandateByNonce, type MandateRow } from './queries.ts'
import type { CreateMandate, PrepareMandate } from './schema.ts'

export type PreparedMandate = IssuedNonce & { message: string }

/** Reads nothing: the answer reveals nothing about an account, a workspace, a grant or a beneficiary. */
export const prepareMandate = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { address, terms }: PrepareMandate,
): Promise<PreparedMandate> => {
  const at = deps.clock.now()
  const problems = termContradictions(terms, at)
  if (problems.length > 0) throw invalidFields(...problems)
  const digest = termsDigest(terms)
  const issued = await issueNonce(deps.db, at, {
    purpose: 'mandate',
    ttlSeconds: nonceTtlSeconds,
    boundTo: nonceBinding(address, digest),
  })
  return {
    ...issued,
    message: mandateMessage(deps.config, { address, terms, digest, nonce: issued.nonce, signBy: issued.expiresAt }),
  }
}

type ProofParts = Pick<Parts, 'config' | 'contractWallets' | 'db'>

/** The text that a mandate's signature must cover, and the name of the wallet that signed it, if it is the named one. Null: there is no such text, and the creation gives the reason. */
export type MandateProof = { digest: string; message: string | null; signer: string | null; recovered: string | undefined }

const messageOf = async (
  db: Database,
  config: Config,
  { address, terms, nonce }: CreateMandate,
  digest: string,
): Promise<string | null> => {
  const existing = await findMandateByNonce(db, nonce)
  if (existing) return existing.message
  const issued = await findNonce(db, { nonce, purpose: 'mandate' })
  if (issued?.boundTo !== nonceBinding(address, digest)) return null
  return mandateMessage(config, { address, terms, digest, nonce, signBy: issued.expiresAt })
}

/** Before the transaction, because a contract wallet's chain may have to be queried; the nonce's binding never changes. */
export const proveMandate = async (deps: ProofParts, input: CreateMandate): Promise<MandateProof> => {
  const { address, signature } = input
  const digest = termsDigest(input.terms)
  const message = await messageOf(deps.db, deps.config, input, digest)
  const signer =
    message === null ? undefined : await proveSigner(deps.db, deps.contractWallets, { message, signature, named: address })
  const recovered = signer ?? (message === null ? undefined : recoverSigner(message, signature))
  const isNamed = signer !== undefined && parseWalletName(signer)?.address === address.toLowerCase()
  return { digest, message, signer: isNamed ? signer : null, recovered }
}

export const proveRevocation = (
  deps: ProofParts,
  mandate: MandateRow,
  { signature, address }: { signature: string; address?: Address | undefined },
): Promise<string | undefined> =>
  proveSigner(deps.db, deps.contractWallets, { message: revocationMessage(deps.config, mandate), signature, named: address })
