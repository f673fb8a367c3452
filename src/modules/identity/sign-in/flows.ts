import type { z } from 'zod'
import { findActiveCredential } from '../../../auth/credential.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { type ProviderName, providerFailed, providerTitles } from '../../../auth/providers.ts'
import { equalBytes, newOpaqueToken, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import { type Db, inTx, type Tx } from '../../../db/client.ts'
import { audit } from '../../../events/audit.ts'
import type { Page } from '../../../http/page.ts'
import { isoTime } from '../../../lib/clock.ts'
import { deviceName } from '../../../lib/device-name.ts'
import { CommitThenThrow, invalidAt, Refusal } from '../../../lib/errors.ts'
import { formatId } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { readAccount } from '../accounts/service.ts'
import { linkIdentity, newMethodRefusal } from '../identities/link.ts'
import type { IdentityProof } from '../identities/queries.ts'
import type { CallbackQuery } from '../schema.ts'
import { findSession, requireSignInAuthority, type SessionRecord } from '../sessions/service.ts'
import { bindFlow, consumeFlow, type Flow, findFlowOfLink, initiatorOf, openFlow } from './flow-rows.ts'
import { readReturnTo } from './return-to.ts'
import { signIn } from './service.ts'

// A sign-in begins in its browser. A link may begin with any credential, and a browser continues it at a page of ours. A proof
// stays in the browser that has the session's cookie: otherwise the owner's click elsewhere would prove a thief's session.

type FlowDeps = Pick<Parts, 'clock' | 'config' | 'db' | 'derivations' | 'identityProviders' | 'lastUsed' | 'vault'>

const redirectUriOf = ({ config }: FlowDeps, provider: ProviderName): string => `${config.publicUrl}/v1/auth/${provider}/callback`

export const requireProvider = ({ identityProviders }: FlowDeps, name: ProviderName) => {
  const provider = identityProviders[name]
  if (!provider) throw new Refusal('provider_not_configured')
  return provider
}

/** Linking lets the person choose an account at the provider, because the browser may be signed in to another one. */
const authorizationUrlOf = (deps: FlowDeps, { provider, secrets, linkHash }: Pick<Flow, 'provider' | 'secrets' | 'linkHash'>) =>
  requireProvider(deps, provider).authorizationUrl(secrets, {
    redirectUri: redirectUriOf(deps, provider),
    prompt: secrets.confirms ? 'sign_in' : linkHash === null ? null : 'account',
  })

type StartInput = { provider: ProviderName; returnTo: string | undefined }

/** `flowCookie`: of the requesting browser. No other browser can finish the sign-in. */
export const startSignIn = async (
  deps: FlowDeps,
  origin: RequestOrigin,
  { provider, flowCookie, ...input }: StartInput & { flowCookie: string },
) => {
  requireProvider(deps, provider)
  const returnTo = readReturnTo(deps.config, input.returnTo ?? '/')
  const { secrets, expiresAt } = await inTx(deps.db, async (tx) => {
    audit(tx, { accountId: null, origin, way: `sign_in:${provider}` }, 'sign_in.start', { after: { provider } })
    return openFlow(tx, deps, { provider, returnTo, browserHash: sha256(flowCookie) })
  })
  return {
    authorization_url: await authorizationUrlOf(deps, { provider, secrets, linkHash: null }),
    expires_at: isoTime(expiresAt),
  }
}

export const readLinkReturnTo = ({ config }: FlowDeps, requested: string | undefined): string =>
  readReturnTo(config, requested ?? '/account')

/**
 * A page of ours names the account before the browser continues to the provider, so that a link on another site cannot skip it.
 * `flowCookie`: set if a page of ours sent the request and named the account; only the browser with this cookie skips the page.
 */
export const startLink = async (
  tx: Tx,
  deps: FlowDeps,
  caller: Principal,
  { provider, returnTo, flowCookie }: { provider: ProviderName; returnTo: string; flowCookie: string | null },
) => {
  await requireSignInAuthority(tx, deps.config, caller)
  const link = newOpaqueToken()
  const { accountId, credential, grant, origin, originSessionId: sessionId } = caller
  const flow = {
    provider,
    returnTo,
    browserHash: flowCookie === null ? null : sha256(flowCookie),
    linkHash: sha256(link),
    accountId,
    credentialKind: credential.kind,
    credentialId: credential.id,
    grantId: grant?.id ?? null,
  }
  // An unproven session cannot link a new identity. An identity that is already linked proves the session instead.
  const confirms = sessionId !== null &&
    newMethodRefusal(caller, tx.at) && { sessionId, ip: origin.ip, userAgent: origin.userAgent }
  const { expiresAt } = openFlow(tx, deps, flow, confirms || undefined)
  audit(tx, caller, 'identity.link_start', { after: { provider } })
  return { authorization_url: `${deps.config.publicUrl}/link/${link}`, expires_at: isoTime(expiresAt) }
}

/** Starts a link for a signed-in caller of the start route, with the checks that POST routes declare. */
export const startLinkAs = async (deps: FlowDeps, caller: Principal, input: StartInput) => {
  requireProvider(deps, input.provider)
  if (!caller.permissions.has('account.manage'))
    throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  if (caller.accountStatus === 'frozen') throw new Refusal('account_frozen')
  const returnTo = readLinkReturnTo(deps, input.returnTo)
  return inTx(deps.db, (tx) => startLink(tx, deps, caller, { ...input, returnTo, flowCookie: null }))
}

const linkEndedRefusal = (): Refusal =>
  new Refusal('not_found', { message: 'This link was used, has ended or does not exist. Start again to get a new one.' })

const otherBrowserRefusal = (): Refusal =>
  invalidAt(
    'Cookie',
    'This page confirms a session of another browser, or one that has ended. Open it in the browser in which you were asked to confirm. If you were not asked, close it: someone else may have sent it to you.',
  )

/** Throws unless `cookie`, the session cookie, belongs to the session that the flow confirms. */
const requireOwnSession = async (db: Db, { accountId, secrets: { confirms } }: Flow, sessionCookie: string | undefined) => {
  if (!confirms || accountId === null) return undefined
  const session = await findSession(db, { accountId, id: confirms.sessionId })
  if (!session || sessionCookie === undefined || !equalBytes(session.tokenHash, sha256(sessionCookie)))
    throw otherBrowserRefusal()
  return session
}

const findLiveLink = async (deps: FlowDeps, link: string): Promise<Flow> => {
  const now = deps.clock.now()
  const flow = await findFlowOfLink(deps, link, now)
  const initiator = flow && initiatorOf(flow)
  const active = initiator && (await findActiveCredential(deps.db, initiator, now, deps.config))
  if (!active) throw linkEndedRefusal()
  return flow
}

/** Proves that this browser saw the page: otherwise a link to the address behind the page would skip it. */
const pageMac = (derivations: Derivations, link: string, flowCookie: string): string =>
  derivations.mac('link-page', `${link}:${flowCookie}`).toString('base64url')

/** Accepts every key of the ring, because processes with an earlier current key may have rendered the page. */
const isPageMac = (derivations: Derivations, link: string, flowCookie: string, given: string): boolean =>
  derivations.macs('link-page', `${link}:${flowCookie}`).some(({ mac }) => equalBytes(mac, Buffer.from(given, 'base64url')))

const formatMinute = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const describeDevice = ({ ip, userAgent }: { ip: string | null; userAgent: string | null }): string =>
  `${deviceName(userAgent)} at the address ${ip ?? 'unknown'}`

/** Details that let a person recognize a session that is not their own. */
const describeProof = ({ createdAt, secrets: { confirms } }: Flow, session: SessionRecord): string[] => [
  `You confirm the session of ${describeDevice(session)}, signed in since ${formatMinute(session.createdAt)}. For ten minutes, it can then change sign-in methods, keys, members and policies.`,
  ...(confirms ? [`This was requested on ${formatMinute(createdAt)} from ${describeDevice(confirms)}.`] : []),
]

/**
 * Returns a page that names the account, to prevent linking to a stranger's. A browser that requested the link itself, and is
 * signed in to the same account, continues without the page.
 */
export const openLinkPage = async (
  deps: FlowDeps,
  link: string,
  {
    ownFlowCookie,
    caller,
    sessionCookie,
    renewFlowCookie,
  }: { ownFlowCookie: string | null; caller: Principal | null; sessionCookie: string | undefined; renewFlowCookie: () => string },
): Promise<string | Page> => {
  const flow = await findLiveLink(deps, link)
  const { accountId, browserHash, provider } = flow
  if (accountId === null) throw linkEndedRefusal()
  const proving = await requireOwnSession(deps.db, flow, sessionCookie)
  const isRequestingBrowser = ownFlowCookie !== null && browserHash !== null && equalBytes(browserHash, sha256(ownFlowCookie))
  if (isRequestingBrowser && caller?.accountId === accountId) return authorizationUrlOf(deps, flow)
  const account = await readAccount(deps.db, accountId)
  const id = formatId('account', accountId)
  const named = [account.display_name, account.email].filter(Boolean).join(', ')
  const provided = providerTitles[provider]
  const to = `the account ${named ? `${named} (${id})` : id}`
  const title = proving
    ? `Confirm with ${provided}`
    : `Link ${provided} to ${account.display_name ?? account.email ?? 'an account'}?`
  const about = proving
    ? `Confirm that ${to} is yours, with a ${provided} sign-in that is already linked to it. This page links no other sign-in.`
    : `Your ${provided} sign-in will be linked to ${to}. You can then sign in to that account with it.`
  const page = pageMac(deps.derivations, link, renewFlowCookie())
  if (caller && caller.accountId !== accountId) {
    const other = 'This browser is signed in to another account. Sign out there first, or open this page in another browser.'
    return { title, paragraphs: [about, other] }
  }
  return {
    title,
    paragraphs: [about, ...(proving ? describeProof(flow, proving) : []), 'Continue only if you started this yourself.'],
    links: [{ href: `/link/${link}/continue?page=${page}`, text: `Continue with ${provided}`, primary: true }],
  }
}

type ContinueRequest = { flowCookie: string | null; sessionCookie: string | undefined; page: string }

export const continueLink = async (
  deps: FlowDeps,
  link: string,
  { flowCookie, sessionCookie, page }: ContinueRequest,
): Promise<string> => {
  const flow = await findLiveLink(deps, link)
  await requireOwnSession(deps.db, flow, sessionCookie)
  if (!flowCookie || !isPageMac(deps.derivations, link, flowCookie, page)) throw linkEndedRefusal()
  if (!(await bindFlow(deps, flow, flowCookie))) throw linkEndedRefusal()
  return authorizationUrlOf(deps, flow)
}

type CallbackRequest = z.output<typeof CallbackQuery> &
  Omit<ContinueRequest, 'page'> & { provider: ProviderName; browserCookie: string }

const redeem = async (
  deps: FlowDeps,
  flow: Flow | undefined,
  { code, sessionCookie, error }: CallbackRequest,
): Promise<IdentityProof> => {
  if (!flow) throw invalidAt('state', 'This sign-in was not started in this browser, has ended, or has expired. Start again.')
  const { provider: name, secrets } = flow
  await requireOwnSession(deps.db, flow, sessionCookie)
  const provider = requireProvider(deps, name)
  if (error !== undefined || code === undefined) throw providerFailed(name, 'it sent the browser back without a code')
  const signedInSince = secrets.confirms ? flow.createdAt : null
  const proven = await provider.redeem(secrets, { code, redirectUri: redirectUriOf(deps, name), signedInSince })
  return { ...proven, provider: name, issuer: provider.issuer, subjectKey: proven.subject, chainId: null }
}

/** Consumes the flow, even on failure. A refusal comes with the page to return to if the browser finished its own flow. */
export const finishFlow = async (deps: FlowDeps, origin: RequestOrigin, callback: CallbackRequest) => {
  const { provider, flowCookie, state } = callback
  const flow = flowCookie && state ? await consumeFlow(deps, { provider, state, flowCookie }, deps.clock.now()) : undefined
  const returnTo = flow?.returnTo ?? '/'
  const initiator = flow ? initiatorOf(flow) : null
  const actor = initiator
    ? { accountId: initiator.accountId, origin, way: `link:${provider}`, startedBy: initiator }
    : { accountId: null, origin, way: `sign_in:${provider}` }
  const recordRefusal = (tx: Tx, reason: string): void => audit(tx, actor, 'sign_in.refused', { after: { reason } })
  if (flow && callback.error === 'access_denied') {
    await inTx(deps.db, async (tx) => recordRefusal(tx, 'denied at the provider'))
    return { returnTo, outcome: 'denied', session: null }
  }
  try {
    const proof = await redeem(deps, flow, callback).catch(async (error: unknown) => {
      await inTx(deps.db, async (tx) => recordRefusal(tx, error instanceof Refusal ? error.message : 'internal error'))
      throw error
    })
    if (actor.accountId === null) {
      const { outcome, session } = await signIn(deps, {
        provider,
        verdict: proof,
        nonce: null,
        origin,
        browserCookie: callback.browserCookie,
      })
      return { returnTo, outcome, session }
    }
    const { accountId, startedBy } = actor
    const { outcome } = await inTx(deps.db, async (tx) => {
      // The lock comes first: nothing is linked after an acknowledged logout or revocation, and a later one ends the link.
      await lockAccount(tx, accountId)
      const active = await findActiveCredential(tx, startedBy, tx.at, deps.config)
      const provesSession = flow?.secrets.confirms !== undefined
      if (active) return linkIdentity(tx, deps.config, actor, { ...startedBy, ...active, provesSession }, proof)
      const ended = new Refusal('invalid_token', { message: 'The session or key that started this link is no longer accepted.' })
      recordRefusal(tx, ended.message)
      throw new CommitThenThrow(ended)
    })
    return { returnTo, outcome, session: null }
  } catch (error) {
    if (error instanceof Refusal) return { returnTo, refusal: error }
    throw error
  }
}
