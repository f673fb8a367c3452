import { expect, test } from 'vitest'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { createTeam, invite, join, type Team } from '../workspaces/team.ts'

const service = await openService()
const other = await openService({ database: service.database, clock: service.clock })

/** An act in the workspace that every member may read. */
const renameTeam = (team: Team, name: string) => team.owner.api.patch('/v1/workspaces/current', { name })

test('a member receives the events of every workspace that it may read; other accounts receive none', async () => {
  const team = await createTeam(service)
  const viewer = await join(service, team, 'viewer')
  const stranger = await signIn(service.api)
  const [inside, outside] = [await openStream(viewer.api), await openStream(stranger.api)]
  await viewer.api.put('/v1/workspaces/current', { workspace_id: (await personalOf(viewer.api)) ?? '' })
  await renameTeam(team, 'Renamed')
  const event = await inside.next('workspace.updated')
  expect(event.data).toMatchObject({ workspace_id: team.id, data: { name: 'Renamed' } })
  await service.settle()
  expect(outside.seen).toEqual([])
  inside.close()
  outside.close()
})

const personalOf = async (api: Team['owner']['api']): Promise<string | undefined> =>
  (await api.get('/v1/workspaces')).body.data.find((view: { workspace: { kind: string } }) => view.workspace.kind === 'personal')
    ?.workspace.id

test('a delegated stream receives only its own workspace', async () => {
  const team = await createTeam(service)
  const inTeam = await createKey(team.owner)
  const home = (await personalOf(team.owner.api)) ?? ''
  const atHome = await createKey({ api: withWorkspace(team, home) })
  const [teamStream, homeStream] = [await openStream(inTeam.api), await openStream(atHome.api)]
  await renameTeam(team, 'Ours')
  await teamStream.next('workspace.updated')
  await withWorkspace(team, home).patch('/v1/workspaces/current', { name: 'Mine' })
  expect((await homeStream.next('workspace.updated')).data.workspace_id).toBe(home)
  expect(homeStream.seen.map((event) => event.data.workspace_id)).not.toContain(team.id)
  expect(teamStream.seen.map((event) => event.data.workspace_id)).not.toContain(home)
  teamStream.close()
  homeStream.close()
})

/** The owner's own client, in another workspace for each of its calls. */
const withWorkspace = (team: Team, workspaceId: string): Team['owner']['api'] => {
  const { api } = team.owner
  const headers = { 'workspace-id': workspaceId }
  return {
    ...api,
    post: (path, body, options) => api.post(path, body, { ...options, headers }),
    patch: (path, body, options) => api.patch(path, body, { ...options, headers }),
  }
}

test("a new member receives the workspace's events on a stream that is already open", async () => {
  const team = await createTeam(service)
  const person = await signIn(service.api)
  const stream = await openStream(other.api.as({ cookie: person.cookie }))
  const token = await invite(team.owner, { role: 'viewer' })
  await person.api.post('/v1/workspaces/invitations/accept', { token })
  await renameTeam(team, 'Welcome')
  expect((await stream.next('workspace.updated')).data.data.name).toBe('Welcome')
  expect(stream.seen.map((event) => event.type)).not.toContain('member.invited')
  stream.close()
})

test.each([
  [
    'suspended',
    (team: Team, id: string) => team.owner.api.patch(`/v1/workspaces/current/members/${id}`, { status: 'suspended' }),
  ],
  ['removed', (team: Team, id: string) => team.owner.api.delete(`/v1/workspaces/current/members/${id}`)],
])(
  'the streams of a member who is %s end, those of its keys too, and nothing later of the workspace reaches it',
  async (_what, act) => {
    const team = await createTeam(service)
    const member = await join(service, team, 'member')
    const key = await createKey(member)
    const streams = [
      await openStream(other.api.as({ cookie: member.cookie })),
      await openStream(other.api.as({ bearer: key.key })),
    ]
    expect((await act(team, member.memberId)).status).toBe(200)
    await renameTeam(team, 'Secret')
    for (const stream of streams) await stream.ended()
    expect(streams.map((stream) => stream.text()).join()).not.toContain('Secret')
    // The session itself must choose another workspace first; a new one begins elsewhere.
    const again = await openStream((await signIn(service.api, member.wallet)).api)
    await renameTeam(team, 'Secret still')
    await signIn(service.api, member.wallet)
    await again.next('session.created')
    expect(again.text()).not.toContain('Secret')
    again.close()
  },
)

test('a lowered role leaves the stream open, with what the new role may read', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'admin')
  const stream = await openStream(other.api.as({ cookie: member.cookie }))
  await team.owner.api.patch(`/v1/workspaces/current/members/${member.memberId}`, { role: 'viewer' })
  expect((await stream.next('member.updated')).data.data).toMatchObject({ account_id: member.accountId, role: 'viewer' })
  await renameTeam(team, 'Still ours')
  await stream.next('workspace.updated')
  stream.close()
})

test('what belongs to one member is not sent to the others, although they read the workspace', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'admin')
  const stream = await openStream(member.api)
  await createKey(team.owner)
  await renameTeam(team, 'After')
  await stream.next('workspace.updated')
  expect(stream.seen.map((event) => event.type)).toEqual(['workspace.updated'])
  stream.close()
})

test('an invitation is sent to those who may invite, and to no others', async () => {
  const team = await createTeam(service)
  const [viewer, admin] = [await join(service, team, 'viewer'), await join(service, team, 'admin')]
  const [viewers, admins] = [await openStream(viewer.api), await openStream(admin.api)]
  await team.owner.api.post('/v1/workspaces/current/invitations', { role: 'viewer', email: 'guest@example.com' })
  await renameTeam(team, 'After')
  await admins.next('member.invited')
  await viewers.next('workspace.updated')
  expect(viewers.text()).not.toContain('guest@example.com')
  await service.settle()
  expect((await viewer.api.get('/v1/notifications')).text).not.toContain('guest@example.com')
  viewers.close()
  admins.close()
})
