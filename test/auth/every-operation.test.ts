import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Permission, permissions } from '../../src/auth/permissions.ts'
import type { RouteEntry } from '../../src/http/route-table.ts'
import type { Answer, Client } from '../harness/client.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { createTeam, join, type Teammate } from '../workspaces/team.ts'
import { authorizationTable } from './authorization-table.ts'
import { createStranger, createTenant, type Tenant } from './tenant.ts'

let service: TestService
let person: Person
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT_ENABLED: 'false' } })
  person = await signIn(service.api)
})
afterAll(() => service.close())

const unknownId = '01h455vb4pex5vsknk084sn02q'
const pathOf = (path: string, id = `xyz_${unknownId}`) => path.replace(/:\w+/g, id)
const callRoute = (api: Client, { method, path }: RouteEntry, id?: string, body?: unknown): Promise<Answer> =>
  api.call(method, pathOf(path, id), { ...(body !== undefined && { body }) })
const nameOf = ({ method, path }: RouteEntry) => `${method} ${path}`
const neededFor = (route: RouteEntry): string[] =>
  route.access
    .split(', ')
    .flatMap((part) => part.split(' or '))
    .filter((part) => (permissions as readonly string[]).includes(part))

test('the table of who may call what is the service’s own, line by line', () => {
  expect(Object.fromEntries(service.routes.map((route) => [nameOf(route), route.access]))).toEqual(authorizationTable)
})

test('without a credential every operation that needs one says so, and where to get it', async () => {
  const guarded = service.routes.filter(({ access }) => !['public', 'optional'].includes(access))
  expect(guarded.length).toBeGreaterThan(70)
  for (const route of guarded) {
    const answer = await callRoute(service.api, route)
    expect([nameOf(route), answer.status, answer.body.error]).toEqual([nameOf(route), 401, 'authentication_required'])
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata="/)
  }
})

test('a credential that is refused is refused everywhere, where one is optional too', async () => {
  const asking = service.routes.filter(({ access }) => access !== 'public')
  for (const route of asking) {
    const answer = await callRoute(service.api.as({ bearer: `service_live_${'0'.repeat(64)}`, cookie: person.cookie }), route)
    // A page tells a person what a route tells a program.
    const told = answer.headers.get('content-type')?.includes('html') ? 'invalid_token' : answer.body.error
    expect([nameOf(route), answer.status, told]).toEqual([nameOf(route), 401, 'invalid_token'])
  }
})

test('every permission is asked for: a key that has all the others is told which one it lacks', async () => {
  const keys = new Map<string, Client>()
  for (const route of service.routes) {
    const needed = neededFor(route)
    const [first] = needed
    if (!first) continue
    const lacking = needed.join()
    const others = permissions.filter((permission) => !needed.includes(permission))
    const api = keys.get(lacking) ?? (await createKey(person, { permissions: others })).api
    keys.set(lacking, api)
    const answer = await callRoute(api, route)
    expect([nameOf(route), answer.status, answer.body.error]).toEqual([nameOf(route), 403, 'forbidden'])
    if (answer.body.details.required_permission !== undefined) expect(answer.body.details.required_permission).toBe(first)
  }
  expect(keys.size).toBeGreaterThan(14)
})

test('what takes a person itself, or an administrator, takes no grant, whatever that allows', async () => {
  const agent = await createKey(person, { permissions: [...permissions] })
  for (const route of service.routes) {
    if (!/undelegated|admin/.test(route.access)) continue
    const answer = await callRoute(agent.api, route)
    expect([nameOf(route), answer.status, answer.body.error]).toEqual([
      nameOf(route),
      403,
      route.access === 'admin' ? 'admin_required' : 'forbidden',
    ])
    if (route.access === 'admin')
      expect([nameOf(route), (await callRoute(person.api, route)).body.error]).toEqual([nameOf(route), 'admin_required'])
  }
})

describe('roles', () => {
  const allows: Record<string, (permission: string) => boolean> = {
    viewer: (permission) => permission.endsWith('.read'),
    member: (permission) =>
      permission.endsWith('.read') || ['payment.create', 'topup.create', 'beneficiary.manage'].includes(permission),
    approver: (permission) => permission.endsWith('.read') || permission === 'approval.decide',
  }
  /** What comes from being the account, the role neither gives nor takes. */
  const ofWorkspace = (permission: string) => !/^(account|key|grant)\./.test(permission)
  let team: Awaited<ReturnType<typeof createTeam>>
  beforeAll(async () => {
    team = await createTeam(service)
  })

  test.each(Object.keys(allows))('%s: every operation beyond it is 403 with the permission that is missing', async (role) => {
    const teammate: Teammate = await join(service, team, role)
    let refused = 0
    for (const route of service.routes) {
      const needed = neededFor(route).filter(ofWorkspace)
      if (needed.length === 0 || needed.some((permission) => allows[role]?.(permission))) continue
      const answer = await callRoute(teammate.api, route)
      expect([nameOf(route), answer.status, answer.body.error, answer.body.details.required_permission]).toEqual([
        nameOf(route),
        403,
        'forbidden',
        needed[0],
      ])
      refused += 1
    }
    expect(refused).toBeGreaterThan(10)
  })

  test('a suspended membership leaves nothing of the workspace, from the very next request on', async () => {
    const teammate = await join(service, team, 'admin')
    const key = await createKey(teammate, { permissions: [...permissions] as Permission[] })
    await team.owner.api.patch(`/v1/workspaces/current/members/${teammate.memberId}`, { status: 'suspended' })
    for (const route of service.routes) {
      const needed = neededFor(route)
      if (needed.length === 0 || !needed.every(ofWorkspace) || /undelegated/.test(route.access)) continue
      const answer = await callRoute(key.api, route)
      expect([nameOf(route), answer.status, answer.body.error]).toEqual([nameOf(route), 403, 'membership_suspended'])
    }
  })
})

