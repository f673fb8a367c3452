import { randomBytes } from 'node:crypto'
import { and, eq, gt, isNull, or } from 'drizzle-orm'
import { z } from 'zod'
import { findActive } from '../../../auth/credential.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { type FlowSecrets, type ProviderName, providerFailed, providerTitles } from '../../../auth/providers.ts'
import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import { type Db, first, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow, prepareWrite } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { signInFlows } from '../../../db/tables/sign-in-flows.ts'
import { audit } from '../../../events/audit.ts'
import type { Page } from '../../../http/page.ts'
import { isoTime, secondsAfter } from '../../../lib/clock.ts'
import { CommitThenThrow, Refusal } from '../../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { readAccount } from '../accounts/service.ts'
import { linkIdentity, newMethodRefusal } from '../identities/link.ts'
import type { IdentityProof } from '../identities/queries.ts'
import type { CallbackQuery } from '../schema.ts'
import { requireSignInAuthority } from '../sessions/service.ts'
import { readReturnTo } from './return-to.ts'
import { signIn } from './service.ts'

// A sign-in begins in its browser; a link begins with any credential, and goes through a page of ours, at which a browser takes it over.

export const flowTtlSeconds = 600

type FlowDeps = Pick<Parts, 'clock' | 'config' | 'db' | 'derivations' | 'identityProviders' | 'lastUsed' | 'vault'>

type Row = typeof signInFlows.$inferSelect
type Flow = Row & { secrets: FlowSecrets }
/** The credential that began a link, and the account to which it links. Null: a sign-in. */
const beginnerOf = ({ accountId, credentialKind: kind, credentialId: id, grantId }: Row) =>
  accountId === null || kind === null || id === null
    ? null
    : { accountId, credential: { kind, id }, grant: grantId === null ? null : { id: grantId } }

const byLink = prepare('sign_in_flows.by_link', { linkHash: 'bytea', now: 'timestamptz' }, (orm, at) =>
  orm
    .select()
    .from(signInFlows)
    .where(and(eq(signInFlows.linkHash, at.linkHash), gt(signInFlows.expiresAt, at.now))),
)

/** For the first browser that continues from a link's page; no row for every other browser. */
const bind = prepareWrite('sign_in_flows.bind', { id: 'uuid', browserHash: 'bytea' }, (orm, at) =>
  orm
    .update(signInFlows)
    .set({ browserHash: at.browserHash })
    .where(and(eq(signInFlows.id, at.id), or(isNull(signInFlows.browserHash), eq(signInFlows.browserHash, at.browserHash))))
    .returning({ id: signInFlows.id }),
)

/** Ends a flow: for its provider and its browser, before it expires, and once. */
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

const removal = prepareRemoval('sign_in_flows.prune', signInFlows.id, signInFlows.expiresAt)

export const pruneFlows = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })

const newToken = () => randomBytes(32).toString('base64url')
const contextOf = (id: Uuid) => ['sign_in_flow', id]

const openFlow = (
  tx: Tx,
  { vault }: FlowDeps,
  given: Omit<typeof signInFlows.$inferInsert, 'id' | 'stateHash' | 'sealed' | 'sealedKeyId' | 'createdAt' | 'expiresAt'>,
) => {
  const id = newId()
  const secrets: FlowSecrets = { state: newToken(), nonce: newToken(), verifier: newToken() }
  const { ciphertext: sealed, keyId: sealedKeyId } = vault.seal(JSON.stringify(secrets), contextOf(id))
  const expiresAt = secondsAfter(tx.at, flowTtlSeconds)
  insertRow(tx, signInFlows, { id, stateHash: sha256(secrets.state), sealed, sealedKeyId, createdAt: tx.at, expiresAt, ...given })
  return { secrets, expiresAt }
}

const Secrets = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() })

/** A flow that was sealed with a key that has been removed since counts as expired. */
const unseal = ({ vault }: FlowDeps, row: Row | undefined): Flow | undefined => {
  if (!row) return undefined
  try {
    const opened = vault.open({ ciphertext: row.sealed, keyId: row.sealedKeyId }, contextOf(row.id))
    return { ...row, secrets: Secrets.parse(JSON.parse(opened)) }
  } catch {
    return undefined
  }
}

const redirectUriOf = ({ config }: FlowDeps, provider: ProviderName): string => `${config.publicUrl}/v1/auth/${provider}/callback`

export const requireProvider = ({ identityProviders }: FlowDeps, name: ProviderName) => {
  const provider = identityProviders[name]
  if (!provider) throw new Refusal('provider_not_configured')
  return provider
}

