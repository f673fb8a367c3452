import type { Principal, RequestOrigin } from '../../../../auth/principal.ts'
import type { IdentityProvider, ProviderName } from '../../../../auth/providers/provider.ts'
import { inTx, type Tx } from '../../../../db/client.ts'
import { audit } from '../../../../events/audit.ts'
import { Refusal } from '../../../../lib/errors.ts'
import type { Deps } from '../../deps.ts'
import { requireSignInAuthority } from '../../sessions/authority.ts'
import { type Flow, openFlow } from './flows.ts'
import { readReturnTo } from './return-to.ts'

type StartFlowDeps = Pick<Deps, 'config' | 'db' | 'identityProviders' | 'vault'>

export type StartedFlow = { authorizationUrl: string; expiresAt: Date }

export const redirectUriOf = (deps: Pick<Deps, 'config'>, provider: ProviderName): string =>
  `${deps.config.publicUrl}/v1/auth/${provider}/callback`

export const requireProvider = (deps: Pick<Deps, 'identityProviders'>, name: ProviderName): IdentityProvider => {
  const provider = deps.identityProviders[name]
  if (!provider) throw new Refusal('provider_not_configured')
  return provider
}

/** The provider's page for a flow. A person who links chooses the account there, because the browser may be signed in to another one. */
export const authorizationUrlOf = (deps: Pick<Deps, 'config' | 'identityProviders'>, flow: Flow): Promise<string> =>
  requireProvider(deps, flow.provider).authorizationUrl(flow.secrets, {
    redirectUri: redirectUriOf(deps, flow.provider),
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
  await requireSignInAuthority(tx, deps, caller)
  const intent = { accountId: caller.accountId, credential: caller.credential, grantId: caller.grant?.id ?? null }
  const flow = await openFlow(tx, deps, { ...input, intent })
  await audit(tx, caller, tx.at, { action: 'identity.link_start', after: { provider: input.provider } })
  return { authorizationUrl: `${deps.config.publicUrl}/link/${flow.link}`, expiresAt: flow.expiresAt }
}

export const readLinkReturnTo = (deps: Pick<Deps, 'config'>, requested: string | undefined): string =>
  requested === undefined ? '/account' : readReturnTo(deps.config, requested)

type StartInput = { provider: ProviderName; returnTo: string | undefined }

/** The session-aware start route, for a signed-in caller: begins a link. */
export const startLinkAs = async (deps: StartFlowDeps, caller: Principal, input: StartInput): Promise<StartedFlow> => {
  const { provider } = input
  requireProvider(deps, provider)
  checkLinker(caller)
  const returnTo = readLinkReturnTo(deps, input.returnTo)
  return inTx(deps.db, (tx) => startLink(tx, deps, caller, { provider, returnTo, browser: null }))
}

/** Begins a sign-in. `browser`: the secret of the browser that asks; no other browser can finish it. */
export const startSignIn = async (
  deps: StartFlowDeps,
  origin: RequestOrigin,
  input: StartInput & { browser: string },
): Promise<StartedFlow> => {
  const { provider, browser } = input
  requireProvider(deps, provider)
  const returnTo = input.returnTo === undefined ? '/' : readReturnTo(deps.config, input.returnTo)
  const flow = await inTx(deps.db, async (tx) => {
    const actor = { accountId: null, origin, way: `sign_in:${provider}` }
    await audit(tx, actor, tx.at, { action: 'sign_in.start', after: { provider } })
    return openFlow(tx, deps, { provider, returnTo, intent: null, browser })
  })
  return { authorizationUrl: await authorizationUrlOf(deps, flow), expiresAt: flow.expiresAt }
}
