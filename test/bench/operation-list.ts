import { ZodObject } from 'zod'
import type { RouteEntry } from '../../src/http/route-table.ts'
import type { Json } from '../harness/client.ts'
import type { LoadRequest } from './connection.ts'

type Credential = 'key' | 'session' | 'access token' | 'dashboard token' | 'admin'
/** One record of each list that a path names by `:id`. The key may be changed, and the grant is that key's. */
type Listed = 'accounts' | 'grants' | 'api-keys' | 'invitations' | 'topups' | 'beneficiaries' | 'spending-policies' | Act
type Act = 'payments' | 'payment-batches' | 'approvals'
/** The data of one caller. Further payees: one that needs an approval, one without payments. A `{field}` below is its value. */
export type Scene = Record<Credential | Listed | 'asking' | 'renamed' | 'workspace' | 'address' | 'client', string>

type Asking = (scene: Scene) => LoadRequest
/**
 * P1 and P4, unless a row has another. `one` is compared with a record, `page` with a list of as many rows and bytes, `sum` with the
 * sums of 30 payments, `write` with a transaction of three inserts.
 */
const goals = { one: 0.45, page: 0.3, sum: 0.4, write: 0.33 }
/** `goal`: 0 if only P0 guards it. `once`: one request per caller and round. `uses`: consumes another request's result and answer. */
export type Operation = {
  kind: keyof typeof goals
  goal: number
  request: Asking
  once: boolean
  uses: { request: Asking; take: (made: Json) => Partial<Scene> } | undefined
}
/** `of`: a field other than the path's list. `uses`: the operation that creates it, with its body unless it is its row's. */
type Row = Partial<Pick<Operation, 'kind' | 'goal' | 'once'> & Pick<LoadRequest, 'body' | 'form' | 'accept'>> & {
  by?: Credential | 'nobody'
  query?: string
  of?: keyof Scene
  uses?: readonly [operation: string, body?: object]
}

/** The default caller of a row: a person in a browser changes what people manage, a key does the rest. */
const callerOf = (access: string): NonNullable<Row['by']> => {
  if (/public|optional/.test(access)) return 'nobody'
  if (access === 'admin') return 'admin'
  return /undelegated|(account|grant|key|policy|workspace)\.manage/.test(access) ? 'session' : 'key'
}

const requestOf = (
  { method, path, access }: RouteEntry,
  { by = callerOf(access), query = '', of, body, form, accept }: Row,
): Asking => {
  const cookie = by === 'session' || by === 'admin' ? 'cookie ' : ''
  const named = path.replace(/([\w-]+)\/:id/, (_, list: string) => `${list}/{${of ?? list}}`)
  const credential = by === 'nobody' ? '' : `${cookie}{${by}}`
  const text = JSON.stringify({ method, path: named + query, credential, body, form, accept })
  return (scene) => JSON.parse(text.replace(/\{([\w -]+)\}/g, (all, field: string) => scene[field as keyof Scene] ?? all))
}

