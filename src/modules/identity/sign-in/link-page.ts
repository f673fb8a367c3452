import { findActiveCredential } from '../../../auth/credential.ts'
import type { Principal } from '../../../auth/principal.ts'
import { providerTitles } from '../../../auth/providers.ts'
import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import type { Derivations } from '../../../auth/vault.ts'
import type { Page } from '../../../http/page.ts'
import { deviceName } from '../../../lib/device-name.ts'
import { Refusal } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { readAccount } from '../accounts/service.ts'
import type { SessionRecord } from '../sessions/service.ts'
import { bindFlow, type Flow, findFlowOfLink, initiatorOf } from './flow-rows.ts'
import { authorizationUrlOf, type BrowserCookies, type FlowDeps, requireOwnSession } from './flows.ts'

const linkEndedRefusal = (): Refusal =>
  new Refusal('not_found', { message: 'This link was used, has ended or does not exist. Start again to get a new one.' })

const findLiveLink = async (deps: FlowDeps, link: string): Promise<Flow & { accountId: Uuid }> => {
  const now = deps.clock.now()
  const flow = await findFlowOfLink(deps, link, now)
  const initiator = flow && initiatorOf(flow)
  const active = initiator && (await findActiveCredential(deps.db, initiator, now, deps.config))
  if (!active) throw linkEndedRefusal()
  return { ...flow, accountId: initiator.accountId }
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

/** `ownFlowCookie`: the browser's flow cookie, if a page of ours sent the browser here. */
type LinkVisit = {
  ownFlowCookie: string | null
  caller: Principal | null
  sessionCookie: string | undefined
  renewFlowCookie: () => string
}

/**
 * Returns a page that names the account, to prevent linking to a stranger's. A browser that requested the link itself, and is
 * signed in to the same account, continues without the page.
 */
export const openLinkPage = async (
  deps: FlowDeps,
  link: string,
  { ownFlowCookie, caller, sessionCookie, renewFlowCookie }: LinkVisit,
): Promise<string | Page> => {
  const flow = await findLiveLink(deps, link)
  const { accountId, browserHash, provider } = flow
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

export const continueLink = async (
  deps: FlowDeps,
  link: string,
  { flowCookie, sessionCookie, page }: BrowserCookies & { page: string },
): Promise<string> => {
  const flow = await findLiveLink(deps, link)
  await requireOwnSession(deps.db, flow, sessionCookie)
  if (!flowCookie || !isPageMac(deps.derivations, link, flowCookie, page)) throw linkEndedRefusal()
  if (!(await bindFlow(deps, flow, flowCookie))) throw linkEndedRefusal()
  return authorizationUrlOf(deps, flow)
}
