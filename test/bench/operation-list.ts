import type { Json } from '../harness/client.ts'
import type { LoadRequest } from './connection.ts'

/** What one caller of the bench has, by the API's ids and secrets. A `{field}` in a path or a body below stands for its value. */
type Person = 'account' | 'workspace' | 'address' | 'session' | 'key' | 'keyGrant' | 'token' | 'dashboardToken'
/** A key that may be changed, with its grant. Payees: one that is paid, one that needs an approval, one that nothing is paid to. */
type Thing = 'keyId' | 'grant' | 'beneficiary' | 'asking' | 'renamed' | 'policy' | 'payment' | 'approval' | 'batch'
export type Scene = Record<Person | Thing | 'invitation' | 'topup' | 'admin' | 'client', string>

type Take = (made: Json) => Partial<Scene>
/**
 * `one` is held against a record, `page` against a list of as many rows and bytes, `write` against a transaction of three inserts, `calls` against that
 * route. `once`: one request a caller and round. `uses`: each request uses up what another one makes before, and takes from its answer.
 */
export type Operation = {
  kind: 'one' | 'page' | 'write'
  goal: number
  request: (scene: Scene) => LoadRequest
  once?: boolean
  uses?: { request: (scene: Scene) => LoadRequest; take: Take }
  calls?: string | undefined
}

type By = 'key' | 'session' | 'token' | 'dashboardToken' | 'admin' | 'nobody'
type More = { by?: By; accept?: string } & Partial<Omit<Operation, 'request'>>
const filled = <T>(value: T, scene: Scene): T =>
  JSON.parse(JSON.stringify(value).replace(/\{(\w+)\}/g, (all, name: string) => scene[name as keyof Scene] ?? all))

const operation = (line: string, body: unknown, { by = 'key', accept, ...more }: More): Operation => {
  const [method, path = ''] = line.split(' ') as [LoadRequest['method'], string?]
  const cookie = by === 'session' || by === 'admin' ? 'cookie ' : ''
  const credential = by === 'nobody' ? '' : `${cookie}{${by}}`
  const isForm = body instanceof URLSearchParams
  const sent = isForm ? { form: Object.fromEntries(body) } : body !== undefined && { body }
  const request = { method, path, credential, ...sent, ...(accept && { accept }) }
  return { kind: 'write', goal: 0.4, ...more, request: (scene) => filled(request, scene) }
}
const one = (path: string, by: By = 'key', goal = 0.45) => operation(`GET ${path}`, undefined, { kind: 'one', goal, by })
const heavy = (path: string, by: By = 'key') => one(path, by, 0.25)
const page = (path: string, by: By = 'key') => operation(`GET ${path}`, undefined, { kind: 'page', by })
const write = (line: string, body?: unknown, more: More = {}) => operation(line, body, more)
/** By a person, in a browser. */
const person = (line: string, body?: unknown, more: More = {}) => operation(line, body, { by: 'session', ...more })
const accept = 'application/json, text/event-stream'
const mcp = (method: string, params: object, goal: number, calls?: string) =>
  operation('POST /mcp', { jsonrpc: '2.0', id: 1, method, params }, { kind: 'one', goal, calls, accept })
const tool = (name: string, args: object, calls: string) => mcp('tools/call', { name, arguments: args }, 0.4, calls)
const open = (path: string, form: Record<string, string>) =>
  operation(`POST /v1/oauth/${path}`, new URLSearchParams(form), { by: 'nobody' })