const pay = { beneficiary_id: '{beneficiaries}', amount_minor: '10000' }
const ask = { beneficiary_id: '{asking}', amount_minor: '10000' }
const payee = { type: 'supplier', display_name: 'Bench {n}', payment_rail: 'MPESA_B2C', destination: '2547{n}' }
const policy = { name: 'Bench {n}', daily_limit_minor: '9000', beneficiary_ids: ['{renamed}'] }
const client = { client_name: 'Bench {n}', redirect_uris: ['http://127.0.0.1/{n}'], token_endpoint_auth_method: 'none' }
const pkce = { code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' }
const expires_at = new Date(Date.now() + 86_400_000).toISOString()
const terms = { description: 'Groceries', max_total_minor: '100000', expires_at }
const mcp = (method: string, params: object): Row => {
  const body = { jsonrpc: '2.0', id: 1, method, params }
  return { kind: 'one', goal: 0, body, accept: 'application/json, text/event-stream' }
}

/** Operations besides reads (derived from their routes). A name after a comma tells several calls of one operation apart. */
const rows: Readonly<Record<string, Row>> = {
  'accounts.update': { body: { display_name: 'Bench {n}' } },
  'grants.update': { body: { spending_controls: { daily_limit_minor: '9{n}' } } },
  'grants.revoke': { uses: ['api_keys.create'] },
  'api_keys.create': { body: { name: 'Bench {n}' }, once: true },
  'api_keys.update': { body: { name: 'Bench {n}' } },
  'api_keys.rotate': { uses: ['api_keys.create'] },
  'api_keys.revoke': { uses: ['api_keys.create'] },
  'sign_in.wallet_nonce': { kind: 'one', body: { address: '{address}' } },
  // A GET that records the attempt.
  'sign_in.google_start': {},
  'sign_in.create_dashboard_token': { by: 'session' },
  'oauth.device_authorization': { form: { client_id: '{client}', ...pkce } },
  'oauth.introspect': { form: { client_id: '{client}', token: '{access token}' } },
  'oauth.register': { body: client, once: true },
  'workspaces.switch': { body: { workspace_id: '{workspace}' } },
  'workspaces.update': { body: { name: 'Bench {n}' } },
  'invitations.create': { body: { role: 'viewer' }, once: true },
  'invitations.revoke': { uses: ['invitations.create'] },
  'workspace_grants.freeze': { body: { frozen: true }, uses: ['api_keys.create'] },
  'workspace_grants.revoke': { uses: ['api_keys.create'] },
  'beneficiaries.create': { body: payee },
  // Not a paid one: an approval asks about a beneficiary that a key renamed.
  'beneficiaries.update': { body: { display_name: 'Bench {n}' }, of: 'renamed' },
  'beneficiaries.archive': { uses: ['beneficiaries.create'] },
  'policies.create': { body: policy, once: true },
  'policies.archive': { uses: ['policies.create'] },
  'policies.simulate': { kind: 'one', goal: 0.12, body: pay },
  'payment_batches.cancel': { uses: ['payment_batches.create'] },
  // P2 and P4 bound these two elsewhere.
  'payments.create': { body: pay, goal: 0 },
  'payment_batches.create': { body: { items: [ask], duplicates_intended: true }, goal: 0, once: true },
  'payments.cancel': { uses: ['payments.create', ask] },
  'approvals.decide': { by: 'session', body: { decision: 'approve' }, goal: 0.12, uses: ['payments.create', ask] },
  'mandates.prepare': { kind: 'one', body: { address: '{address}', terms } },
  'topups.initiate': { body: { amount_minor: '10000', phone_number: '2547{n}' } },
  'mcp.call, tools/list': mcp('tools/list', {}),
  'mcp.call, get_topup': mcp('tools/call', { name: 'get_topup', arguments: { topup_id: '{topups}' } }),
  'mcp.call, get_payment': mcp('tools/call', { name: 'get_payment', arguments: { payment_id: '{payments}' } }),
}

/** Operations without a measurement, by the reason. */
const unmeasured: Readonly<Record<string, RegExp>> = {
  'among the figures': /^(sign_in.wallet_verify|oauth.token|notifications.stream)$/,
  'wait for an identity provider, or a person at a page':
    /^(sign_in.(google_callback|github_.*|link_.*)|oauth.(authorize|push|(get|decide)_.*|revoke))$/,
  'need a signature, an authenticator or a browser that wants notifications':
    /^(push.*|sessions.prepare_proof|sessions.prove|identities.(un)?link|passkeys.(?!list).*|approvals.decide_.*|mandates.(?!list|prep).*)$/,
  'end what the caller calls with, or concern a second person':
    /^(accounts.close|sign_in.logout|sessions.revoke|.*_all|workspaces.((un)?freeze|create|.*separat.*)|members.(?!list).*|invitations.(preview|accept))$/,
  'need what another act left': /^(policies.(update|.*_change)|beneficiaries.(confirm|verif.*))$/,
  'by an administrator, a few times a day':
    /^admin.(?!(list_(accounts|payments|adjustments|suspense|reconciliations|differences)|get_account|audit_log)$)/,
  'were added since the last measurement': /^(workspaces.(history.*|evidence)|notification_settings.*)$/,
}
export const isUnmeasured = (name: string): boolean => Object.values(unmeasured).some((names) => names.test(name))

/** The rows of readings that are neither one record nor a list of wide rows. */
const readings: readonly (readonly [names: RegExp, row: Row])[] = [
  [/^(payments.(summary|attention)|.*\.statement|accounts.history_summary)$/, { kind: 'sum' }],
  [/^(payments.receipt|payment_batches.(get|lines)|admin.get_account)$/, { kind: 'one', goal: 0 }],
  [/^approvals.get$/, { kind: 'one', goal: 0.12 }],
  [/^payments.list$/, { goal: 0.25 }],
  [
    /^((request_log|identities|passkeys|sessions|workspaces|members|invitations|mandates|payment_refusals).list)$/,
    { goal: 0.45 },
  ],
  [/^admin.list_(adjustments|suspense|reconciliations|differences)$/, { goal: 0.45 }],
]
const byEachCredential = ['workspaces.current', 'payments.get', 'payments.list']
/** The row of a read, derived from its route. */
const readingsOf = ({ method, operation, reads }: RouteEntry): [name: string, Row][] => {
  if (method !== 'GET' || isUnmeasured(operation)) return []
  const isLimited = reads.some((schema) => schema instanceof ZodObject && 'limit' in schema.shape)
  const row: Row = {
    query: isLimited ? '?limit=20' : '',
    kind: isLimited ? 'page' : 'one',
    ...readings.find(([names]) => names.test(operation))?.[1],
  }
  const further = byEachCredential.includes(operation) ? (['session', 'access token', 'dashboard token'] as const) : []
  return [[operation, row], ...further.map((by): [string, Row] => [`${operation}, ${by}`, { ...row, by }])]
}

export const operationsOf = (routes: readonly RouteEntry[]): Readonly<Record<string, Operation>> => {
  const routeOf = (name: string): RouteEntry => {
    const route = routes.find(({ operation }) => operation === name.split(',')[0])
    if (!route) throw new Error(`no route is ${name}`)
    return route
  }
  const usedBy = ([name, body]: NonNullable<Row['uses']>): Operation['uses'] => {
    const [route, row] = [routeOf(name), rows[name]]
    const take = ({ id, grant, approval_id }: Json) => {
      const also = { ...(grant && { grants: grant.id }), ...(approval_id && { approvals: approval_id }) }
      return { [route.path.split('/').at(-1) ?? '']: id, ...also }
    }
    return { request: requestOf(route, { ...row, ...(body && { body }) }), take }
  }
  const operationOf = ([name, row]: [string, Row]): [string, Operation] => {
    const { kind = 'write', goal = goals[kind], uses, once = uses !== undefined } = row
    return [name, { kind, goal, once, request: requestOf(routeOf(name), row), uses: uses && usedBy(uses) }]
  }
  return Object.fromEntries([...routes.flatMap(readingsOf), ...Object.entries(rows)].map(operationOf))
}
