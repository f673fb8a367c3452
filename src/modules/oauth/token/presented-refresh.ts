import { equalBytes, secretPrefixes, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Config } from '../../../config.ts'
import { statement, type Tx } from '../../../db/client.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { deriveAgain, generationDigits, handleDigits } from './tokens.ts'

const refreshPattern = new RegExp(
  `^${secretPrefixes.refresh_token}([0-9a-f]{${handleDigits}})([0-9a-f]{${generationDigits}})[0-9a-f]{64}$`,
)

export type PresentedRefresh = { handle: string; generation: number; hash: Buffer; text: string }

export const readRefreshToken = (text: string): PresentedRefresh | undefined => {
  const [, handle, number] = refreshPattern.exec(text) ?? []
  return handle === undefined || number === undefined
    ? undefined
    : { handle, generation: Number.parseInt(number, 16), hash: sha256(text), text }
}

/** Whether this service made the token, however long ago: with any key that is still in the ring. */
export const isOurs = (derivations: Derivations, { handle, generation, text }: PresentedRefresh): boolean =>
  derivations
    .macs('oauth.refresh_token', '')
    .some(({ keyId }) => deriveAgain(derivations, { handle, generation, keyId })?.refreshToken === text)

/**
 * A request that comes to any process within this time after the rotation is the same use: on a machine with other work a request is tens of
 * milliseconds on its way. The new pair is answered only after it, so who has an answer is always later.
 */
const sameUseMs = 50
export const answerAfterMs = sameUseMs + 10

const arrive = statement(
  'oauth.refresh_arrives',
  `select grant_id, least(transaction_timestamp(), statement_timestamp() - make_interval(secs => $2::float8))::text as arrived_at
   from oauth_grants where handle = $1`,
)
const arrivedInTime = statement(
  'oauth.refresh_came_before',
  `select $3::timestamptz < rotated_at + make_interval(secs => $4) as in_time
   from oauth_access_tokens where grant_id = $1 and generation = $2`,
)

/** Whether the presented token is the one of this hash. */
export const isHashOf = (hash: Buffer | null, presented: PresentedRefresh): boolean =>
  hash !== null && equalBytes(hash, presented.hash)

/** By the database's clock. Null: no such grant. */
export type Arrival = { grantId: Uuid; arrivedAt: string } | null

export const readArrival = async (
  tx: Tx,
  { presented, elapsedMs }: { presented: PresentedRefresh; elapsedMs: () => number },
): Promise<Arrival> => {
  const [row] = await tx.query<{ grant_id: Uuid; arrived_at: string }>(arrive, [presented.handle, elapsedMs() / 1000])
  return row ? { grantId: row.grant_id, arrivedAt: row.arrived_at } : null
}

/**
 * The request was under way before the pair of the presented token's rotation was answered, by the database's clock alone, or came late by no
 * more than the configured leeway. The number of rotations since then does not matter: connections of one client that refresh independently overtake each
 * other.
 */
export const inFlight = async (
  tx: Tx,
  config: Config,
  arrival: NonNullable<Arrival>,
  presented: PresentedRefresh,
): Promise<boolean> => {
  const [row] = await tx.query<{ in_time: boolean }>(arrivedInTime, [
    arrival.grantId,
    presented.generation + 1,
    arrival.arrivedAt,
    config.OAUTH_REFRESH_LEEWAY_SECONDS + sameUseMs / 1_000,
  ])
  return row?.in_time ?? false
}
