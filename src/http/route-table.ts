import type { FastifySchema, RouteOptions } from 'fastify'
import { z } from 'zod'
import { type ErrorCode, errorCodes, errorRow } from '../errors/catalogue.ts'
import type { Access, App } from './app-type.ts'
import { isUnsafe } from './authorize.ts'
import { ErrorDetails } from './error-details.ts'
import { withoutPermission } from './without-permission.ts'

const ErrorEnvelope = z
  .object({
    error: z.string().meta({ enum: errorCodes, description: 'The error code, for programs. New codes may be added.' }),
    message: z.string().describe('A sentence for people.'),
    details: ErrorDetails.optional(),
  })
  .meta({
    id: 'Error',
    description:
      'The body of every error. `details.request_id` identifies the request; `details.fields` lists the invalid fields of a 400 error.',
  })

const refusalResponses = (codes: ReadonlySet<ErrorCode>): object => {
  const content = { 'application/json': { schema: ErrorEnvelope } }
  const describe = (of: readonly ErrorCode[]) => of.map((code) => `\`${code}\`: ${errorRow(code).sentence}`).join(' ')
  const byStatus = [...Map.groupBy(codes, (code) => errorRow(code).status)]
  return Object.fromEntries(byStatus.map(([status, of]) => [status, { description: describe(of), content }]))
}

const ofCredentials: readonly ErrorCode[] = [
  'authentication_required',
  'invalid_token',
  'token_expired',
  'api_key_revoked',
  'api_key_expired',
  'session_revoked',
  // This kind of credential is disabled for the account.
  'capability_disabled',
  // `Workspace-Id` names a workspace to which the credential has no access.
  'not_found',
]

/** Error codes that can occur before the handler runs, derived from the route's declaration. */
const commonRefusals = (route: RouteOptions): ErrorCode[] => {
  const { permission, access, whileFrozen, idempotent, query, freshProof } = route.config ?? {}
  const unsafe = isUnsafe(String(route.method))
  const when = (holds: boolean, ...codes: readonly ErrorCode[]): readonly ErrorCode[] => (holds ? codes : [])
  return [
    'rate_limited',
    'internal_error',
    'unavailable',
    ...when(access !== 'public', ...ofCredentials),
    // On any route, the account may no longer be a member of the session's current workspace.
    ...when(permission !== undefined || (access !== 'public' && access !== 'optional'), 'forbidden', 'membership_suspended'),
    ...when(access === 'undelegated', 'forbidden'),
    ...when(access === 'admin', 'admin_required'),
    ...when((access === 'admin' && unsafe) || freshProof !== undefined, 'step_up_required'),
    ...when(unsafe, 'csrf_rejected', 'invalid_request', 'payload_too_large', 'unsupported_media_type'),
    ...when(unsafe && !whileFrozen && access !== 'public', 'account_frozen'),
    ...when(unsafe && !whileFrozen && permission !== undefined, 'workspace_frozen'),
    // An unknown query parameter.
    ...when(query !== 'lenient' || route.schema?.querystring !== undefined, 'invalid_request'),
    ...when(route.schema?.params !== undefined, 'not_found'),
    ...when(idempotent === true, 'conflict'),
  ]
}

const accessOf = ({ permission, access }: NonNullable<RouteOptions['config']>): string => {
  const permissions = typeof permission === 'object' ? permission.join(' or ') : permission
  return [permissions, access].filter((part) => part !== undefined).join(', ')
}

const complain = (route: RouteOptions, problem: string) => new Error(`${String(route.method)} ${route.url} ${problem}`)

const isListed = (operation: string, access: Access | undefined): boolean =>
  access === undefined || access === 'admin' || withoutPermission[access][operation] !== undefined

