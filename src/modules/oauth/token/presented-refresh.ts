import { eq } from 'drizzle-orm'
import { equalBytes, secretPrefixes, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Config } from '../../../config.ts'
import { type Db, first, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { oauthGrants } from '../../../db/tables/oauth.ts'
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

const currentHash = prepare('oauth.current_refresh', { handle: 'text' }, (orm, at) =>
  orm.select({ hash: oauthGrants.currentHash }).from(oauthGrants).where(eq(oauthGrants.handle, at.handle)),
)

/** Whether the token is its grant's current one now. */
export const isCurrent = async (db: Db, presented: PresentedRefresh): Promise<boolean> =>
  isHashOf((await first(db, currentHash, { handle: presented.handle }))?.hash ?? null, presented)

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
 * The request was under way when the presented token was rotated, by the database's clock alone, or came late by no more than the
 * configured leeway. The number of rotations since then does not matter: connections of one client that refresh independently overtake each
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
    config.OAUTH_REFRESH_LEEWAY_SECONDS,
  ])
  return row?.in_time ?? false
}
