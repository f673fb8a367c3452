import { and, asc, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import { effectivePermissions, isPermission, type Permission } from '../../auth/permissions.ts'
import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import { newSecret, sha256 } from '../../auth/secrets.ts'
import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { oauthAuthorizations, oauthGrants } from '../../db/tables/oauth.ts'
import { members, workspaces } from '../../db/tables/workspaces.ts'
import { audit } from '../../events/audit.ts'
import { presenter } from '../../http/presenter.ts'
import { earlier, isoTime, secondsAfter } from '../../lib/clock.ts'
import { conflict, type FieldError, found, invalidFields, notFound, Refusal } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { displayAmount } from '../../lib/money.ts'
import { duplicateAnswers } from '../../lib/policy-answers.ts'
import { wireName } from '../../policy/fields.ts'
import { controlContradictions } from '../../policy/limits.ts'
import { isMilder } from '../../policy/loosening.ts'
import { type Controls, controlNames, isWider, noControls } from '../delegation/control-rules.ts'
import { createGrant } from '../delegation/grant-service.ts'
import { presentControls } from '../delegation/present.ts'
import { SpendingControlsIn } from '../delegation/schema.ts'
import type { Parts } from '../parts.ts'
import { answerUrl, errorUrl } from './authorize.ts'
import { type ClientRecord, clientIdOf, getClient } from './clients.ts'
import { formatUserCode, readUserCode } from './device.ts'
import { OAuthError } from './errors.ts'
import type { AuthorizationRecord } from './redeem.ts'
import { isLocalRedirect, redirectHost } from './redirect-uri.ts'
import { Authorization, type Decided, type Decision } from './schema.ts'
import { isSubset } from './scopes.ts'
import { newHandle } from './tokens.ts'

/**
 * The host that serves a client's document identifies the client, but only for answers that go to that host. The device flow has
 * no such answer: any caller can begin it with another client's address.
 */
const verifiedHost = (client: ClientRecord, redirectUri: string | null): string | null => {
  if (client.url === null || redirectUri === null) return null
  const { host, protocol } = new URL(client.url)
  const fits = redirectUri.startsWith('https://') && new URL(redirectUri).host === host
  return fits && protocol === 'https:' ? host : null
}

const statusOf = ({ status, expiresAt }: AuthorizationRecord, now: Date): Authorization['status'] => {
  if (status === 'denied') return 'denied'
  if (status === 'approved' || status === 'redeemed') return 'approved'
  return expiresAt <= now ? 'expired' : 'pending'
}

/** Long enough to copy a code from a browser to a terminal. PKCE makes the code useless to others. */
const codeTtlSeconds = 120

const activeMemberships = prepare('oauth.memberships', { accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: workspaces.id, name: workspaces.name, role: members.role })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(and(eq(members.accountId, param.accountId), eq(members.status, 'active'), isNull(workspaces.closedAt)))
    .orderBy(asc(workspaces.id)),
)

const workspacesOf = async (db: Db, accountId: Uuid, scopes: readonly Permission[]) => {
  const rows = await db.run(activeMemberships, { accountId })
  return rows.map((row) => {
    const held = effectivePermissions(row.role, null)
    return { ...row, permissions: scopes.filter((scope) => held.has(scope)) }
  })
}

type AuthorizationName = { id: Uuid } | { user_code: string }

/** A request that began in another person's browser, or that no browser has opened yet, is not found. */
const requestLookup = (lock?: 'update') => {
  const [id, code] = lock ? ['lock', 'lock_by_user_code'] : ['by_id', 'by_user_code']
  const byId = selectRow(`oauth_authorizations.${id}`, oauthAuthorizations, ['id', 'flow'], { ...(lock && { lock }) })
  const byCode = selectRow(`oauth_authorizations.${code}`, oauthAuthorizations, ['userCode', 'flow'], { ...(lock && { lock }) })
  return async (db: Db, { accountId }: Principal, name: AuthorizationName): Promise<AuthorizationRecord> => {
    const userCode = 'id' in name ? undefined : readUserCode(name.user_code)
    const row = 'id' in name ? byId(db, { id: name.id, flow: 'code' }) : userCode && byCode(db, { userCode, flow: 'device' })
    const request = found((await row) || undefined)
    if (request.status === 'pushed' || (request.accountId !== null && request.accountId !== accountId)) throw notFound()
    return request
  }
}

