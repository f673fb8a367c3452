import { isCredentialActive } from '../../../auth/credential.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { type IdentityProviders, type ProvenSubject, type ProviderName, providerFailed } from '../../../auth/providers.ts'
import type { Config } from '../../../config.ts'
import { lockAccount } from '../../../db/account-lock.ts'
import { inTx, type Tx } from '../../../db/client.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { linkIdentity } from '../identities/link.ts'
import type { IdentityProof } from '../identities/queries.ts'
import type { NewSession } from '../sessions/service.ts'
import { type Flow, type LinkIntent, takeFlow } from './flows.ts'
import type { SignIn } from './service.ts'
import { redirectUriOf, requireProvider } from './start-flow.ts'

/** The parameters that the provider sent with the browser, and the browser's secret. */
type ProviderReturn = {
  provider: ProviderName
  browser: string | null
  state?: string | undefined
  code?: string | undefined
  error?: string | undefined
}

export type FinishedFlow = {
  returnTo: string
  outcome: 'signed_in' | 'account_created' | 'linked' | 'already_linked' | 'denied'
  session: NewSession | null
}

/** `returnTo`: where the browser came from, when it finished its own flow. */
type RefusedFlow = { returnTo: string; refusal: Refusal }

const unknownFlow = (): Refusal =>
  new Refusal('invalid_request', {
    message: 'This sign-in was not started in this browser, has ended, or has expired. Start again.',
  })

type FlowActor = Exclude<Actor, Principal>

const actorOf = (provider: ProviderName, intent: LinkIntent | null, origin: RequestOrigin): FlowActor => {
  if (!intent) return { accountId: null, origin, way: `sign_in:${provider}` }
  const startedBy = { credential: intent.credential, grantId: intent.grantId }
  return { accountId: intent.accountId, origin, way: `link:${provider}`, startedBy }
}

const toProof = (provider: ProviderName, issuer: string, proven: ProvenSubject): IdentityProof => ({
  ...proven,
  provider,
  issuer,
  subjectKey: proven.subject,
  chainId: null,
})

const redeem = async (
  config: Config,
  identityProviders: IdentityProviders,
  flow: Flow | undefined,
  answer: ProviderReturn,
): Promise<IdentityProof> => {
  if (!flow) throw unknownFlow()
  const provider = requireProvider(identityProviders, flow.provider)
  if (answer.error !== undefined || answer.code === undefined)
    throw providerFailed(flow.provider, 'it sent the browser back without a code')
  const proven = await provider.redeem(flow.secrets, { code: answer.code, redirectUri: redirectUriOf(config, flow.provider) })
  return toProof(flow.provider, provider.issuer, proven)
}

const note = (tx: Tx, actor: FlowActor, reason: string): void => audit(tx, actor, 'sign_in.refused', { after: { reason } })

/**
 * Whether the credential that began a link would still be accepted, under its account's lock: after an acknowledged logout or revocation
 * nothing is linked, and a later one ends what was linked. Must be the first statement of its transaction.
 */
const isStillActive = async (tx: Tx, config: Config, intent: LinkIntent): Promise<boolean> => {
  await lockAccount(tx, intent.accountId)
  return isCredentialActive(tx, intent, tx.at, config.SESSION_IDLE_DAYS)
}

/** Links for the credential that began the flow, if that would still be accepted. */
const link = async (tx: Tx, config: Config, actor: FlowActor & { accountId: Uuid }, intent: LinkIntent, proof: IdentityProof) => {
  if (await isStillActive(tx, config, intent)) return linkIdentity(tx, config, actor, proof)
  const ended = new Refusal('invalid_token', {
    message: 'The session or key with which this link was started has ended.',
  })
  note(tx, actor, ended.message)
  throw new CommitThenThrow(ended)
}

type FinishDeps = Pick<Parts, 'clock' | 'config' | 'db' | 'identityProviders'>

const finish = async (
  deps: FinishDeps,
  signIn: SignIn,
  origin: RequestOrigin,
  flow: Flow | undefined,
  answer: ProviderReturn,
): Promise<FinishedFlow> => {
  const proof = await redeem(deps.config, deps.identityProviders, flow, answer).catch(async (error: unknown) => {
    const reason = error instanceof Refusal ? error.message : 'internal error'
    await inTx(deps.db, async (tx) => note(tx, actorOf(answer.provider, flow?.intent ?? null, origin), reason))
    throw error
  })
  if (!flow) throw unknownFlow()
  const { provider, intent, returnTo } = flow
  if (!intent) {
    const { outcome, session } = await signIn({ provider, verdict: proof, nonce: null, origin })
    return { returnTo, outcome, session }
  }
  const actor = { ...actorOf(provider, intent, origin), accountId: intent.accountId }
  const { outcome } = await inTx(deps.db, (tx) => link(tx, deps.config, actor, intent, proof))
  return { returnTo, outcome, session: null }
}

/** Ends a flow with the parameters that the provider sent. Its state is used up, also by a failure. */
export const finishFlow = async (
  deps: FinishDeps & Pick<Parts, 'vault'>,
  signIn: SignIn,
  origin: RequestOrigin,
  answer: ProviderReturn,
): Promise<FinishedFlow | RefusedFlow> => {
  const { provider, browser, state } = answer
  const flow = browser && state ? await takeFlow(deps.db, deps.clock, deps.vault, { provider, state, browser }) : undefined
  const returnTo = flow?.returnTo ?? '/'
  if (flow && answer.error === 'access_denied') {
    await inTx(deps.db, async (tx) => note(tx, actorOf(provider, flow.intent, origin), 'denied at the provider'))
    return { returnTo, outcome: 'denied', session: null }
  }
  try {
    return await finish(deps, signIn, origin, flow, answer)
  } catch (error) {
    if (error instanceof Refusal) return { returnTo, refusal: error }
    throw error
  }
}
