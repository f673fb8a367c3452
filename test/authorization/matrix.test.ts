import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseTable, type Row, renderTable } from '../../scripts/authorization.ts'
import { effectivePermissions, isPermission, permissions, type Role, undelegable } from '../../src/auth/permissions.ts'
import { roles } from '../../src/db/tables/workspaces.ts'
import type { App } from '../../src/http/app-type.ts'
import { registerRouteGuard } from '../../src/http/route-table.ts'
import { withoutPermission } from '../../src/http/without-permission.ts'
import { startAdministered } from '../admin/administrators.ts'
import { credit, newBeneficiary, shareBalance } from '../harness/money.ts'
import { authorizeAgent } from '../harness/oauth.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { createTeam, join, memberIdOf, standIn, type Team, type Teammate } from '../workspaces/team.ts'
import { type Credential, probeAll, refusals } from './probe.ts'

const text = readFileSync(new URL('../../docs/authorization.md', import.meta.url), 'utf8')
const table = parseTable(text)
const isOpen = ({ needs }: Row) => needs === 'public' || needs === 'optional'
const closed = table.filter((row) => !isOpen(row))
const writes = closed.filter(({ method, needs }) => method !== 'GET' && needs !== 'admin')

let service: TestService
let admin: Person
let team: Team
const members = {} as Record<Role, Person>
let suspended: Teammate

beforeAll(async () => {
  ;({ service, admin } = await startAdministered({ env: { RATE_LIMIT_ENABLED: 'false' } }))
  team = await createTeam(service)
  for (const role of roles) members[role] = role === 'owner' ? team.owner : await join(service, team, role)
  suspended = await join(service, team, 'owner')
})
afterAll(() => service.close())

const dashboardOf = async (of: Pick<Person, 'api'>): Promise<Credential> => ({
  bearer: (await of.api.post('/v1/auth/dashboard-tokens')).body.token,
})

const keyOf = async (person: Pick<Person, 'api'>, permissions?: readonly string[]) =>
  createKey(person, permissions ? { permissions } : {})

test('every route of the running server is in docs/authorization.md as it is (npm run authorization writes it)', () => {
  expect(renderTable(service.routes)).toBe(text)
})

test('every operation without a permission is listed with its reason, and no other is', () => {
  const open = service.routes.filter(({ permissions, rule }) => permissions.length === 0 && rule !== 'admin')
  expect(open.map(({ operation, rule }) => `${operation} ${rule}`).sort()).toEqual(
    Object.entries(withoutPermission)
      .flatMap(([access, operations]) => Object.keys(operations).map((operation) => `${operation} ${access}`))
      .sort(),
  )
})

test.each([
  { operation: 'payments.list', access: 'authenticated' },
  { operation: 'workspaces.current', access: 'public' },
] as const)('$operation as $access keeps the service from starting: no reason is written down', (config) => {
  const app: App = fastify().withTypeProvider<ZodTypeProvider>()
  registerRouteGuard(app)
  const schema = { summary: 'Planted', description: 'Planted.', response: { 200: {} } }
  expect(() => app.get('/planted', { config, schema }, async () => ({}))).toThrow('asks for no permission')
  const asking = { operation: config.operation, permission: 'payment.read' as const }
  expect(() => app.get('/planted', { config: asking, schema }, async () => ({}))).not.toThrow()
})

test.each(['public', 'optional'] as const)('a permission on a route that is %s keeps the service from starting', (access) => {
  const app: App = fastify().withTypeProvider<ZodTypeProvider>()
  registerRouteGuard(app)
  const config = { operation: 'payments.planted', permission: 'payment.read', access } as const
  const schema = { summary: 'Planted', description: 'Planted.', response: { 200: {} } }
  expect(() => app.get('/planted', { config, schema }, async () => ({}))).toThrow('lets in callers without a credential')
})

test('a refusal that is named although the declaration implies it keeps the service from starting', () => {
  const app: App = fastify().withTypeProvider<ZodTypeProvider>()
  registerRouteGuard(app)
  const schema = { summary: 'Planted', description: 'Planted.', response: { 200: {} } }
  const config = {
    operation: 'payments.planted',
    permission: 'payment.create',
    refuses: ['beneficiary_frozen', 'invalid_request'],
  } as const
  expect(() => app.post('/planted', { config, schema }, async () => ({}))).toThrow('need not name invalid_request')
  const named = { ...config, operation: 'payments.planted_too', refuses: ['beneficiary_frozen', 'forbidden'] } as const
  expect(() => app.post('/planted/too', { config: named, schema }, async () => ({}))).not.toThrow()
})

