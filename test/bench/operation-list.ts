import type { LoadRequest } from './load.ts'

/** What one payer of the bench has, by the API's ids. */
export type Scene = {
  session: string
  key: string
  token: string
  dashboardToken: string
  grant: string
  keyId: string
  beneficiary: string
  /** A payment to it waits for an approval. */
  asking: string
  /** One that nothing is paid to, to be changed. */
  renamed: string
  policy: string
  payment: string
  approval: string
  topup: string
}

/**
 * `one`: a record. `page`: a list. `write`: one transaction. `uses`: each request uses up one of these, which are made before: an approval that waits.
 */
export type Operation = {
  kind: 'one' | 'page' | 'write'
  request: (scene: Scene) => LoadRequest
  uses?: 'approval'
  /** The route that it calls: it is held against that one, and not against a floor. */
  calls?: string
  goal: number
}

const get =
  (kind: 'one' | 'page', goal: number) =>
  (path: string | ((scene: Scene) => string), by: 'key' | 'session' | 'token' | 'dashboardToken' = 'key'): Operation => ({
    kind,
    goal,
    request: (scene) => ({
      method: 'GET',
      path: typeof path === 'string' ? path : path(scene),
      credential: by === 'session' ? `cookie ${scene.session}` : scene[by],
    }),
  })
const one = get('one', 1)
const heavy = get('one', 0.4)
const page = get('page', 0.8)

const write = (
  method: 'POST' | 'PATCH',
  path: string | ((scene: Scene) => string),
  body: (scene: Scene) => unknown,
  more: Partial<Pick<Operation, 'uses' | 'kind' | 'goal'>> & { by?: 'session' } = {},
): Operation => ({
  kind: more.kind ?? 'write',
  goal: more.goal ?? 0.5,
  ...(more.uses && { uses: more.uses }),
  request: (scene) => ({
    method,
    path: typeof path === 'string' ? path : path(scene),
    credential: more.by === 'session' ? `cookie ${scene.session}` : scene.key,
    body: body(scene),
  }),
})

const mcp = (method: string, parametersOf: (scene: Scene) => object, goal: number, calls?: string): Operation => ({
  kind: 'one',
  goal,
  ...(calls !== undefined && { calls }),
  request: (scene) => ({
    method: 'POST',
    path: '/mcp',
    credential: scene.key,
    body: { jsonrpc: '2.0', id: 1, method, params: parametersOf(scene) },
    accept: 'application/json, text/event-stream',
  }),
})

