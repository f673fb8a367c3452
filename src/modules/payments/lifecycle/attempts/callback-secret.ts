import { randomBytes, randomInt } from 'node:crypto'
import type { Logger } from 'pino'
import { equalBytes, sha256 } from '../../../../auth/secrets.ts'
import type { Sealed, Vault } from '../../../../auth/vault.ts'
import { describeError } from '../../../../db/errors.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Attempt, CallbackUrls } from '../../../../rails/rail.ts'
import type { AttemptRecord } from './queries.ts'

/** Deliveries are unsigned: only the provider knows the secret in their path. */
export const newCallbackSecret = (): string => randomBytes(24).toString('base64url')

/** Twelve digits. Random, not counted: a database restored from a backup must not use a reference again that a rail has seen. */
export const newReference = (): string => String(randomInt(100_000_000_000, 1_000_000_000_000))

export const callbackUrls = (operatorUrl: string, attemptId: Uuid, secret: string): CallbackUrls => {
  const url = `${operatorUrl}/callbacks/${attemptId}/${secret}`
  return { result: `${url}/result`, timeout: `${url}/timeout` }
}

/** The context that an attempt's sealed secret is bound to. */
export const attemptContext = (attemptId: Uuid): readonly string[] => ['attempt', attemptId]

export const sealSecret = (vault: Vault, attemptId: Uuid, secret: string) => vault.seal(secret, attemptContext(attemptId))

const unknownSecretHash = sha256('no attempt has this secret')

/** Constant time, and the same work for an attempt that does not exist. */
export const isSecretOf = (attempt: Pick<AttemptRecord, 'secretHash'> | undefined, secret: string): boolean =>
  equalBytes(sha256(secret), attempt?.secretHash ?? unknownSecretHash) && attempt !== undefined

/** The attempt as its rail knows it, callback URLs included: a query to the rail needs this. */
export const attemptForRail = (vault: Vault, operatorUrl: string, attempt: AttemptRecord): Attempt => {
  const secret = vault.open({ ciphertext: attempt.secretCiphertext, keyId: attempt.secretKeyId }, attemptContext(attempt.id))
  return {
    attemptId: attempt.id,
    rail: attempt.rail,
    amountMinor: attempt.amountMinor,
    reference: attempt.reference,
    provider: { request: attempt.providerRequest, conversation: attempt.providerConversation },
    at: attempt.createdAt,
    callbacks: callbackUrls(operatorUrl, attempt.id, secret),
  }
}

/** Opens a destination for the call alone. Undefined, and logged, when it cannot be opened: then nothing is sent, and it is tried again. */
export const tryOpen = (
  deps: { vault: Vault; logger: Logger },
  sealed: Sealed,
  context: readonly string[],
): string | undefined => {
  try {
    return deps.vault.open(sealed, context)
  } catch (error) {
    deps.logger.error(describeError(error), 'a destination could not be opened')
    return undefined
  }
}
