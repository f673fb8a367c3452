import { isCredentialActive } from '../../../auth/credential.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { type IdentityProvider, type IdentityProviders, type ProviderName, providerTitles } from '../../../auth/providers.ts'
import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Config } from '../../../config.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { audit } from '../../../events/audit.ts'
import type { Page } from '../../../http/page.ts'
import { Refusal } from '../../../lib/errors.ts'
import { formatId } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { readAccount } from '../accounts/service.ts'
import { requireSignInAuthority } from '../sessions/authority.ts'
import { bindFlow, type Flow, findByLink, type LinkIntent, openFlow, readReturnTo } from './flows.ts'

type StartFlowDeps = Pick<Parts, 'config' | 'db' | 'identityProviders' | 'vault'>

export type StartedFlow = { authorizationUrl: string; expiresAt: Date }

export const redirectUriOf = (config: Config, provider: ProviderName): string =>
  `${config.publicUrl}/v1/auth/${provider}/callback`

export const requireProvider = (identityProviders: IdentityProviders, name: ProviderName): IdentityProvider => {
  const provider = identityProviders[name]
  if (!provider) throw new Refusal('provider_not_configured')
  return provider
}

/** The provider's page for a flow. A person who links chooses the account there, because the browser may be signed in to another one. */
const authorizationUrlOf = (config: Config, identityProviders: IdentityProviders, flow: Flow): Promise<string> =>
  requireProvider(identityProviders, flow.provider).authorizationUrl(flow.secrets, {
    redirectUri: redirectUriOf(config, flow.provider),
    chooseAccount: flow.intent !== null,
  })

/** Makes the checks that POST routes declare: a start is a GET, and can still link. */
const checkLinker = (caller: Principal): void => {
  if (!caller.permissions.has('account.manage'))
    throw new Refusal('forbidden', { details: { required_permission: 'account.manage' } })
  if (caller.accountStatus === 'frozen') throw new Refusal('account_frozen')
}

/**
 * Begins a link. A page of ours names the account before the browser continues to the provider, so that a link on another site cannot skip
 * it. `browser`: set when a page of ours made the request, and the person sees there whose account it is; only that browser continues
 * without the page.
 */
export const startLink = async (
  tx: Tx,
  deps: Pick<Parts, 'config' | 'vault'>,
  caller: Principal,
  input: { provider: ProviderName; returnTo: string; browser: string | null },
): Promise<StartedFlow> => {
  await requireSignInAuthority(tx, deps.config, caller)
  const intent = { accountId: caller.accountId, credential: caller.credential, grantId: caller.grant?.id ?? null }
  const flow = await openFlow(tx, deps.vault, { ...input, intent })
  audit(tx, caller, 'identity.link_start', { after: { provider: input.provider } })
  return { authorizationUrl: `${deps.config.publicUrl}/link/${flow.link}`, expiresAt: flow.expiresAt }
}

export const readLinkReturnTo = (config: Config, requested: string | undefined): string =>
  requested === undefined ? '/account' : readReturnTo(config, requested)

type StartInput = { provider: ProviderName; returnTo: string | undefined }

/** The session-aware start route, for a signed-in caller: begins a link. */
export const startLinkAs = async (deps: StartFlowDeps, caller: Principal, input: StartInput): Promise<StartedFlow> => {
  const { provider } = input
  requireProvider(deps.identityProviders, provider)
  checkLinker(caller)
  const returnTo = readLinkReturnTo(deps.config, input.returnTo)
  return inTx(deps.db, (tx) => startLink(tx, deps, caller, { provider, returnTo, browser: null }))
}