/** The operations that are measured; a name after a comma tells several ways to call one apart. `{n}` is a number, different each time. */
export const measured: Readonly<Record<string, Operation>> = {
  'accounts.get': one('/v1/accounts/me'),
  'accounts.update': write('PATCH', '/v1/accounts/me', () => ({ display_name: 'Bench {n}' }), { by: 'session' }),
  'accounts.history': page('/v1/accounts/me/history?limit=20'),
  'accounts.history_summary': heavy('/v1/accounts/me/history/summary'),
  'accounts.statement': heavy('/v1/accounts/me/statement?limit=20'),
  'workspaces.statement': heavy('/v1/workspaces/current/statement?limit=20'),
  'credentials.current': one('/v1/credentials/current'),
  'grants.list': page('/v1/accounts/me/grants?limit=20', 'session'),
  'grants.get': one(({ grant }) => `/v1/accounts/me/grants/${grant}`, 'session'),
  'grants.update': write(
    'PATCH',
    ({ grant }) => `/v1/accounts/me/grants/${grant}`,
    () => ({ spending_controls: { daily_limit_minor: '9{n}' } }),
    { by: 'session' },
  ),
  'api_keys.create': write('POST', '/v1/accounts/me/api-keys', () => ({ name: 'Bench {n}' }), { by: 'session' }),
  'api_keys.list': page('/v1/accounts/me/api-keys?limit=20', 'session'),
  'api_keys.get': one(({ keyId }) => `/v1/accounts/me/api-keys/${keyId}`, 'session'),
  'api_keys.update': write(
    'PATCH',
    ({ keyId }) => `/v1/accounts/me/api-keys/${keyId}`,
    () => ({ name: 'Bench {n}' }),
    {
      by: 'session',
    },
  ),
  'identities.list': page('/v1/accounts/me/identities'),
  'passkeys.list': page('/v1/accounts/me/passkeys', 'session'),
  'sessions.list': page('/v1/accounts/me/sessions', 'session'),
  'workspaces.list': page('/v1/workspaces'),
  'workspaces.current': one('/v1/workspaces/current'),
  'workspaces.current, session': one('/v1/workspaces/current', 'session'),
  'workspaces.current, access token': one('/v1/workspaces/current', 'token'),
  'workspaces.current, dashboard token': one('/v1/workspaces/current', 'dashboardToken'),
  'workspaces.update': write('PATCH', '/v1/workspaces/current', () => ({ name: 'Bench {n}' }), { by: 'session' }),
  'workspaces.audit_log': page('/v1/workspaces/current/audit-log?limit=20', 'session'),
  'members.list': page('/v1/workspaces/current/members'),
  'workspace_grants.list': page('/v1/workspaces/current/grants?limit=20', 'session'),
  'beneficiaries.create': write('POST', '/v1/beneficiaries', () => ({
    type: 'supplier',
    display_name: 'Bench {n}',
    payment_rail: 'MPESA_B2C',
    destination: '2547{n}',
  })),
  'beneficiaries.list': page('/v1/beneficiaries?limit=20'),
  'beneficiaries.get': one(({ beneficiary }) => `/v1/beneficiaries/${beneficiary}`),
  'beneficiaries.update': write(
    'PATCH',
    // Another one than is paid: who is renamed by a key is asked about with the next payment.
    ({ renamed }) => `/v1/beneficiaries/${renamed}`,
    () => ({
      display_name: 'Bench {n}',
    }),
  ),
  'beneficiaries.payments': page(({ beneficiary }) => `/v1/beneficiaries/${beneficiary}/payments?limit=20`),
  'policies.list': page('/v1/spending-policies?limit=20'),
  'policies.get': one(({ policy }) => `/v1/spending-policies/${policy}`),
  'policies.simulate': write(
    'POST',
    '/v1/spending-policies/simulate',
    ({ beneficiary }) => ({ beneficiary_id: beneficiary, amount_minor: '10000' }),
    { kind: 'one', goal: 0.4 },
  ),
  'notifications.list': page('/v1/notifications?limit=20'),
  'payments.create': write('POST', '/v1/payments', ({ beneficiary }) => ({ beneficiary_id: beneficiary, amount_minor: '10000' })),
  'payments.list': page('/v1/payments?limit=20'),
  'payments.list, session': page('/v1/payments?limit=20', 'session'),
  'payments.list, access token': page('/v1/payments?limit=20', 'token'),
  'payments.list, dashboard token': page('/v1/payments?limit=20', 'dashboardToken'),
  'payments.summary': heavy('/v1/payments/summary'),
  'payments.attention': heavy('/v1/payments/attention'),
  'payments.get': one(({ payment }) => `/v1/payments/${payment}`),
  'payments.get, session': one(({ payment }) => `/v1/payments/${payment}`, 'session'),
  'payments.get, access token': one(({ payment }) => `/v1/payments/${payment}`, 'token'),
  'payments.get, dashboard token': one(({ payment }) => `/v1/payments/${payment}`, 'dashboardToken'),
  'payments.receipt': heavy(({ payment }) => `/v1/payments/${payment}/receipt`),
  'payments.cancel': write(
    'POST',
    ({ payment }) => `/v1/payments/${payment}/cancel`,
    () => undefined,
    { uses: 'approval' },
  ),
  'approvals.list': page('/v1/approvals?limit=20'),
  'approvals.get': heavy(({ approval }) => `/v1/approvals/${approval}`),
  'approvals.message': one(({ approval }) => `/v1/approvals/${approval}/message?decision=approve`),
  'approvals.decide': write(
    'POST',
    ({ approval }) => `/v1/approvals/${approval}/decide`,
    () => ({ decision: 'approve' }),
    {
      uses: 'approval',
      by: 'session',
    },
  ),
  'mandates.list': page('/v1/intent-mandates'),
  'topups.initiate': write('POST', '/v1/topups/initiate', () => ({ amount_minor: '10000', phone_number: '2547{n}' })),
  'topups.get': one(({ topup }) => `/v1/topups/${topup}`),
  'mcp.call, tools/list': mcp('tools/list', () => ({}), 0.5),
  'mcp.call, get_topup': mcp(
    'tools/call',
    ({ topup }) => ({ name: 'get_topup', arguments: { topup_id: topup } }),
    0.7,
    'topups.get',
  ),
  'mcp.call, get_payment': mcp(
    'tools/call',
    ({ payment }) => ({ name: 'get_payment', arguments: { payment_id: payment } }),
    0.7,
    'payments.get',
  ),
}

