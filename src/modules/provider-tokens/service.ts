import { setTimeout as wait } from 'node:timers/promises'
import { and, eq, lt, ne } from 'drizzle-orm'
import type { Logger } from 'pino'
import type { Vault } from '../../auth/vault.ts'
import { type Database, statement, type Tx } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { providerTokens } from '../../db/tables/rails.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Provider } from '../../lib/rail-names.ts'
import type { HeldToken, ShareToken } from '../../rails/rail.ts'

// A fetch is a numbered lease. The process whose insert or update raises `begun` has the lease and fetches the token for all
// processes. `ended` is the number of the last finished fetch. If it does not reach `begun` within three seconds, another process
// takes over. A late result is fenced: `ended` only rises, so an older fetch overwrites nothing.

/** Duration of the lease, by the database's clock, which all processes share. */
const fetchSeconds = 3

// SQL text: drizzle cannot express the database's time, or a write that depends on the number that was read.
const read = statement('provider_tokens.read')`
  select token_ciphertext as ciphertext, token_key_id as "keyId", expires_at as until, begun,
     ended < begun and begun_at > now() - interval '${fetchSeconds} seconds' as "isBeingFetched"
   from provider_tokens where provider = $1`
const begin = statement('provider_tokens.begin')`
  insert into provider_tokens (provider, begun, begun_at, ended) values ($1, 1, now(), 0)
   on conflict (provider) do update set begun = provider_tokens.begun + 1, begun_at = now() where provider_tokens.begun = $2
   returning begun`
/** Without a token, the previous one stays. */
const finish = prepareWrite(
  'provider_tokens.finish',
  { provider: 'text', number: 'int', ciphertext: 'bytea?', keyId: 'text?', until: 'timestamptz?' },
  (orm, param) =>
    orm
      .update(providerTokens)
      .set({ tokenCiphertext: param.ciphertext, tokenKeyId: param.keyId, expiresAt: param.until, ended: param.number })
      .where(and(eq(providerTokens.provider, param.provider), lt(providerTokens.ended, param.number))),
)
const forget = prepareWrite('provider_tokens.forget', { keyId: 'text' }, (orm, param) =>
  orm
    .update(providerTokens)
    .set({ tokenCiphertext: null, tokenKeyId: null, expiresAt: null })
    .where(ne(providerTokens.tokenKeyId, param.keyId))
    .returning({ provider: providerTokens.provider }),
)

type Row = { ciphertext: Buffer | null; keyId: string | null; until: Date | null; begun: number; isBeingFetched: boolean }

type SharingDeps = { clock: Clock; db: Database; logger: Logger; vault: Vault }

type TokenRequest = Parameters<ShareToken>[0]

/** Seals a token with its credentials as context, so that other credentials cannot open it. The credentials are not stored. */
const contextOf = (provider: Provider, credentials: readonly string[]) => ['provider_token', provider, ...credentials]

const tokenIn = (row: Row, { clock, vault }: SharingDeps, { provider, credentials, refused }: TokenRequest) => {
  const { ciphertext, keyId, until } = row
  if (ciphertext === null || keyId === null || until === null || until <= clock.now()) return undefined
  try {
    const value = vault.open({ ciphertext, keyId }, contextOf(provider, credentials))
    return value === refused ? undefined : { value, until }
  } catch {
    return undefined
  }
}

const databaseWithinMs = 2_000

/** Limits the wait for the database, because a sender must not hang if the database does not answer. */
const withDeadline = <T>(query: Promise<T>): Promise<T> =>
  Promise.race([
    query,
    wait(databaseWithinMs, undefined, { ref: false }).then(() => {
      throw new Error('the database did not answer in time')
    }),
  ])

const warn = ({ logger }: SharingDeps, provider: Provider, error: unknown, message: string): void =>
  logger.warn({ provider, ...describeError(error) }, message)

const pollMs = 50
const maxWaitMs = 8_000

/**
 * Returns the shared token, or the number of the lease under which this process fetches the token for all processes. Null if
 * other processes took too long.
 */
const shareOrBegin = async (deps: SharingDeps, request: TokenRequest): Promise<HeldToken | number | null> => {
  const { db } = deps
  for (const giveUpAt = performance.now() + maxWaitMs; performance.now() < giveUpAt; await wait(pollMs)) {
    const [row] = await withDeadline(db.query<Row>(read, [request.provider]))
    const token = row && tokenIn(row, deps, request)
    if (token) return token
    if (row?.isBeingFetched) continue
    const [ours] = await withDeadline(db.query<{ begun: number }>(begin, [request.provider, row?.begun ?? 0]))
    if (ours) return ours.begun
  }
  return null
}

/** Fetches without a transaction or a lock. If this process does not finish, another process takes over. */
const fetchForAll = async (deps: SharingDeps, request: TokenRequest, number: number): ReturnType<ShareToken> => {
  const { provider, credentials } = request
  const token = await request.fetch()
  try {
    const held = 'value' in token ? token : null
    const sealed = held && deps.vault.seal(held.value, contextOf(provider, credentials))
    await withDeadline(deps.db.run(finish, { provider, number, ...sealed, until: held?.until }))
  } catch (error) {
    warn(deps, provider, error, 'an access token of a provider could not be shared with other processes')
  }
  return token
}

/**
 * A refused token is replaced only while it is the shared one. Without the database, or after a long wait, a process fetches its
 * own token. If that ends another process's token, the provider refuses that token, and its process shares the next one.
 */
export const createTokenSharing =
  (deps: SharingDeps): ShareToken =>
  async (request) => {
    const shared = await shareOrBegin(deps, request).catch((error: unknown) => {
      warn(deps, request.provider, error, 'the shared access token of a provider could not be read')
      return null
    })
    return typeof shared === 'number' ? fetchForAll(deps, request, shared) : (shared ?? request.fetch())
  }

/** Removes tokens under older keys and returns their number. They cannot be resealed: their credentials may differ here. */
export const forgetTokens = async (tx: Tx, vault: Vault): Promise<number> =>
  (await tx.run(forget, { keyId: vault.currentKeyId })).length