const findRequest = requestLookup()
const lockRequest = requestLookup('update')

const parseStoredControls = (stored: unknown): Controls => (stored === null ? noControls : SpendingControlsIn.parse(stored))

const shown = presenter(Authorization)

export const readConsentRequest = async (
  { clock, db }: Pick<Parts, 'clock' | 'db'>,
  principal: Principal,
  name: AuthorizationName,
): Promise<Authorization> => {
  const request = await findRequest(db, principal, name)
  const client = await getClient(db, request.clientId)
  const scopes = request.scopes.filter(isPermission)
  const workspaces = await workspacesOf(db, principal.accountId, scopes)
  const { redirectUri } = request
  return shown(request, {
    status: statusOf(request, clock.now()),
    client: { id: clientIdOf(client), name: client.name, uri: client.uri, verified_host: verifiedHost(client, redirectUri) },
    user_code: request.userCode && formatUserCode(request.userCode),
    redirect_host: redirectUri && redirectHost(redirectUri),
    redirect_is_local: redirectUri !== null && isLocalRedirect(redirectUri),
    scopes,
    spending_controls: presentControls(parseStoredControls(request.requestedControls)),
    workspaces: workspaces.map((workspace) => ({ ...workspace, id: formatId('workspace', workspace.id) })),
  })
}

const requireOpen = ({ status, expiresAt, sessionId }: AuthorizationRecord, { originSessionId }: Principal, now: Date): void => {
  if (status !== 'pending') throw conflict('This request was decided already.', 'decided')
  if (expiresAt <= now) throw conflict('This request has expired: the application has to ask again.', 'expired')
  if (sessionId !== null && sessionId !== originSessionId)
    throw new Refusal('forbidden', { message: 'This request was opened in another session: the application has to ask again.' })
}

/** Only a person may allow unconfirmed new payees. An agent may repeat calls, so it must confirm a possible duplicate. */
const withSafeDefaults = (requested: Controls): Controls => ({
  ...requested,
  newPayees: requested.newPayees === 'allow' ? null : requested.newPayees,
  onDuplicate: isMilder(duplicateAnswers, 'confirm', requested.onDuplicate, 'warn') ? 'confirm' : requested.onDuplicate,
})

const tooWideMessage = (requested: NonNullable<Controls[keyof Controls]>, currency: string): string => {
  if (Array.isArray(requested)) return 'must name nothing that the client did not ask for'
  const limit = typeof requested === 'bigint' ? displayAmount(requested, currency) : undefined
  return `must not ${limit === undefined ? 'allow' : 'be'} more than the client asked for, ${limit ?? requested}`
}

/** The requested limits, narrowed by the person. Wider limits are refused, not reduced. */
const narrowControls = (requested: Controls, decided: Controls, currency: string): Controls => {
  const under = 'spending_controls.'
  const fields: FieldError[] = []
  let narrowed = withSafeDefaults(requested)
  for (const name of controlNames) {
    const [asked, chosen] = [requested[name], decided[name]]
    if (chosen === null) continue
    if (asked !== null && isWider(name, requested, decided))
      fields.push({ path: under + wireName(name), message: tooWideMessage(asked, currency) })
    else narrowed = { ...narrowed, [name]: chosen }
  }
  fields.push(...controlContradictions(narrowed, under))
  if (fields.length > 0) throw invalidFields(...fields)
  return narrowed
}

const choosePermissions = async (
  tx: Tx,
  principal: Principal,
  authorization: AuthorizationRecord,
  decision: Decision,
  workspaceId: Uuid,
) => {
  const requestedScopes = authorization.scopes.filter(isPermission)
  if (decision.permissions && !isSubset(decision.permissions, requestedScopes))
    throw invalidFields({ path: 'permissions', message: 'must name nothing that the client did not ask for' })
  const workspace = (await workspacesOf(tx, principal.accountId, requestedScopes)).find(({ id }) => id === workspaceId)
  if (!workspace) throw notFound('workspace_id')
  const chosen = decision.permissions ?? workspace.permissions
  if (chosen.length === 0)
    throw invalidFields({ path: 'permissions', message: 'you have none of the requested scopes in this workspace' })
  return chosen
}