/** Begins a sign-in. `browser`: the secret of the browser that asks; no other browser can finish it. */
export const startSignIn = async (
  deps: StartFlowDeps,
  origin: RequestOrigin,
  input: StartInput & { browser: string },
): Promise<StartedFlow> => {
  const { provider, browser } = input
  requireProvider(deps.identityProviders, provider)
  const returnTo = input.returnTo === undefined ? '/' : readReturnTo(deps.config, input.returnTo)
  const flow = await inTx(deps.db, async (tx) => {
    const actor = { accountId: null, origin, way: `sign_in:${provider}` }
    audit(tx, actor, 'sign_in.start', { after: { provider } })
    return openFlow(tx, deps.vault, { provider, returnTo, intent: null, browser })
  })
  return { authorizationUrl: await authorizationUrlOf(deps.config, deps.identityProviders, flow), expiresAt: flow.expiresAt }
}

type LinkFlow = Flow & { intent: LinkIntent }

const linkEnded = (): Refusal =>
  new Refusal('not_found', { message: 'This link was used, has ended or does not exist. Start again to get a new one.' })

const findLive = async (deps: Pick<Parts, 'clock' | 'config' | 'db' | 'vault'>, link: string): Promise<LinkFlow> => {
  const flow = await findByLink(deps.db, deps.clock, deps.vault, link)
  if (!flow?.intent || !(await isCredentialActive(deps.db, flow.intent, deps.clock.now(), deps.config.SESSION_IDLE_DAYS)))
    throw linkEnded()
  return { ...flow, intent: flow.intent }
}

/** Proof that this browser saw the page: without it, a link to the address behind the page would skip the page. */
const proofOf = (derivations: Derivations, link: string, browser: string): Buffer =>
  derivations.mac('link-page', `${link}:${browser}`)

/** Where the browser continues without the page: when it asked for this link itself, and is signed in to the same account; else null. */
export const passLinkPage = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db' | 'identityProviders' | 'vault'>,
  link: string,
  browser: string | null,
  caller: Principal | null,
): Promise<string | null> => {
  const flow = await findLive(deps, link)
  if (!browser || !flow.browserHash || !equalBytes(flow.browserHash, sha256(browser))) return null
  return caller?.accountId === flow.intent.accountId ? authorizationUrlOf(deps.config, deps.identityProviders, flow) : null
}

/** What a person reads before their sign-in is linked: the account's name, so that they do not link it to a stranger's account. */
export const showLinkPage = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db' | 'derivations' | 'vault'>,
  link: string,
  browser: string,
  caller: Principal | null,
): Promise<Page> => {
  const { intent, provider } = await findLive(deps, link)
  const account = await readAccount(deps.db, intent.accountId)
  const id = formatId('account', intent.accountId)
  const named = [account.display_name, account.email].filter(Boolean).join(', ')
  const title = `Link ${providerTitles[provider]} to ${account.display_name ?? account.email ?? 'an account'}?`
  const about = `Your ${providerTitles[provider]} sign-in will be linked to the account ${named ? `${named} (${id})` : id}. From then on it opens that account.`
  if (caller && caller.accountId !== intent.accountId) {
    return {
      title,
      paragraphs: [
        about,
        'This browser is signed in to another account. Sign out there first, or open this page in another browser.',
      ],
    }
  }
  const href = `/link/${link}/continue?page=${proofOf(deps.derivations, link, browser).toString('base64url')}`
  return {
    title,
    paragraphs: [about, 'Continue only if you asked for this yourself.'],
    links: [{ href, text: `Continue with ${providerTitles[provider]}`, primary: true }],
  }
}

/** Binds the flow to the browser that saw its page, and returns where the browser continues. */
export const leaveLinkPage = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db' | 'derivations' | 'identityProviders' | 'vault'>,
  link: string,
  browser: string | null,
  proof: string,
): Promise<string> => {
  const flow = await findLive(deps, link)
  if (!browser || !equalBytes(Buffer.from(proof, 'base64url'), proofOf(deps.derivations, link, browser))) throw linkEnded()
  if (!(await bindFlow(deps.db, flow.id, browser))) throw linkEnded()
  return authorizationUrlOf(deps.config, deps.identityProviders, flow)
}