describe("another tenant's resource", () => {
  let tenant: Tenant
  let stranger: Person
  beforeAll(async () => {
    tenant = await createTenant(service)
    stranger = await createStranger(service)
  })

  /** Bodies that are fine as they are: so that a refusal is about the id and nothing else. */
  const bodies: Record<string, unknown> = {
    'grants.update': { frozen: true },
    'api_keys.update': { name: 'Mine' },
    'api_keys.rotate': {},
    'members.update': { role: 'viewer' },
    'beneficiaries.update': { display_name: 'Mine' },
    'policies.update': { name: 'Mine', version: 1 },
    'approvals.decide': { decision: 'approve' },
    'mandates.revoke': {},
  }
  // A question of OAuth belongs to nobody before it is answered; a signature proves itself; administrators have no tenant.
  const aboutNobody = (route: RouteEntry) => /^(oauth|sign_in|admin)\./.test(route.operation) || route.access === 'public'
  const resources = () => service.routes.filter((route) => route.path.includes(':') && !aboutNobody(route))
  const collectionOf = (path: string) => path.split('/:')[0] ?? ''
  const withoutRequestId = (answer: Answer) => answer.text.replace(answer.headers.get('x-request-id') ?? '', '')

  test('is there for its own tenant, so that what follows means something', async () => {
    for (const [collection, id] of Object.entries(tenant.ids)) {
      const readable = resources().some((route) => route.method === 'GET' && route.path === `${collection}/:id`)
      if (readable) expect([collection, (await tenant.owner.api.get(`${collection}/${id}`)).status]).toEqual([collection, 200])
    }
  })

  test('is answered on every route and method like one that does not exist, byte for byte', async () => {
    expect(resources().length).toBeGreaterThan(25)
    for (const route of resources()) {
      const theirs = tenant.ids[collectionOf(route.path)]
      if (theirs === undefined) throw new Error(`no id of a tenant for ${nameOf(route)}`)
      const body = bodies[route.operation]
      const [prefix] = theirs.split('_')
      const foreign = await callRoute(stranger.api, route, theirs, body)
      const unknown = await callRoute(stranger.api, route, `${prefix}_${unknownId}`, body)
      const malformed = await callRoute(stranger.api, route, 'nonsense', body)
      expect([nameOf(route), foreign.status, foreign.body.error]).toEqual([nameOf(route), 404, 'not_found'])
      expect([nameOf(route), withoutRequestId(foreign), withoutRequestId(foreign)]).toEqual([
        nameOf(route),
        withoutRequestId(unknown),
        withoutRequestId(malformed),
      ])
    }
  })

  test('can not be named in a body either', async () => {
    const beneficiary = tenant.ids['/v1/beneficiaries']
    const grant = tenant.ids['/v1/accounts/me/grants']
    const mine = (
      await stranger.api.post('/v1/beneficiaries', {
        type: 'x',
        display_name: 'y',
        payment_rail: 'MPESA_B2C',
        destination: '0712345678',
      })
    ).body.id
    const attempts = [
      await stranger.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '100000' }),
      await stranger.api.post('/v1/payments', {
        beneficiary_id: mine,
        amount_minor: '100000',
        mandate_id: tenant.ids['/v1/intent-mandates'],
      }),
      await stranger.api.post('/v1/spending-policies', { name: 'x', beneficiary_ids: [beneficiary] }),
      await stranger.api.post('/v1/spending-policies/simulate', { beneficiary_id: beneficiary, amount_minor: '100000' }),
      await stranger.api.post('/v1/accounts/me/api-keys', { name: 'x', spending_controls: { beneficiary_ids: [beneficiary] } }),
      await stranger.api.put('/v1/workspaces/current', {
        workspace_id: (await tenant.owner.api.get('/v1/workspaces/current')).body.workspace.id,
      }),
      await stranger.api.get('/v1/accounts/me', {
        headers: { 'workspace-id': (await tenant.owner.api.get('/v1/workspaces/current')).body.workspace.id },
      }),
    ]
    for (const [index, answer] of attempts.entries()) {
      expect([index, answer.status]).toEqual([index, expect.toSatisfy((status) => status === 400 || status === 404)])
      expect(answer.text).not.toContain(tenant.owner.accountId)
    }
    expect(grant).toBeDefined()
  })

  test('is in none of the lists of others', async () => {
    const lists = service.routes.filter((route) => route.method === 'GET' && Object.keys(tenant.ids).includes(route.path))
    expect(lists.length).toBeGreaterThan(8)
    for (const route of lists) {
      const answer = await callRoute(stranger.api, route)
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), 200])
      for (const id of Object.values(tenant.ids))
        expect([nameOf(route), answer.text.includes(id)]).toEqual([nameOf(route), false])
    }
  })
})