/** Until the client redeems the code, the grant expires with it, so that an unused consent leaves no grant behind. */
const approve = async (
  tx: Tx,
  { config, derivations }: Pick<Parts, 'config' | 'derivations'>,
  principal: Principal,
  { authorization, client }: { authorization: AuthorizationRecord; client: ClientRecord },
  decision: Decision,
): Promise<string> => {
  requireFreshProof(principal, tx.at)
  if (!principal.capabilities.oauth) throw new Refusal('capability_disabled', { details: { capability: 'oauth' } })
  const { at } = tx
  const workspaceId = decision.workspace_id ?? principal.workspace.id
  const permissions = await choosePermissions(tx, principal, authorization, decision, workspaceId)
  const requested = parseStoredControls(authorization.requestedControls)
  const controls = narrowControls(requested, decision.spending_controls ?? noControls, config.CURRENCY)
  const endsAt = decision.expires_at ?? null
  if (endsAt && endsAt <= at) throw invalidFields({ path: 'expires_at', message: 'must be in the future' })
  const expiresAt = earlier(authorization.flow === 'code' ? secondsAfter(at, codeTtlSeconds) : authorization.expiresAt, endsAt)
  const terms = { kind: 'oauth', label: client.name, permissions, controls, expiresAt, workspaceId } as const
  const { grant } = await createGrant(tx, principal, terms)
  insertRow(tx, oauthGrants, {
    grantId: grant.id,
    clientId: client.id,
    resources: authorization.resources,
    detailed: authorization.requestedControls !== null,
    handle: newHandle(),
    generation: 0,
    keyId: derivations.currentKeyId,
    expiresAt,
    endsAt,
  })
  const code = newSecret('authorization_code')
  const [codeHash, codeExpiresAt] = authorization.flow === 'code' ? [sha256(code), expiresAt] : [null, null]
  const decided = { status: 'approved', decidedAt: at, accountId: principal.accountId, grantId: grant.id } as const
  updateRow(tx, oauthAuthorizations, authorization, { ...decided, codeHash, codeExpiresAt })
  const after = {
    client_id: clientIdOf(client),
    client_name: client.name,
    permissions,
    resources: authorization.resources,
    spending_controls: presentControls(controls),
    redirect_uri: authorization.redirectUri,
    ends_at: endsAt && isoTime(endsAt),
  }
  audit(tx, principal, 'oauth_consent.approve', { workspaceId, subject: grant.id, after })
  return code
}

/** Only a person in their own session may decide (`undelegated` on the route), and cannot grant more than was requested. */
export const decideAuthorization = async (
  tx: Tx,
  deps: Pick<Parts, 'config' | 'derivations'>,
  principal: Principal,
  name: AuthorizationName,
  decision: Decision,
): Promise<z.output<typeof Decided>> => {
  const { config } = deps
  const authorization = await lockRequest(tx, principal, name)
  requireOpen(authorization, principal, tx.at)
  const client = await getClient(tx, authorization.clientId)
  const { redirectUri, state } = authorization
  const answer = redirectUri === null ? undefined : { redirectUri, state, issuer: config.publicUrl }
  const onDevice = `${config.publicUrl}/device?outcome=`
  if (decision.decision === 'approve') {
    const code = await approve(tx, deps, principal, { authorization, client }, decision)
    return { status: 'approved', redirect_to: answer ? answerUrl(answer, { code }) : `${onDevice}approved` }
  }
  updateRow(tx, oauthAuthorizations, authorization, { status: 'denied', decidedAt: tx.at, accountId: principal.accountId })
  const after = { client_id: clientIdOf(client), client_name: client.name }
  audit(tx, principal, 'oauth_consent.deny', { subject: client.id, after })
  const redirect_to = answer ? errorUrl(answer, new OAuthError('access_denied')) : `${onDevice}denied`
  return { status: 'denied', redirect_to }
}