test('in the table every role and kind of credential may do something, and most are refused something', () => {
  for (const column of ['owner', 'viewer', 'key', 'agent', 'stopped', 'frozen'] as const) {
    expect(new Set(closed.map((row) => row[column])).size).toBeGreaterThan(1)
  }
})

test('a row that differs from the server makes the comparison fail', async () => {
  const wrong = [
    { method: 'PATCH', path: '/v1/workspaces/current' },
    { method: 'GET', path: '/v1/workspaces/current' },
  ]
  const rows = closed.filter(({ method, path }) => wrong.some((row) => row.method === method && row.path === path))
  expect(await refusals(service, rows, { cookie: members.viewer.cookie }, (row) => row.viewer !== '●')).toEqual([
    'GET /v1/workspaces/current: may not, but 200 ',
    'PATCH /v1/workspaces/current: may, but 403 forbidden',
  ])
})

describe.each(roles)('in the role %s', (role) => {
  const held = [...effectivePermissions(role, null)]
  const delegable = held.filter((permission) => !undelegable.has(permission))
  const byRole = (row: Row) => row[role] === '●'

  test('a session may do what its row says, and nothing else', async () => {
    expect(await refusals(service, closed, { cookie: members[role].cookie }, byRole)).toEqual([])
  })
  test('a dashboard token of that session may do the same, except what needs a fresh proof', async () => {
    const token = await dashboardOf(members[role])
    expect(await refusals(service, closed, token, (row) => byRole(row) && row.proof !== '●')).toEqual([])
  })
  test('a key with every permission that can be named may do what delegation allows', async () => {
    const key = await keyOf(members[role], held)
    expect(await refusals(service, closed, { bearer: key.key }, (row) => byRole(row) && row.key !== '·')).toEqual([])
    expect(await refusals(service, closed, await dashboardOf(key), (row) => byRole(row) && row.key !== '·')).toEqual([])
  })
  test('a key without a list may do what is delegated by default', async () => {
    const key = await keyOf(members[role])
    expect(await refusals(service, closed, { bearer: key.key }, (row) => byRole(row) && row.key === '●')).toEqual([])
  })
  test('an agent with every existing scope may do what scopes allow', async () => {
    const agent = await authorizeAgent(service.api, members[role], { request: { scope: delegable.join(' ') } })
    expect(await refusals(service, closed, { bearer: agent.access }, (row) => byRole(row) && row.agent === '●')).toEqual([])
  })
})

test('a session that began with a wallet which a key linked may do what is not for a person alone', async () => {
  const key = await keyOf(members.owner, ['account.manage'])
  const wallet = newWallet()
  const message = await walletMessage(key.api, wallet)
  const signature = await wallet.signMessage({ message })
  expect((await key.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })).status).toBe(201)
  const linked = await signIn(service.api, wallet)
  const inTeam = { cookie: linked.cookie, headers: { 'workspace-id': team.id } }
  const may = (row: Row) => row.owner === '●' && row.linked === '●'
  expect(await refusals(service, closed, inTeam, may)).toEqual([])
  expect(closed.filter((row) => row.linked === '·' && row.needs !== 'admin').length).toBeGreaterThan(15)
})

test('every permission is required: a key that has all the others gets the name of the missing one', async () => {
  const keys = new Map<string, Credential>()
  for (const row of closed) {
    const needed = row.needs.split(/, | or /).filter(isPermission)
    const [first] = needed
    if (!first) continue
    const lacking = needed.join()
    const others = permissions.filter((permission) => !needed.includes(permission))
    const credential = keys.get(lacking) ?? { bearer: (await keyOf(members.owner, others)).key }
    keys.set(lacking, credential)
    const [probed] = await probeAll(service, [row], credential)
    expect([row.path, probed?.status, probed?.error]).toEqual([row.path, 403, 'forbidden'])
    if (!row.needs.includes('undelegated')) expect(probed?.text).toContain(`"required_permission":"${first}"`)
  }
  expect(keys.size).toBeGreaterThan(14)
})

