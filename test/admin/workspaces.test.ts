import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { createTeam, join } from '../workspaces/team.ts'
import { startAdministered } from './administrators.ts'

let service: TestService
let admin: Person
beforeAll(async () => {
  ;({ service, admin } = await startAdministered())
})
afterAll(() => service.close())

const at = (id: string, act: string) => `/v1/admin/workspaces/${id}/${act}`

test('a suspended workspace refuses every write, and its owners cannot release it', async () => {
  const team = await createTeam(service)
  const answer = await admin.api.post(at(team.id, 'suspend'), { reason: 'a court order' })
  expect([answer.status, answer.body.id, answer.body.status]).toEqual([200, team.id, 'frozen'])
  const refused = await Promise.all([
    team.owner.api.patch('/v1/workspaces/current', { name: 'Other' }),
    team.owner.api.post('/v1/workspaces/current/invitations', { role: 'viewer' }),
    team.owner.api.post('/v1/workspaces/current/unfreeze'),
    team.owner.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }),
  ])
  expect(refused.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([403, 'workspace_frozen']))
  expect((await team.owner.api.get('/v1/workspaces/current')).body.workspace.status).toBe('frozen')
})

test('a reinstated workspace works again; one that its members had frozen stays frozen', async () => {
  const [open, stopped] = [await createTeam(service), await createTeam(service)]
  await stopped.owner.api.post('/v1/workspaces/current/freeze')
  for (const team of [open, stopped]) {
    expect((await admin.api.post(at(team.id, 'suspend'))).status).toBe(200)
    expect((await admin.api.post(at(team.id, 'suspend'))).status).toBe(200)
  }
  expect((await admin.api.post(at(open.id, 'reinstate'))).body.status).toBe('active')
  expect((await admin.api.post(at(stopped.id, 'reinstate'))).body.status).toBe('frozen')
  expect((await open.owner.api.patch('/v1/workspaces/current', { name: 'Other' })).status).toBe(200)
  expect((await stopped.owner.api.post('/v1/workspaces/current/unfreeze')).body.workspace.status).toBe('active')
  const events = await service.deps.db.query<{ type: string }>(
    `select type from events where data->>'id' = $1 order by transaction, id`,
    [stopped.id],
  )
  // After two freezes and two releases, the first freeze and the last release are published.
  expect(events.map(({ type }) => type)).toEqual(['workspace.updated', 'workspace.frozen', 'workspace.unfrozen'])
})

test('an administrator does not reinstate a workspace that they belong to', async () => {
  const own = (await admin.api.get('/v1/workspaces/current')).body.workspace
  expect((await admin.api.post(at(own.id, 'suspend'))).status).toBe(200)
  const { status, body } = await admin.api.post(at(own.id, 'reinstate'))
  expect([status, body.error]).toEqual([403, 'separation_of_duties'])
  expect((await admin.api.get('/v1/workspaces/current')).body.workspace.status).toBe('frozen')
})

test('only an administrator suspends, and a workspace that is not there is a 404', async () => {
  const team = await createTeam(service)
  const owner = await join(service, team, 'owner')
  for (const act of ['suspend', 'reinstate']) {
    expect((await service.api.post(at(team.id, act))).status).toBe(401)
    const refused = await owner.api.post(at(team.id, act))
    expect([refused.status, refused.body.error]).toEqual([403, 'admin_required'])
    for (const id of ['wsp_01h455vb4pex5vsknk084sn02q', 'nonsense']) expect((await admin.api.post(at(id, act))).status).toBe(404)
  }
})