/** A person who links chooses the account there: the browser may be signed in to another one. */
const authorizationUrlOf = (deps: FlowDeps, { provider, secrets, linkHash }: Pick<Flow, 'provider' | 'secrets' | 'linkHash'>) =>
  requireProvider(deps, provider).authorizationUrl(secrets, {
    redirectUri: redirectUriOf(deps, provider),
    chooseAccount: linkHash !== null,
  })

type StartInput = { provider: ProviderName; returnTo: string | undefined }

/** `browser`: the secret of the browser that asks; no other browser can finish the sign-in. */
export const startSignIn = async (
  deps: FlowDeps,
  origin: RequestOrigin,
  { provider, browser, ...input }: StartInput & { browser: string },
) => {
  requireProvider(deps, provider)
  const returnTo = readReturnTo(deps.config, input.returnTo ?? '/')
  const { secrets, expiresAt } = await inTx(deps.db, async (tx) => {
    audit(tx, { accountId: null, origin, way: `sign_in:${provider}` }, 'sign_in.start', { after: { provider } })
    return openFlow(tx, deps, { provider, returnTo, browserHash: sha256(browser) })
  })
  return {
    authorization_url: await authorizationUrlOf(deps, { provider, secrets, linkHash: null }),
    expires_at: isoTime(expiresAt),
  }
}

export const readLinkReturnTo = ({ config }: FlowDeps, requested: string | undefined): string =>
  readReturnTo(config, requested ?? '/account')

/**
 * A page of ours names the account before the browser continues to the provider, so that a link on another site cannot skip it. `browser`: set when
 * a page of ours sent the request and showed whose account it is; only that browser continues without the page.
 */
export const startLink = async (
  tx: Tx,
  deps: FlowDeps,
  caller: Principal,
  { provider, returnTo, browser }: { provider: ProviderName; returnTo: string; browser: string | null },
) => {
  await requireSignInAuthority(tx, deps.config, caller)
  const link = newToken()
  const { expiresAt } = openFlow(tx, deps, {
    provider,
    returnTo,
    browserHash: browser === null ? null : sha256(browser),
    linkHash: sha256(link),
    accountId: caller.accountId,
    credentialKind: caller.credential.kind,
    credentialId: caller.credential.id,
    grantId: caller.grant?.id ?? null,
  })
  audit(tx, caller, 'identity.link_start', { after: { provider } })
  return { authorization_url: `${deps.config.publicUrl}/link/${link}`, expires_at: isoTime(expiresAt) }
}

/** For the start route, when its caller is signed in. Makes the checks that POST routes declare. */
export const startLinkAs = async (deps: FlowDeps, caller: Principal, input: StartInput) => {
  requireProvider(deps, input.provider)
  if (!caller.permissions.has('account.manage'))
    throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  if (caller.accountStatus === 'frozen') throw new Refusal('account_frozen')
  const returnTo = readLinkReturnTo(deps, input.returnTo)
  return inTx(deps.db, (tx) => startLink(tx, deps, caller, { ...input, returnTo, browser: null }))
}

const linkEnded = (): Refusal =>
  new Refusal('not_found', { message: 'This link was used, has ended or does not exist. Start again to get a new one.' })

const findLive = async (deps: FlowDeps, link: string): Promise<Flow & { isProof: boolean }> => {
  const now = deps.clock.now()
  const flow = unseal(deps, await first(deps.db, byLink, { linkHash: sha256(link), now }))
  const beginner = flow && beginnerOf(flow)
  const active = beginner && (await findActive(deps.db, beginner, now, deps.config.SESSION_IDLE_DAYS))
  if (!active) throw linkEnded()
  // A session that is not proven links nothing new: what is linked already proves it.
  return { ...flow, isProof: newMethodRefusal({ ...beginner, ...active }, now) !== null }
}

/** Proof that this browser saw the page: without it, a link to the address behind the page would skip the page. */
const proofOf = (derivations: Derivations, link: string, browser: string): Buffer =>
  derivations.mac('link-page', `${link}:${browser}`)

/**
 * The page names the account, so that nobody links to a stranger's. The browser that asked for this link itself (`asker`), and is signed in to the
 * same account, continues without the page.
 */
