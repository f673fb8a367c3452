import type { z } from 'zod'
import { findActiveCredential } from '../../../auth/credential.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { type ProviderName, providerFailed } from '../../../auth/providers.ts'
import { equalBytes, newOpaqueToken, sha256 } from '../../../auth/secrets.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import { type Db, inTx, type Tx } from '../../../db/client.ts'
import { audit } from '../../../events/audit.ts'
import { isoTime } from '../../../lib/clock.ts'
import { CommitThenThrow, invalidAt, Refusal } from '../../../lib/errors.ts'
import type { Parts } from '../../parts.ts'
import { linkIdentity, newMethodRefusal } from '../identities/link.ts'
import type { IdentityProof } from '../identities/queries.ts'
import type { CallbackQuery } from '../schema.ts'
import { findSession, requireSignInAuthority } from '../sessions/service.ts'
import { consumeFlow, type Flow, initiatorOf, openFlow } from './flow-rows.ts'
import { readReturnTo } from './return-to.ts'
import { signIn } from './service.ts'

// A sign-in begins in its browser. A link may begin with any credential, and a browser continues it at a page of ours. A proof
// stays in the browser that has the session's cookie: otherwise the owner's click elsewhere would prove a thief's session.

export type FlowDeps = Pick<Parts, 'clock' | 'config' | 'db' | 'derivations' | 'identityProviders' | 'lastUsed' | 'vault'>

const redirectUriOf = ({ config }: FlowDeps, provider: ProviderName): string => `${config.publicUrl}/v1/auth/${provider}/callback`

export const requireProvider = ({ identityProviders }: FlowDeps, name: ProviderName) => {
  const provider = identityProviders[name]
  if (!provider) throw new Refusal('provider_not_configured')
  return provider
}

/** Linking lets the person choose an account at the provider, because the browser may be signed in to another one. */
export const authorizationUrlOf = (
  deps: FlowDeps,
  { provider, secrets, linkHash }: Pick<Flow, 'provider' | 'secrets' | 'linkHash'>,
) =>
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

const otherBrowserRefusal = (): Refusal =>
  invalidAt(
    'Cookie',
    'This page confirms a session of another browser, or one that has ended. Open it in the browser in which you were asked to confirm. If you were not asked, close it: someone else may have sent it to you.',
  )

/** Throws unless `cookie`, the session cookie, belongs to the session that the flow confirms. */
export const requireOwnSession = async (db: Db, { accountId, secrets: { confirms } }: Flow, cookie: string | undefined) => {
  if (!confirms || accountId === null) return undefined
  const session = await findSession(db, { accountId, id: confirms.sessionId })
  if (!session || cookie === undefined || !equalBytes(session.tokenHash, sha256(cookie))) throw otherBrowserRefusal()
  return session
}

export type BrowserCookies = { flowCookie: string | null; sessionCookie: string | undefined }

type CallbackRequest = z.output<typeof CallbackQuery> & BrowserCookies & { provider: ProviderName; browserCookie: string }

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
      const { browserCookie } = callback
      const { outcome, session } = await signIn(deps, { provider, verdict: proof, nonce: null, origin, browserCookie })
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
