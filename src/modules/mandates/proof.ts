import { type Address, recoverSigner } from '../../auth/wallet.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/client.ts'
import { parseWalletName } from '../../lib/wallet-name.ts'
import { proveSigner } from '../identity/identities/signer.ts'
import { findNonce } from '../identity/sign-in/wallet/nonces.ts'
import type { Deps } from './deps.ts'
import { mandateMessage, revocationMessage } from './message.ts'
import { findMandateByNonce, type MandateRow } from './queries.ts'
import type { CreateMandate } from './schema.ts'
import { nonceBinding, termsDigest } from './terms.ts'

type ProofDeps = Pick<Deps, 'config' | 'contractWallets' | 'db'>

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
  const issued = await findNonce(db, 'mandate', nonce)
  if (issued?.boundTo !== nonceBinding(address, digest)) return null
  return mandateMessage(config, { address, terms, digest, nonce, signBy: issued.expiresAt })
}

/** Before the transaction, because a contract wallet's chain may have to be queried; the nonce's binding never changes. */
export const proveMandate = async (deps: ProofDeps, input: CreateMandate): Promise<MandateProof> => {
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
  deps: ProofDeps,
  mandate: MandateRow,
  { signature, address }: { signature: string; address?: Address | undefined },
): Promise<string | undefined> =>
  proveSigner(deps.db, deps.contractWallets, { message: revocationMessage(deps.config, mandate), signature, named: address })