export const openLinkPage = async (
  deps: FlowDeps,
  link: string,
  { asker, caller, mark }: { asker: string | null; caller: Principal | null; mark: () => string },
): Promise<string | Page> => {
  const flow = await findLive(deps, link)
  const { accountId, browserHash, provider } = flow
  if (accountId === null) throw linkEnded()
  const isAsker = asker !== null && browserHash !== null && equalBytes(browserHash, sha256(asker))
  if (isAsker && caller?.accountId === accountId) return authorizationUrlOf(deps, flow)
  const account = await readAccount(deps.db, accountId)
  const id = formatId('account', accountId)
  const named = [account.display_name, account.email].filter(Boolean).join(', ')
  const provided = providerTitles[provider]
  const to = `the account ${named ? `${named} (${id})` : id}`
  const title = flow.isProof
    ? `Confirm with ${provided}`
    : `Link ${provided} to ${account.display_name ?? account.email ?? 'an account'}?`
  const about = flow.isProof
    ? `Confirm that you are the person of ${to}, with a ${provided} sign-in that is linked to it already. Another one is not linked by this.`
    : `Your ${provided} sign-in will be linked to ${to}, if it is not yet. From then on it opens that account.`
  const proof = proofOf(deps.derivations, link, mark()).toString('base64url')
  if (caller && caller.accountId !== accountId) {
    const other = 'This browser is signed in to another account. Sign out there first, or open this page in another browser.'
    return { title, paragraphs: [about, other] }
  }
  return {
    title,
    paragraphs: [about, 'Continue only if you asked for this yourself.'],
    links: [{ href: `/link/${link}/continue?page=${proof}`, text: `Continue with ${provided}`, primary: true }],
  }
}

export const leaveLinkPage = async (deps: FlowDeps, link: string, browser: string | null, proof: string): Promise<string> => {
  const flow = await findLive(deps, link)
  if (!browser || !equalBytes(Buffer.from(proof, 'base64url'), proofOf(deps.derivations, link, browser))) throw linkEnded()
  const bound = await deps.db.run(bind, { id: flow.id, browserHash: sha256(browser) })
  if (bound.length === 0) throw linkEnded()
  return authorizationUrlOf(deps, flow)
}

type ProviderReturn = z.output<typeof CallbackQuery> & { provider: ProviderName; browser: string | null }

const redeem = async (deps: FlowDeps, flow: Flow | undefined, { code, error }: ProviderReturn): Promise<IdentityProof> => {
  if (!flow)
    throw new Refusal('invalid_request', {
      message: 'This sign-in was not started in this browser, has ended, or has expired. Start again.',
    })
  const { provider: name, secrets } = flow
  const provider = requireProvider(deps, name)
  if (error !== undefined || code === undefined) throw providerFailed(name, 'it sent the browser back without a code')
  const proven = await provider.redeem(secrets, { code, redirectUri: redirectUriOf(deps, name) })
  return { ...proven, provider: name, issuer: provider.issuer, subjectKey: proven.subject, chainId: null }
}

/** The flow's state is used up, also by a failure. A refusal names where the browser came from, when it finished its own flow. */
export const finishFlow = async (deps: FlowDeps, origin: RequestOrigin, answer: ProviderReturn) => {
  const { provider, browser, state } = answer
  const key = browser && state ? { stateHash: sha256(state), provider, browserHash: sha256(browser) } : undefined
  const flow = key && unseal(deps, await first(deps.db, take, { ...key, now: deps.clock.now() }))
  const returnTo = flow?.returnTo ?? '/'
  const beginner = flow ? beginnerOf(flow) : null
  const actor = beginner
    ? { accountId: beginner.accountId, origin, way: `link:${provider}`, startedBy: beginner }
    : { accountId: null, origin, way: `sign_in:${provider}` }
  const note = (tx: Tx, reason: string): void => audit(tx, actor, 'sign_in.refused', { after: { reason } })
  if (flow && answer.error === 'access_denied') {
    await inTx(deps.db, async (tx) => note(tx, 'denied at the provider'))
    return { returnTo, outcome: 'denied', session: null }
  }
  try {
    const proof = await redeem(deps, flow, answer).catch(async (error: unknown) => {
      await inTx(deps.db, async (tx) => note(tx, error instanceof Refusal ? error.message : 'internal error'))
      throw error
    })
    if (actor.accountId === null) {
      const { outcome, session } = await signIn(deps, { provider, verdict: proof, nonce: null, origin })
      return { returnTo, outcome, session }
    }
    const { accountId, startedBy } = actor
    const { outcome } = await inTx(deps.db, async (tx) => {
      // The lock is the first statement: after an acknowledged logout or revocation nothing is linked, and a later one ends what was linked.
      await lockAccount(tx, accountId)
      const active = await findActive(tx, startedBy, tx.at, deps.config.SESSION_IDLE_DAYS)
      if (active) return linkIdentity(tx, deps.config, actor, { ...startedBy, ...active }, proof)
      const ended = new Refusal('invalid_token', { message: 'The session or key with which this link was started has ended.' })
      note(tx, ended.message)
      throw new CommitThenThrow(ended)
    })
    return { returnTo, outcome, session: null }
  } catch (error) {
    if (error instanceof Refusal) return { returnTo, refusal: error }
    throw error
  }
}