test("an administrator in person may call the administrators' routes; neither their key nor their agent may", async () => {
  const own = closed.filter(({ needs }) => needs === 'admin')
  expect(await refusals(service, own, { cookie: admin.cookie }, () => true)).toEqual([])
  expect(await refusals(service, own, await dashboardOf(admin), () => true)).toEqual([])
  expect(await refusals(service, own, { bearer: (await keyOf(admin)).key }, () => false)).toEqual([])
  expect(await refusals(service, own, { bearer: (await authorizeAgent(service.api, admin)).access }, () => false)).toEqual([])
})

const answers = (rows: readonly Row[], credential: Credential) => probeAll(service, rows, credential)
const answersTo = async (rows: readonly Row[], credential: Credential) => [
  ...new Set((await answers(rows, credential)).map(({ status, error }) => `${status} ${error}`)),
]

describe('an invalid credential', () => {
  test('a request without a credential enters only open routes', async () => {
    expect(await answersTo(closed, {})).toEqual(['401 authentication_required'])
  })
  test('an unknown bearer and a revoked key are refused on every route that reads a credential', async () => {
    const looked = table.filter(({ needs }) => needs !== 'public')
    // A person gets the refusal as a page.
    const answered = async (bearer: string) =>
      (await answersTo(looked, { bearer })).filter((answer) => answer !== '401 undefined')
    expect(await answered(`service_live_${'0'.repeat(64)}`)).toEqual(['401 invalid_token'])
    const key = await keyOf(members.owner)
    await members.owner.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
    expect(await answered(key.key)).toEqual(['401 api_key_revoked'])
  })
  test('an open route requires no credential', async () => {
    const open = table.filter(isOpen)
    const unauthenticated = (await answers(open, {})).filter(({ error }) =>
      ['authentication_required', 'forbidden', 'admin_required'].includes(error ?? ''),
    )
    expect(unauthenticated).toEqual([])
  })
})

test('a stranger who names the workspace gets the 404 of one that is not there, on every route', async () => {
  const stranger = await signIn(service.api, newWallet())
  const naming = (id: string) => ({ cookie: stranger.cookie, headers: { 'workspace-id': id } })
  const [foreign, none] = await Promise.all([
    answers(closed, naming(team.id)),
    answers(closed, naming('wsp_01h455vb4pex5vsknk084sn02q')),
  ])
  expect(foreign.filter(({ status }) => status !== 404)).toEqual([])
  expect(foreign.map(({ text: body }) => body)).toEqual(none.map(({ text: body }) => body))
})

test("a suspended member’s key keeps the account's permissions, and its session can only choose another workspace", async () => {
  const key = await keyOf(suspended, [...effectivePermissions('owner', null)])
  const { memberId } = suspended
  await team.owner.api.patch(`/v1/workspaces/current/members/${memberId}`, { status: 'suspended' })
  const ofAccount = ({ needs }: Row) => /^(account|key|grant)\./.test(needs)
  const ofWorkspace = closed.filter((row) => /^[a-z]+\./.test(row.needs) && !ofAccount(row) && !row.needs.includes('undelegated'))
  expect(await answersTo(ofWorkspace, { bearer: key.key })).toEqual(['403 membership_suspended'])
  expect(await refusals(service, closed.filter(ofAccount), { bearer: key.key }, () => true)).toEqual([])
  // A session must choose another workspace first. The routes for that stay open.
  const inTeam = { cookie: suspended.cookie, headers: { 'workspace-id': team.id } }
  const choosing = [
    'GET /v1/accounts/me',
    'GET /v1/credentials/current',
    'GET /v1/workspaces',
    'GET /v1/workspaces/current',
    'PUT /v1/workspaces/current',
  ]
  const isChoosing = ({ method, path }: Row) => choosing.includes(`${method} ${path}`)
  expect(
    await answersTo(
      closed.filter((row) => !isChoosing(row)),
      inTeam,
    ),
  ).toEqual(['403 membership_suspended'])
  expect(await refusals(service, closed.filter(isChoosing), inTeam, () => true)).toEqual([])
})

