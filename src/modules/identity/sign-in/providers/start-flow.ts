import type { Principal, RequestOrigin } from '../../../../auth/principal.ts'
import type { IdentityProvider, IdentityProviders, ProviderName } from '../../../../auth/providers/provider.ts'
import type { Config } from '../../../../config.ts'
import { inTx, type Tx } from '../../../../db/client.ts'
import { audit } from '../../../../events/audit.ts'
import { Refusal } from '../../../../lib/errors.ts'
import type { Deps } from '../../deps.ts'
import { requireSignInAuthority } from '../../sessions/authority.ts'
import { type Flow, openFlow } from './flows.ts'
import { readReturnTo } from './return-to.ts'

type StartFlowDeps = Pick<Deps, 'config' | 'db' | 'identityProviders' | 'vault'>

export type StartedFlow = { authorizationUrl: string; expiresAt: Date }

export const redirectUriOf = (config: Config, provider: ProviderName): string =>
  `${config.publicUrl}/v1/auth/${provider}/callback`

export const requireProvider = (identityProviders: IdentityProviders, name: ProviderName): IdentityProvider => {
  const provider = identityProviders[name]
  if (!provider) throw new Refusal('provider_not_configured')
  return provider
}

/** The provider's page for a flow. A person who links chooses the account there, because the browser may be signed in to another one. */
export const authorizationUrlOf = (config: Config, identityProviders: IdentityProviders, flow: Flow): Promise<string> =>
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
  deps: Pick<Deps, 'config' | 'vault'>,
  caller: Principal,
  input: { provider: ProviderName; returnTo: string; browser: string | null },
): Promise<StartedFlow> => {
  await requireSignInAuthority(tx, deps.config, caller)
  const intent = { accountId: caller.accountId, credential: caller.credential, grantId: caller.grant?.id ?? null }
  const flow = await openFlow(tx, deps.vault, { ...input, intent })
  await audit(tx, caller, tx.at, { action: 'identity.link_start', after: { provider: input.provider } })
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
    await audit(tx, actor, tx.at, { action: 'sign_in.start', after: { provider } })
    return openFlow(tx, deps.vault, { provider, returnTo, intent: null, browser })
  })
  return { authorizationUrl: await authorizationUrlOf(deps.config, deps.identityProviders, flow), expiresAt: flow.expiresAt }
}
