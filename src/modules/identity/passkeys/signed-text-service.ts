import type { z } from 'zod'
import { Assertion, challengeFor } from '../../../auth/passkey.ts'
import { withHint } from '../../../auth/recover-signer.ts'
import { sha256 } from '../../../auth/secrets.ts'
import { WalletAddress, WalletSignature } from '../../../auth/wallet-schemas.ts'
import type { Tx } from '../../../db/client.ts'
import { BodyIn, MessageDigest } from '../../../http/wire.ts'
import { invalidFields, Refusal, wrongPasskey, wrongSignature } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { findIdentity, proveSigner, walletKey } from '../identities/queries.ts'
import { provePasskey, recordPasskeyUse, type UsedPasskey } from './service.ts'

/** Fields for signing a text with a passkey or a linked wallet. `text`: the API field that contains the text. */
const signedText = (text: string) => ({
  passkey: Assertion.optional().describe(
    `An assertion of one of your passkeys, with user verification. The challenge is the SHA-256 of \`${text}\`.`,
  ),
  signature: WalletSignature.optional().describe(`The signature of a linked wallet over \`${text}\`.`),
  address: WalletAddress.optional().describe('The wallet that signed. Required only for contract wallets.'),
})

/** The body that confirms a pending text. */
export const confirmationOf = (id: string, text: string) =>
  BodyIn(id, {
    ...signedText(text),
    message_digest: MessageDigest.optional().describe(
      `The SHA-256 of the \`${text}\` that was shown, in hexadecimal. If the text has changed since, the confirmation is refused: 409, reason \`message_changed\`.`,
    ),
  })
export type ConfirmText = z.output<ReturnType<typeof confirmationOf>>

type TextProof = UsedPasskey | { problem: string } | { signer: string | undefined; signature: string } | null

/** Called before the transaction, so that no transaction waits for a chain. Null if nothing was signed. */
const proveText = async (
  { config, contractWallets, db }: Pick<Parts, 'config' | 'contractWallets' | 'db'>,
  accountId: Uuid,
  message: string,
  { passkey: assertion, signature, address: named }: Omit<ConfirmText, 'message_digest'>,
): Promise<TextProof> => {
  if (assertion) return provePasskey(db, config, accountId, { assertion, challenge: challengeFor(message) })
  if (signature === undefined) return null
  return { signer: await proveSigner(db, contractWallets, { message, signature, named }), signature }
}

/** @throws 401 if the account itself did not sign */
const requireSigned = async (tx: Tx, accountId: Uuid, proof: NonNullable<TextProof>): Promise<void> => {
  if ('signer' in proof) {
    const identity = proof.signer === undefined ? undefined : await findIdentity(tx, walletKey(proof.signer))
    if (identity?.accountId !== accountId)
      throw wrongSignature(
        proof.signer,
        withHint('The signature must be of this text, by a wallet of your account.', proof.signature),
      )
    return
  }
  if ('problem' in proof) throw wrongPasskey(proof.problem)
  if (!(await recordPasskeyUse(tx, proof))) throw wrongPasskey('it was used before, or its passkey was removed')
}

/** A second person's confirmation of a pending text. `isCurrentText`: false if the caller saw another text. */
export type Confirmation = { isCurrentText: boolean; proof: TextProof }

export const proveConfirmation = async (
  deps: Pick<Parts, 'config' | 'contractWallets' | 'db'>,
  accountId: Uuid,
  message: string,
  { message_digest: digest, ...signed }: ConfirmText,
): Promise<Confirmation> => ({
  isCurrentText: digest === undefined || digest === sha256(message).toString('hex'),
  proof: await proveText(deps, accountId, message, signed),
})

export const ownRequestRefusal = (what: string): Refusal =>
  new Refusal('separation_of_duties', { message: `Whoever asked for ${what} may not confirm it: another approver must.` })

/** `text`: the API field that contains the text. `signed`: whether a policy requires signatures. */
export const requireConfirmed = async (
  tx: Tx,
  accountId: Uuid,
  { proof }: Confirmation,
  { text, signed }: { text: string; signed: boolean },
): Promise<void> => {
  if (proof) await requireSigned(tx, accountId, proof)
  else if (signed)
    throw invalidFields({ path: 'passkey', message: `or a wallet must sign \`${text}\`: a policy asks for signatures` })
}
