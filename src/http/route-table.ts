import type { FastifySchema, RouteOptions } from 'fastify'
import type { Permission } from '../auth/permissions.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { Access, App } from './app-type.ts'
import { commonRefusals } from './common-refusals.ts'
import { refusalResponses } from './refusal-responses.ts'
import { withoutPermission } from './without-permission.ts'

/** Who may call a route, and when, as the route declares it. `access` says it in words. */
export type RouteEntry = {
  method: string
  path: string
  operation: string
  access: string
  idempotent: boolean
  permissions: readonly Permission[]
  rule: Access | null
  whileFrozen: boolean
  freshProof: 'always' | 'by_content' | null
  /** What its service refuses besides what follows from the route's declaration. */
  refuses: readonly ErrorCode[]
  /** The schemas of what it reads: parameters of path and query, and the body. */
  reads: readonly unknown[]
}

const accessOf = ({ permission, access }: NonNullable<RouteOptions['config']>): string => {
  const permissions = typeof permission === 'object' ? permission.join(' or ') : permission
  return [permissions, access].filter((part) => part !== undefined).join(', ')
}

const complain = (route: RouteOptions, problem: string) => new Error(`${String(route.method)} ${route.url} ${problem}`)

/** A route without a permission must be in the one list of them, with this access and a reason. */
const isListed = (operation: string, access: Access | undefined): boolean =>
  access === undefined || access === 'admin' || withoutPermission[operation]?.[0] === access

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

/** Routes of plugins that serve pages cannot carry our declarations; they are named here by their prefix. */
const pagePrefixes = ['/docs', '/assets']

const isInternal = (route: RouteOptions): boolean => {
  if (!pagePrefixes.some((prefix) => route.url === prefix || route.url.startsWith(`${prefix}/`)))
    return route.config?.internal ?? false
  route.config = { ...route.config, internal: true }
  route.schema = { ...route.schema, hide: true } as FastifySchema
  return true
}

/** Refuses to start with a route whose declaration is incomplete. */
export const registerRouteGuard = (app: App): RouteEntry[] => {
  const table: RouteEntry[] = []
  app.addHook('onRoute', (route) => {
    // A plugin answers preflights, and GET's handler answers HEAD: neither is an operation of its own.
    if (route.method === 'OPTIONS') route.schema = { ...route.schema, hide: true } as FastifySchema
    if (isInternal(route) || route.method === 'HEAD' || route.method === 'OPTIONS') return
    check(route)
    const { config } = route
    const method = String(route.method)
    if (!config?.operation) return
    if (table.some((entry) => entry.operation === config.operation))
      throw complain(route, `repeats the operation ${config.operation}`)
    table.push({
      method,
      path: route.url,
      operation: config.operation,
      access: accessOf(config),
      idempotent: config.idempotent ?? false,
      permissions: [config.permission ?? []].flat(),
      rule: config.access ?? null,
      whileFrozen: config.whileFrozen ?? false,
      freshProof: config.access === 'admin' && method !== 'GET' ? 'always' : (config.freshProof ?? null),
      refuses: config.refuses ?? [],
      reads: [route.schema?.params, route.schema?.querystring, route.schema?.body].filter((part) => part !== undefined),
    })
    const refuses = [...new Set([...(config.refuses ?? []), ...commonRefusals(route)])]
    route.config = { ...config, refuses }
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
  always: 'A session needs a fresh proof.',
  by_content: 'A session needs a fresh proof for some of what this does.',
} as const

const accessNote = ({ permission, access, idempotent, freshProof }: NonNullable<RouteOptions['config']>): string =>
  [
    permission === undefined ? '' : `Permission: \`${accessOf({ permission })}\`.`,
    access === undefined ? '' : accessNotes[access],
    freshProof === undefined ? '' : proofNotes[freshProof],
    idempotent ? 'Honours `Idempotency-Key`.' : '',
  ]
    .filter(Boolean)
    .join(' ')