const byPerson = 'a person does it a few times a year'
const onceAgent = 'once for each program and person'
const administrator = 'for administrators'
const elsewhere = (bench: string) => `measured by the bench ${bench}`
const sameAs = (operation: string) => `the same path as ${operation}`

/** Operations that are rare by nature, and why; an entry that ends in a dot stands for all that begin so. */
export const rare: Readonly<Record<string, string>> = {
  'accounts.close': 'once in the life of an account',
  'proof.': 'by strangers who check a receipt',
  'service.': 'a few times a minute, by the machines that watch the service',
  'admin.': administrator,
  'sign_in.google_start': elsewhere('peers, as the wallet'),
  'sign_in.google_callback': 'waits for the identity provider',
  'sign_in.github_start': sameAs('sign_in.google_start'),
  'sign_in.github_callback': 'waits for the identity provider',
  'sign_in.link_page': byPerson,
  'sign_in.link_continue': byPerson,
  'sign_in.wallet_nonce': elsewhere('peers'),
  'sign_in.wallet_verify': elsewhere('peers'),
  'sign_in.logout': 'once a session',
  'sign_in.create_dashboard_token': 'once for each visit of a page',
  'oauth.token': elsewhere('peers'),
  'oauth.': onceAgent,
  'grants.revoke_all': 'in an emergency',
  'grants.revoke': byPerson,
  'api_keys.rotate': byPerson,
  'api_keys.revoke': byPerson,
  'identities.link': byPerson,
  'identities.unlink': byPerson,
  'passkeys.prepare': byPerson,
  'passkeys.add': byPerson,
  'passkeys.remove': byPerson,
  'sessions.revoke': byPerson,
  'sessions.prepare_proof': byPerson,
  'sessions.prove': byPerson,
  'workspaces.create': byPerson,
  'workspaces.switch': 'when a person changes to another workspace',
  'workspaces.freeze': 'in an emergency',
  'workspaces.unfreeze': 'after an emergency',
  'members.update': byPerson,
  'members.remove': byPerson,
  'invitations.': byPerson,
  'workspace_grants.revoke': byPerson,
  'workspace_grants.freeze': byPerson,
  'workspace_grants.freeze_all': 'in an emergency',
  'beneficiaries.archive': sameAs('beneficiaries.update'),
  'beneficiaries.banks': 'a fixed list, read when a payee is added',
  'beneficiaries.confirm': byPerson,
  'request_log.list': 'read when something went wrong',
  'beneficiaries.verify': byPerson,
  'payment_refusals.list': sameAs('payments.list'),
  'payment_batches.': 'a payroll: a few times a month',
  'policies.create': 'each one that is made makes the next payment dearer, and a workspace has few',
  'policies.update': 'needs the version that the last change left; a few times a month',
  'policies.archive': byPerson,
  'notifications.stream': elsewhere('streams'),
  'approvals.decide_by_signature': 'a signature by a person',
  'mandates.prepare': 'a signature by a person',
  'mandates.create': 'a signature by a person',
  'mandates.get': sameAs('mandates.list, which reads several'),
  'mandates.revocation_message': byPerson,
  'mandates.revoke': byPerson,
}

/** Whether an operation of the API is in one of the two lists. */
export const isListed = (operation: string): boolean =>
  Object.keys(measured).some((name) => name.split(',')[0] === operation) ||
  Object.keys(rare).some((name) => (name.endsWith('.') ? operation.startsWith(name) : operation === name))
