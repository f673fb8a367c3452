import { randomBytes } from 'node:crypto'
import { and, eq, gt, isNull, or } from 'drizzle-orm'
import { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import type { FlowSecrets, ProviderName } from '../../../auth/providers.ts'
import { sha256 } from '../../../auth/secrets.ts'
import type { Vault } from '../../../auth/vault.ts'
import type { Config } from '../../../config.ts'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow, prepareWrite } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { signInFlows } from '../../../db/tables/sign-in-flows.ts'
import { type Clock, secondsAfter } from '../../../lib/clock.ts'
import { invalidFields, type Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'

const longest = 2000

const refused = (): Refusal =>
  invalidFields({
    path: 'return_to',
    message: 'must be the path of a page of this site (/…, not under /v1/ or /link/) or a URL of an allowed origin',
  })

/** Undoes percent-encoding until nothing changes, as a proxy or a page may decode again; undefined when it is malformed. */
const fullyDecoded = (text: string): string | undefined => {
  try {
    for (let current = text; ; ) {
      const decoded = decodeURIComponent(current)
      if (decoded === current) return decoded
      current = decoded
    }
  } catch {
    return undefined
  }
}

/** Browsers read a backslash as a slash and drop tabs and line breaks: text that looks like a path can be another host. */
const isPlainPath = (pathname: string): boolean => {
  const decoded = fullyDecoded(pathname)
  return decoded !== undefined && /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(decoded)
}

/** Paths that have an effect when a browser only opens them, or that first name an account: no sign-in redirects to them. */
const isInternalPath = (pathname: string): boolean => /^\/(?:v1|link)(?:\/|$)/i.test(fullyDecoded(pathname) ?? '')

/**
 * Where a browser may go after a sign-in: a path of a page on this site, or a URL of an allowed origin. Anything else is refused, never
 * corrected.
 */
export const readReturnTo = (config: Config, input: string): string => {
  if (input.length > longest || /[\\\s\u0000-\u001f\u007f]/.test(input)) throw refused()
  const isPath = input.startsWith('/')
  const url = URL.parse(input, isPath ? config.publicUrl : undefined)
  if (url?.username !== '' || url.password !== '' || !isPlainPath(url.pathname)) throw refused()
  if (url.origin !== config.publicUrl && (isPath || !config.CORS_ORIGINS.includes(url.origin))) throw refused()
  if (url.origin === config.publicUrl && isInternalPath(url.pathname)) throw refused()
  return isPath ? url.pathname + url.search + url.hash : url.href
}

export const withOutcome = (config: Config, returnTo: string, outcome: string): string => {
  const url = new URL(returnTo, config.publicUrl)
  url.searchParams.set('outcome', outcome)
  return returnTo.startsWith('/') ? url.pathname + url.search + url.hash : url.href
}

export const flowTtlSeconds = 600

export type LinkIntent = { accountId: Uuid; credential: Principal['credential']; grantId: Uuid | null }

export type Flow = {
  id: Uuid
  provider: ProviderName
  returnTo: string
  expiresAt: Date
  /** Null: a sign-in. */
  intent: LinkIntent | null
  secrets: FlowSecrets
  /** Hash of the secret of the browser that owns the flow; null while a link page's flow has no browser yet. */
  browserHash: Buffer | null
}

type Row = typeof signInFlows.$inferSelect

const byLink = prepare('sign_in_flows.by_link', { linkHash: 'bytea', now: 'timestamptz' }, (orm, at) =>
  orm
    .select()
    .from(signInFlows)
    .where(and(eq(signInFlows.linkHash, at.linkHash), gt(signInFlows.expiresAt, at.now))),
)

const bind = prepareWrite('sign_in_flows.bind', { id: 'uuid', browserHash: 'bytea' }, (orm, at) =>
  orm
    .update(signInFlows)
    .set({ browserHash: at.browserHash })
    .where(and(eq(signInFlows.id, at.id), or(isNull(signInFlows.browserHash), eq(signInFlows.browserHash, at.browserHash))))
    .returning({ id: signInFlows.id }),
)

const take = prepareWrite(
  'sign_in_flows.take',
  { stateHash: 'bytea', provider: 'text', browserHash: 'bytea', now: 'timestamptz' },
  (orm, at) =>
    orm
      .delete(signInFlows)
      .where(
        and(
          eq(signInFlows.stateHash, at.stateHash),
          eq(signInFlows.provider, at.provider),
          eq(signInFlows.browserHash, at.browserHash),
          gt(signInFlows.expiresAt, at.now),
        ),
      )
      .returning(),
)

const newToken = () => randomBytes(32).toString('base64url')
const contextOf = (id: Uuid) => ['sign_in_flow', id]

const intentOf = (row: Row): LinkIntent | null => {
  const { accountId, credentialKind, credentialId, grantId } = row
  if (accountId === null || credentialKind === null || credentialId === null) return null
  return { accountId, credential: { kind: credentialKind, id: credentialId }, grantId }
}

const Secrets = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() })

