import { isCredentialActive } from '../../../../auth/credential-active.ts'
import type { Principal } from '../../../../auth/principal.ts'
import { providerTitles } from '../../../../auth/providers/provider.ts'
import { equalBytes, sha256 } from '../../../../auth/secrets.ts'
import type { Derivations } from '../../../../auth/vault.ts'
import type { Page } from '../../../../http/page.ts'
import { Refusal } from '../../../../lib/errors.ts'
import { formatId } from '../../../../lib/ids.ts'
import { readAccount } from '../../accounts/service.ts'
import type { Deps } from '../../deps.ts'
import { bindFlow, type Flow, findByLink, type LinkIntent } from './flows.ts'
import { authorizationUrlOf } from './start-flow.ts'

type LinkFlow = Flow & { intent: LinkIntent }

const linkEnded = (): Refusal =>
  new Refusal('not_found', { message: 'This link was used, has ended or does not exist. Start again to get a new one.' })

const findLive = async (deps: Pick<Deps, 'clock' | 'config' | 'db' | 'vault'>, link: string): Promise<LinkFlow> => {
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
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'identityProviders' | 'vault'>,
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
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'derivations' | 'vault'>,
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
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'derivations' | 'identityProviders' | 'vault'>,
  link: string,
  browser: string | null,
  proof: string,
): Promise<string> => {
  const flow = await findLive(deps, link)
  if (!browser || !equalBytes(Buffer.from(proof, 'base64url'), proofOf(deps.derivations, link, browser))) throw linkEnded()
  if (!(await bindFlow(deps.db, flow.id, browser))) throw linkEnded()
  return authorizationUrlOf(deps.config, deps.identityProviders, flow)
}