describe('while the workspace is stopped', () => {
  const held = () => [...effectivePermissions('admin', null)]
  const stopped = (row: Row) => row.stopped === '·'

  const expectStopped = async (credential: Credential, may: (row: Row) => boolean) => {
    const mine = writes.filter(may)
    expect(await answersTo(mine.filter(stopped), credential)).toEqual(['403 workspace_frozen'])
    expect(
      await refusals(
        service,
        mine.filter((row) => !stopped(row)),
        credential,
        () => true,
      ),
    ).toEqual([])
    expect(
      await refusals(
        service,
        closed.filter((row) => row.method === 'GET' && row.needs !== 'admin' && may(row)),
        credential,
        () => true,
      ),
    ).toEqual([])
  }

  test.each(['frozen by its members', 'suspended by an administrator', 'on the balance of its owner, who is frozen'])(
    '%s: only requests that stop something or return money are accepted',
    async (how) => {
      const other = await createTeam(service)
      const member = await join(service, other, 'admin')
      const key = await keyOf(member, held())
      if (how.startsWith('frozen')) await other.owner.api.post('/v1/workspaces/current/freeze')
      else if (how.startsWith('suspended')) await admin.api.post(`/v1/admin/workspaces/${other.id}/suspend`)
      else {
        await shareBalance(service, other.id)
        await admin.api.patch(`/v1/admin/accounts/${other.owner.accountId}`, { status: 'frozen' })
      }
      await expectStopped({ cookie: member.cookie }, (row) => row.admin === '●')
      await expectStopped({ bearer: key.key }, (row) => row.admin === '●' && row.key !== '·')
    },
  )

  test('a frozen account can write only what stops something or returns money, in its own workspaces and in others', async () => {
    const person = await join(service, team, 'admin')
    const key = await keyOf(person, held())
    await admin.api.patch(`/v1/admin/accounts/${person.accountId}`, { status: 'frozen' })
    const may = (row: Row) => row.admin === '●'
    for (const credential of [{ cookie: person.cookie }, { bearer: key.key }]) {
      const mine = writes.filter((row) => may(row) && ('cookie' in credential || row.key !== '·'))
      expect(
        await answersTo(
          mine.filter(({ frozen }) => frozen === '·'),
          credential,
        ),
      ).toEqual(['403 account_frozen'])
      expect(
        await refusals(
          service,
          mine.filter(({ frozen }) => frozen === '●'),
          credential,
          () => true,
        ),
      ).toEqual([])
    }
  })
})

test('what a frozen account may still do stops things and returns money, but lets no payment pass', async () => {
  await credit(service, team.id, 1_000_000n)
  const person = await join(service, team, 'admin')
  const beneficiary_id = await newBeneficiary(team.owner.api)
  const policy = await team.owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000' })
  const payment = await team.owner.api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' })
  await admin.api.patch(`/v1/admin/accounts/${person.accountId}`, { status: 'frozen' })
  const approval = `/v1/approvals/${payment.body.approval_id}/decide`
  const refused = await Promise.all([
    person.api.post(approval, { decision: 'approve' }),
    person.api.delete(`/v1/spending-policies/${policy.body.id}`),
    person.api.patch(`/v1/beneficiaries/${beneficiary_id}`, { display_name: 'Mine' }),
    person.api.post('/v1/workspaces/current/unfreeze'),
    person.api.delete(`/v1/workspaces/current/members/${await memberIdOf(team.owner, members.viewer.accountId)}`),
  ])
  expect(refused.map(({ status, body }) => `${status} ${body.error}`)).toEqual(Array(5).fill('403 account_frozen'))
  expect((await person.api.patch(`/v1/beneficiaries/${beneficiary_id}`, { status: 'frozen' })).status).toBe(200)
  expect((await person.api.patch(`/v1/beneficiaries/${beneficiary_id}`, { status: 'active' })).status).toBe(403)
  expect((await person.api.post(approval, { decision: 'reject' })).status).toBe(200)
})

test('a delegated credential stops payments to a beneficiary, and only a person restarts them', async () => {
  const key = await keyOf(members.owner)
  const beneficiary = `/v1/beneficiaries/${await newBeneficiary(key.api)}`
  expect((await key.api.patch(beneficiary, { status: 'frozen' })).status).toBe(200)
  expect((await key.api.patch(beneficiary, { status: 'active' })).status).toBe(403)
  expect((await members.owner.api.patch(beneficiary, { status: 'active' })).body.status).toBe('active')
})

test('a member who left can choose their own workspace, with all permissions there', async () => {
  const person = await join(service, team, 'viewer')
  const views = (await person.api.get('/v1/workspaces')).body.data
  await person.api.delete(`/v1/workspaces/current/members/${person.memberId}`)
  await standIn(person, views.find((view: { workspace: { kind: string } }) => view.workspace.kind === 'personal').workspace.id)
  expect(await refusals(service, closed, { cookie: person.cookie }, (row) => row.owner === '●')).toEqual([])
  await expect(standIn(person, team.id)).rejects.toThrow('no switch')
})