/** A flow that was sealed with a key that has been removed since counts as expired. */
const read = (vault: Vault, row: Row): Flow | undefined => {
  const { id, provider, returnTo, expiresAt, browserHash } = row
  try {
    const opened = vault.open({ ciphertext: row.sealed, keyId: row.sealedKeyId }, contextOf(id))
    return { id, provider, returnTo, expiresAt, browserHash, intent: intentOf(row), secrets: Secrets.parse(JSON.parse(opened)) }
  } catch {
    return undefined
  }
}

/**
 * Begins a flow: for the browser that asked for it, when that browser is known to be the one that will finish it. A link goes through a
 * page of ours, whose secret this creates. The state is stored only as a hash; state, nonce and verifier are also stored encrypted.
 */
export const openFlow = async (
  tx: Tx,
  vault: Vault,
  input: { provider: ProviderName; returnTo: string; intent: LinkIntent | null; browser: string | null },
): Promise<Flow & { link: string | null }> => {
  const { at } = tx
  const { provider, returnTo, intent, browser } = input
  const id = newId()
  const secrets: FlowSecrets = { state: newToken(), nonce: newToken(), verifier: newToken() }
  const link = intent === null ? null : newToken()
  const browserHash = browser === null ? null : sha256(browser)
  const { ciphertext, keyId } = vault.seal(JSON.stringify(secrets), contextOf(id))
  const expiresAt = secondsAfter(at, flowTtlSeconds)
  insertRow(tx, signInFlows, {
    id,
    provider,
    stateHash: sha256(secrets.state),
    browserHash,
    linkHash: link === null ? null : sha256(link),
    sealed: ciphertext,
    sealedKeyId: keyId,
    returnTo,
    ...(intent && {
      accountId: intent.accountId,
      credentialKind: intent.credential.kind,
      credentialId: intent.credential.id,
      grantId: intent.grantId,
    }),
    createdAt: at,
    expiresAt,
  })
  return { id, provider, returnTo, expiresAt, intent, secrets, link, browserHash }
}

/** The flow of a link page, until it expires. */
export const findByLink = async (db: Db, clock: Clock, vault: Vault, link: string): Promise<Flow | undefined> => {
  const row = await first(db, byLink, { linkHash: sha256(link), now: clock.now() })
  return row && read(vault, row)
}

/** Binds a link page's flow to the first browser that continues from it; false for every other browser. */
export const bindFlow = async (db: Db, id: Uuid, browser: string): Promise<boolean> =>
  (await db.run(bind, { id, browserHash: sha256(browser) })).length > 0

/** Ends a flow: for its provider and its browser, before it expires, and once. */
export const takeFlow = async (
  db: Db,
  clock: Clock,
  vault: Vault,
  answer: { provider: ProviderName; state: string; browser: string },
): Promise<Flow | undefined> => {
  const row = await first(db, take, {
    stateHash: sha256(answer.state),
    provider: answer.provider,
    browserHash: sha256(answer.browser),
    now: clock.now(),
  })
  return row && read(vault, row)
}

const removal = prepareRemoval('sign_in_flows.prune', signInFlows.id, signInFlows.expiresAt)

export const pruneFlows = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