const check = (route: RouteOptions): void => {
  const { config, schema } = route
  if (!config?.operation) throw complain(route, 'has no operation name')
  if (config.permission === undefined && config.access === undefined) throw complain(route, 'says nothing of who may call it')
  if (config.permission === undefined && !isListed(config.operation, config.access))
    throw complain(
      route,
      `asks for no permission: http/without-permission.ts has no reason for ${config.operation} as ${config.access}`,
    )
  if (config.permission !== undefined && (config.access === 'public' || config.access === 'optional'))
    throw complain(route, `names a permission, and as ${config.access} lets in callers without a credential`)
  if (!schema?.hide && !(schema?.summary && schema.description))
    throw complain(route, 'has no summary and description: the API document shows them')
  if (!schema?.response) throw complain(route, 'declares no responses: an undeclared one could leak a column')
  if (config.idempotent && route.method !== 'POST') throw complain(route, 'is idempotent by nature, not by key')
}

/** The plugin's route that serves the dashboard's files cannot carry our declarations, so it is recognised by its prefix. */
const isInternal = (route: RouteOptions): boolean => {
  if (!route.url.startsWith('/assets/')) return route.config?.internal ?? false
  route.config = { ...route.config, internal: true }
  route.schema = { ...route.schema, hide: true } as FastifySchema
  return true
}

const entryOf = ({ config = {}, method, schema, url }: RouteOptions, operation: string) => ({
  method: String(method),
  path: url,
  operation,
  access: accessOf(config),
  idempotent: config.idempotent ?? false,
  permissions: [config.permission ?? []].flat(),
  rule: config.access ?? null,
  whileFrozen: config.whileFrozen ?? false,
  changesNothing: config.changesNothing ?? false,
  freshProof: config.access === 'admin' && method !== 'GET' ? 'always' : (config.freshProof ?? null),
  /** Error codes of the service, in addition to those implied by the declaration. */
  refuses: config.refuses ?? [],
  reads: [schema?.params, schema?.querystring, schema?.body].filter((part) => part !== undefined),
})
export type RouteEntry = ReturnType<typeof entryOf>

/** Refuses to start if a route's declaration is incomplete. */
export const registerRouteGuard = (app: App): RouteEntry[] => {
  const table: RouteEntry[] = []
  app.addHook('onRoute', (route) => {
    // Neither is an operation: a plugin handles preflight requests, and the GET handler serves HEAD.
    if (route.method === 'OPTIONS') route.schema = { ...route.schema, hide: true } as FastifySchema
    if (isInternal(route) || route.method === 'HEAD' || route.method === 'OPTIONS') return
    check(route)
    const { config } = route
    if (!config?.operation) return
    if (table.some((entry) => entry.operation === config.operation))
      throw complain(route, `repeats the operation ${config.operation}`)
    table.push(entryOf(route, config.operation))
    const implied = commonRefusals(route)
    // A 403 may be listed although it is implied, because docs/authorization.md lists the refusals of services.
    const repeated = (config.refuses ?? []).filter((code) => implied.includes(code) && errorRow(code).status !== 403)
    if (repeated.length > 0)
      throw complain(route, `need not name ${repeated.join(', ')} in \`refuses\`: its declaration implies it`)
    const refuses = new Set([...implied, ...(config.refuses ?? [])])
    route.config = { ...config, refuses: [...refuses] }
    route.schema = {
      ...route.schema,
      response: { ...refusalResponses(refuses), ...(route.schema?.response as object) },
      operationId: config.operation,
      ...(config.access === 'public' && { security: [] }),
      ...(config.access === 'optional' && { security: [{}, { bearer: [] }, { session: [] }] }),
      description: [route.schema?.description, accessNote(config)].filter(Boolean).join('\n\n'),
    } as FastifySchema
  })
  return table
}

const accessNotes = {
  public: 'Public.',
  optional: 'Public; session-aware.',
  authenticated: 'Any credential.',
  undelegated: 'Any credential without a grant.',
  admin: 'Administrators only.',
} as const

const proofNotes = {
  always: 'Sessions require step-up (403 `step_up_required`).',
  by_content: 'Sessions require step-up for some changes (403 `step_up_required`).',
} as const

const accessNote = ({ permission, access, idempotent, freshProof }: NonNullable<RouteOptions['config']>): string =>
  [
    permission === undefined ? '' : `Permission: \`${accessOf({ permission })}\`.`,
    access === undefined ? '' : accessNotes[access],
    freshProof === undefined ? '' : proofNotes[freshProof],
    idempotent ? 'Supports `Idempotency-Key`.' : '',
  ]
    .filter(Boolean)
    .join(' ')