const me = '/v1/accounts/me'
const current = '/v1/workspaces/current'
const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
const pay = { beneficiary_id: '{beneficiary}', amount_minor: '10000' }
const ask = { beneficiary_id: '{asking}', amount_minor: '10000' }
const payee = { type: 'supplier', display_name: 'Bench {n}', payment_rail: 'MPESA_B2C', destination: '2547{n}' }
const policy = { name: 'Bench {n}', daily_limit_minor: '9000', beneficiary_ids: ['{renamed}'] }
const client = { client_name: 'Bench {n}', redirect_uris: ['http://127.0.0.1/{n}'], token_endpoint_auth_method: 'none' }
const pkce = { code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' }
const terms = { description: 'Groceries', max_total_minor: '100000', expires_at: tomorrow }

const newPayee = write('POST /v1/beneficiaries', payee)
const newKey = person(`POST ${me}/api-keys`, { name: 'Bench {n}' }, { once: true })
const newPolicy = person('POST /v1/spending-policies', policy, { once: true })
const newInvitation = person(`POST ${current}/invitations`, { role: 'viewer' }, { once: true })
const newBatch = write('POST /v1/payment-batches', { items: [ask], duplicates_intended: true }, { once: true })
const uses = ({ request }: Operation, take: Take) => ({ request, take })
const anApproval = uses(write('POST /v1/payments', ask), ({ id, approval_id }) => ({ payment: id, approval: approval_id }))
const aKey = uses(newKey, ({ id, grant }) => ({ keyId: id, grant: grant.id }))
const aPayee = uses(newPayee, ({ id }) => ({ renamed: id }))
const aPolicy = uses(newPolicy, ({ id }) => ({ policy: id }))
const anInvitation = uses(newInvitation, ({ id }) => ({ invitation: id }))
const aBatch = uses(newBatch, ({ id }) => ({ batch: id }))

/** What is measured; a name after a comma tells several ways to call an operation apart. */
export const measured: Readonly<Record<string, Operation>> = {
  'service.health': one('/healthz', 'nobody'),
  'service.ready': one('/readyz', 'nobody'),
  'accounts.get': one(me),
  'accounts.update': person(`PATCH ${me}`, { display_name: 'Bench {n}' }),
  'accounts.history': page(`${me}/history?limit=20`),
  'accounts.history_summary': heavy(`${me}/history/summary`),
  'accounts.statement': heavy(`${me}/statement?limit=20`),
  'workspaces.statement': heavy(`${current}/statement?limit=20`),
  'request_log.list': page('/v1/request-log?limit=20', 'session'),
  'credentials.current': one('/v1/credentials/current'),
  'grants.list': page(`${me}/grants?limit=20`, 'session'),
  'grants.get': one(`${me}/grants/{grant}`, 'session'),
  'grants.update': person(`PATCH ${me}/grants/{grant}`, { spending_controls: { daily_limit_minor: '9{n}' } }),
  'grants.revoke': person(`DELETE ${me}/grants/{grant}`, undefined, { uses: aKey }),
  'api_keys.create': newKey,
  'api_keys.list': page(`${me}/api-keys?limit=20`, 'session'),
  'api_keys.get': one(`${me}/api-keys/{keyId}`, 'session'),
  'api_keys.update': person(`PATCH ${me}/api-keys/{keyId}`, { name: 'Bench {n}' }),
  'api_keys.rotate': person(`POST ${me}/api-keys/{keyId}/rotate`, undefined, { uses: aKey }),
  'api_keys.revoke': person(`DELETE ${me}/api-keys/{keyId}`, undefined, { uses: aKey }),
  'identities.list': page(`${me}/identities`),
  'passkeys.list': page(`${me}/passkeys`, 'session'),
  'sessions.list': page(`${me}/sessions`, 'session'),
  'sign_in.wallet_nonce': write('POST /v1/auth/wallet/nonce', { address: '{address}' }, { kind: 'one', by: 'nobody' }),
  'sign_in.google_start': one('/v1/auth/google/start', 'nobody'),
  'sign_in.create_dashboard_token': person('POST /v1/auth/dashboard-tokens'),
  'oauth.server_metadata': one('/.well-known/oauth-authorization-server', 'nobody'),
  'oauth.resource_metadata': one('/.well-known/oauth-protected-resource', 'nobody'),
  'oauth.mcp_resource_metadata': one('/.well-known/oauth-protected-resource/mcp', 'nobody'),
  'oauth.device_authorization': open('device_authorization', { client_id: '{client}', ...pkce }),
  'oauth.introspect': open('introspect', { client_id: '{client}', token: '{token}' }),
  'oauth.register': write('POST /v1/oauth/register', client, { by: 'nobody', once: true }),
  'workspaces.list': page('/v1/workspaces'),
  'workspaces.current': one(current),
  'workspaces.current, session': one(current, 'session'),
  'workspaces.current, access token': one(current, 'token'),
  'workspaces.current, dashboard token': one(current, 'dashboardToken'),
  'workspaces.switch': person(`PUT ${current}`, { workspace_id: '{workspace}' }),
  'workspaces.update': person(`PATCH ${current}`, { name: 'Bench {n}' }),
  'workspaces.audit_log': page(`${current}/audit-log?limit=20`, 'session'),
  'members.list': page(`${current}/members`),
  'invitations.create': newInvitation,
  'invitations.list': page(`${current}/invitations`, 'session'),
  'invitations.revoke': person(`DELETE ${current}/invitations/{invitation}`, undefined, { uses: anInvitation }),
  'workspace_grants.list': page(`${current}/grants?limit=20`, 'session'),
  'workspace_grants.freeze': person(`PATCH ${current}/grants/{grant}`, { frozen: true }, { uses: aKey }),
  'workspace_grants.revoke': person(`DELETE ${current}/grants/{grant}`, undefined, { uses: aKey }),
  'beneficiaries.create': newPayee,
  'beneficiaries.banks': one('/v1/banks', 'nobody'),
  'beneficiaries.list': page('/v1/beneficiaries?limit=20'),
  'beneficiaries.get': one('/v1/beneficiaries/{beneficiary}'),
  // Not one that is paid: an approval asks about who was renamed by a key.
  'beneficiaries.update': write('PATCH /v1/beneficiaries/{renamed}', { display_name: 'Bench {n}' }),
  'beneficiaries.archive': write('DELETE /v1/beneficiaries/{renamed}', undefined, { uses: aPayee }),
  'beneficiaries.payments': page('/v1/beneficiaries/{beneficiary}/payments?limit=20'),
  'policies.create': newPolicy,
  'policies.list': page('/v1/spending-policies?limit=20'),
  'policies.get': one('/v1/spending-policies/{policy}'),
  'policies.archive': person('DELETE /v1/spending-policies/{policy}', undefined, { uses: aPolicy }),
  'policies.simulate': write('POST /v1/spending-policies/simulate', pay, { kind: 'one', goal: 0.25 }),
  'notifications.list': page('/v1/notifications?limit=20'),
  'payment_batches.create': newBatch,
  'payment_batches.list': page('/v1/payment-batches?limit=20'),
  'payment_batches.get': heavy('/v1/payment-batches/{batch}'),
  'payment_batches.lines': heavy('/v1/payment-batches/{batch}/lines'),
  'payment_batches.cancel': write('POST /v1/payment-batches/{batch}/cancel', undefined, { goal: 0.3, uses: aBatch }),
  'payment_refusals.list': page('/v1/payment-refusals?limit=20'),
  'payments.create': write('POST /v1/payments', pay),
  'payments.list': page('/v1/payments?limit=20'),
  'payments.list, session': page('/v1/payments?limit=20', 'session'),
  'payments.list, access token': page('/v1/payments?limit=20', 'token'),
  'payments.list, dashboard token': page('/v1/payments?limit=20', 'dashboardToken'),
  'payments.summary': heavy('/v1/payments/summary'),
  'payments.attention': heavy('/v1/payments/attention'),
  'payments.get': one('/v1/payments/{payment}'),
  'payments.get, session': one('/v1/payments/{payment}', 'session'),
  'payments.get, access token': one('/v1/payments/{payment}', 'token'),
  'payments.get, dashboard token': one('/v1/payments/{payment}', 'dashboardToken'),
  'payments.receipt': heavy('/v1/payments/{payment}/receipt'),
  'payments.cancel': write('POST /v1/payments/{payment}/cancel', undefined, { goal: 0.3, uses: anApproval }),
  'proof.keys': one('/.well-known/jwks.json', 'nobody'),
  'proof.log': one('/.well-known/audit-log', 'nobody'),
  'approvals.list': page('/v1/approvals?limit=20'),
  'approvals.get': heavy('/v1/approvals/{approval}'),
  'approvals.message': one('/v1/approvals/{approval}/message?decision=approve'),
  'approvals.decide': person('POST /v1/approvals/{approval}/decide', { decision: 'approve' }, { goal: 0.3, uses: anApproval }),
  'mandates.list': page('/v1/intent-mandates'),
  'mandates.prepare': write('POST /v1/intent-mandates/prepare', { address: '{address}', terms }, { kind: 'one', by: 'nobody' }),
  'topups.initiate': write('POST /v1/topups/initiate', { amount_minor: '10000', phone_number: '2547{n}' }),
  'topups.get': one('/v1/topups/{topup}'),
  'admin.list_accounts': page('/v1/admin/accounts?limit=20', 'admin'),
  'admin.get_account': heavy('/v1/admin/accounts/{account}', 'admin'),
  'admin.list_payments': page('/v1/admin/payments?limit=20', 'admin'),
  'admin.list_adjustments': page('/v1/admin/adjustments?limit=20', 'admin'),
  'admin.list_suspense': page('/v1/admin/suspense?limit=20', 'admin'),
  'admin.list_reconciliations': page('/v1/admin/reconciliations?limit=20', 'admin'),
  'admin.list_differences': page('/v1/admin/reconciliation-differences?limit=20', 'admin'),
  'admin.audit_log': page('/v1/admin/audit-log?limit=20', 'admin'),
  'mcp.call, tools/list': mcp('tools/list', {}, 0.25),
  'mcp.call, get_topup': tool('get_topup', { topup_id: '{topup}' }, 'topups.get'),
  'mcp.call, get_payment': tool('get_payment', { payment_id: '{payment}' }, 'payments.get'),
}

/** Operations without a row, and why. */
export const unmeasured: Readonly<Record<string, string>> = {
  'among the figures': 'sign_in.wallet_verify oauth.token notifications.stream',
  'wait for an identity provider, or a person at a page': `sign_in.google_callback sign_in.github_start sign_in.github_callback sign_in.link_page
    sign_in.link_continue oauth.authorize oauth.push oauth.get_authorization oauth.decide_authorization oauth.get_device oauth.decide_device oauth.revoke`,
  'need a signature or an authenticator, a few times a year': `sessions.prepare_proof sessions.prove identities.link identities.unlink passkeys.prepare passkeys.add passkeys.remove
    approvals.decide_by_signature mandates.create mandates.get mandates.revocation_message mandates.revoke`,
  'of a browser that wants notices, a few times a year':
    'push.key push_subscriptions.create push_subscriptions.list push_subscriptions.delete',
  'end what the caller calls with, or concern a second person': `accounts.close sign_in.logout sessions.revoke grants.revoke_all
    workspace_grants.freeze_all workspaces.create workspaces.freeze workspaces.unfreeze members.update members.remove invitations.preview
    invitations.accept policies.confirm_change policies.withdraw_change`,
  'need what another act left': 'policies.update beneficiaries.confirm beneficiaries.verify beneficiaries.verifications',
  'by an administrator, a few times a day': `admin.update_account admin.suspend_workspace admin.reinstate_workspace admin.resolve_payment
    admin.create_adjustment admin.get_adjustment admin.confirm_adjustment admin.reject_adjustment admin.trial_balance admin.resolve_suspense_items
    admin.resolve_suspense admin.assign_suspense admin.upload_statement admin.resolve_differences admin.resolve_difference`,
}
export const listed = {
  measured: [...new Set(Object.keys(measured).map((name) => name.split(',')[0] ?? ''))],
  unmeasured: Object.values(unmeasured).flatMap((names) => names.split(/\s+/)),
}
