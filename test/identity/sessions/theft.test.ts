import { expect, test } from 'vitest'
import { addPasskey } from '../../harness/authenticator.ts'
import type { Client, Json } from '../../harness/client.ts'
import { credit, newBeneficiary } from '../../harness/money.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../../harness/people.ts'
import { sentDuring } from '../../harness/sent.ts'
import { openService } from '../../harness/service.ts'
import { findBreaches } from '../../harness/verify.ts'
import { createTeam, join, standIn } from '../../workspaces/team.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const site = service.deps.config.publicUrl
const raw = ({ cookie }: Pick<Person, 'cookie'>): Client => service.api.as({ cookie })
const link = async (api: Client, wallet = newWallet()) => {
  const message = await walletMessage(api, wallet)
  const body = { provider: 'wallet', message, signature: await wallet.signMessage({ message }) }
  const { status, text, body: identity } = await api.post('/v1/accounts/me/identities', body)
  if (status !== 201) throw new Error(text)
  return { wallet, id: identity.id as string }
}
const current = async (api: Client): Promise<string> =>
  (await api.get('/v1/accounts/me/sessions')).body.data.find((session: Json) => session.current).id
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id).toSorted()
const list = async (api: Client, path: string) => (await api.get(`${path}?limit=100`)).body.data

/** A session that was copied within ten minutes of its sign-in, and used for every lasting change. */
const steal = async () => {
  const team = await createTeam(service)
  const { owner } = team
  await join(service, team, 'approver')
  await credit(service, team.id, 10_000_000n)
  const rule = { name: 'Two sign', approval_threshold_minor: '1', required_approval_count: 2, approval_proof: 'signature' }
  await owner.api.post('/v1/spending-policies', rule)
  const thief = raw(owner)
  const stolen = await current(thief)
  const all = [
    'account.read',
    'account.manage',
    'key.manage',
    'payment.create',
    'payment.read',
    'workspace.read',
    'beneficiary.read',
  ]
  const second = await link(thief)
  const { authenticator, passkey } = await addPasskey(thief, site)
  const key = await createKey({ api: thief }, { permissions: all })
  const child = await createKey(key, {})
  const byKey = await link(key.api)
  const open = (await thief.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
  const used = (await thief.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
  const accomplice = await signIn(service.api)
  expect((await accomplice.api.post('/v1/workspaces/invitations/accept', { token: used.token })).status).toBe(200)
  // The second wallet adds a third, which then removes the trace between them.
  const later = await signIn(service.api, second.wallet)
  await standIn(later, team.id)
  const third = await link(raw(later))
  const last = await signIn(service.api, third.wallet)
  await standIn(last, team.id)
  const another = await addPasskey(raw(last), site)
  const deep = await createKey({ api: raw(last) }, {})
  expect((await raw(last).delete(`/v1/accounts/me/identities/${second.id}`)).status).toBe(200)
  const beneficiary_id = await newBeneficiary(owner.api)
  const payment = await thief.post('/v1/payments', { beneficiary_id, amount_minor: '4000000' })
  const approval = `/v1/approvals/${payment.body.approval_id}`
  const message = (await thief.get(`${approval}/message?decision=approve`)).body.message
  const approved = await thief.post(`${approval}/decide`, { decision: 'approve', passkey: authenticator.sign(message) })
  expect([approved.status, approved.text]).toEqual([200, expect.anything()])
  const people = { owner, thief, accomplice, last }
  return { ...people, team, stolen, passkey, another, key, child, deep, byKey, third, open, used, approval, beneficiary_id }
}

test('of a stolen session, or a stolen wallet, nothing stays: what it added is listed, and ends with it', async () => {
  const scene = await steal()
  const { owner, thief, accomplice, last, key, child, deep, byKey, third, approval } = scene
  service.clock.advance(3600)
  const back = await signIn(service.api, owner.wallet)
  await standIn(back, scene.team.id)
  const path = `/v1/accounts/me/sessions/${scene.stolen}`
  // Ending the session alone keeps all of it, and says so.
  const listed = await back.api.delete(path)
  expect(listed.status).toBe(200)
  const { began_here: began } = listed.body
  expect(idsOf(began.identities)).toEqual([third.id, byKey.id].toSorted())
  expect(idsOf(began.passkeys)).toEqual([scene.passkey.id, scene.another.passkey.id].toSorted())
  expect(idsOf(began.api_keys)).toEqual([key.id, child.id, deep.id].toSorted())
  expect(idsOf(began.grants)).toEqual([key.grantId, child.grantId, deep.grantId].toSorted())
  // The third is the owner's own, from before the theft: the owner must judge the list.
  expect(idsOf(began.invitations)).toEqual(expect.arrayContaining([scene.open.id, scene.used.id]))
  expect(began.invitations).toHaveLength(3)
  expect(began.invitations.find(({ id }: Json) => id === scene.used.id)).toMatchObject({
    status: 'accepted',
    accepted_by: accomplice.accountId,
  })
  expect((await thief.get('/v1/accounts/me')).status).toBe(401)
  expect((await key.api.get('/v1/accounts/me')).status).toBe(200)
  expect((await raw(last).get('/v1/accounts/me')).status).toBe(200)

  const ended = await back.api.delete(`${path}?end=everything`)
  expect([ended.status, ended.body.began_here.api_keys.map(({ status }: Json) => status)]).toEqual([
    200,
    ['revoked', 'revoked', 'revoked'],
  ])
  expect(idsOf(ended.body.began_here.identities)).toEqual([third.id, byKey.id].toSorted())
  // None of the stolen records pays, approves or signs in.
  for (const one of [key, child, deep]) expect((await one.api.get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  expect((await raw(last).get('/v1/accounts/me')).body.error).toBe('session_revoked')
  for (const { wallet } of [third, byKey]) expect((await signIn(service.api, wallet)).accountId).not.toBe(owner.accountId)
  expect(await list(back.api, '/v1/accounts/me/passkeys')).toEqual([])
  const [own, ...others] = await list(back.api, '/v1/accounts/me/identities')
  expect([own.subject, others]).toEqual([owner.wallet.address, []])
  const late = await (await signIn(service.api)).api.post('/v1/workspaces/invitations/accept', { token: scene.open.token })
  expect([late.status, late.body.details.reason]).toEqual([409, 'invitation_revoked'])
  const { status, decisions } = (await back.api.get(approval)).body
  expect([status, decisions.length, decisions.filter((one: Json) => one.voided_at === null)]).toEqual(['pending', 1, []])
  // The owner's session, and its sign-in method, were spared. A second time nothing is left to end.
  expect((await back.api.get('/v1/accounts/me')).body.id).toBe(owner.accountId)
  const again = await back.api.delete(`${path}?end=everything`)
  expect([again.status, again.body.began_here.api_keys, again.body.began_here.identities]).toEqual([200, [], []])
  await service.settle()
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
})

test('unlinking a stolen wallet ends what its sessions added; where no way to sign in would be left, nothing is done', async () => {
  const owner = await signIn(service.api)
  const stolen = await link(owner.api)
  const thief = await signIn(service.api, stolen.wallet)
  const own = await link(raw(thief))
  const made = await createKey({ api: raw(thief) })
  const listed = await owner.api.delete(`/v1/accounts/me/identities/${stolen.id}?end=everything`)
  expect([listed.status, idsOf(listed.body.began_here.identities), idsOf(listed.body.began_here.api_keys)]).toEqual([
    200,
    [own.id],
    [made.id],
  ])
  expect([(await made.api.get('/v1/accounts/me')).status, (await raw(thief).get('/v1/accounts/me')).status]).toEqual([401, 401])

  const other = await signIn(service.api)
  const first = (await list(other.api, '/v1/accounts/me/identities'))[0]
  const elsewhere = await signIn(service.api, other.wallet)
  await link(elsewhere.api)
  const key = await createKey(elsewhere)
  const refused = await other.api.delete(`/v1/accounts/me/identities/${first.id}?end=everything`)
  expect([refused.status, refused.body.error]).toEqual([409, 'last_identity'])
  expect((await key.api.get('/v1/accounts/me')).status).toBe(200)
  expect(await list(other.api, '/v1/accounts/me/identities')).toHaveLength(2)
})

test('the people, roles, workspaces, wider grants and looser policies of a stolen session are listed, undone, or left to a person', async () => {
  const team = await createTeam(service)
  const { owner } = team
  const [raised, bystander] = [await join(service, team, 'viewer'), await join(service, team, 'member')]
  const limited = { spending_controls: { daily_limit_minor: '5000' } }
  const [wider, thawed, manager] = [
    await createKey(owner, limited),
    await createKey(owner),
    await createKey(owner, { permissions: ['policy.manage', 'policy.read'] }),
  ]
  await owner.api.patch(`/v1/accounts/me/grants/${thawed.grantId}`, { frozen: true })
  const policyOf = async (name: string) =>
    (await owner.api.post('/v1/spending-policies', { name, daily_limit_minor: '5000' })).body.id as string
  const [looser, archived, byKey, kept] = [await policyOf('A'), await policyOf('B'), await policyOf('C'), await policyOf('D')]
  // The theft.
  const thief = raw(await signIn(service.api, owner.wallet))
  await thief.put('/v1/workspaces/current', { workspace_id: team.id })
  const stolen = await current(thief)
  const invite = async (api: Client, role: string) => {
    const { token } = (await api.post('/v1/workspaces/current/invitations', { role })).body
    const guest = await signIn(service.api)
    expect((await guest.api.post('/v1/workspaces/invitations/accept', { token })).status).toBe(200)
    await standIn(guest, team.id)
    return guest
  }
  const accomplice = await invite(thief, 'admin')
  const further = await invite(accomplice.api, 'approver')
  const member = `/v1/workspaces/current/members/${raised.memberId}`
  expect((await thief.patch(member, { role: 'approver' })).status).toBe(200)
  const made = (await thief.post('/v1/workspaces', { name: 'Elsewhere' })).body.workspace
  await thief.patch(`/v1/accounts/me/api-keys/${wider.id}`, { spending_controls: { daily_limit_minor: '900000' } })
  expect((await thief.patch(`/v1/accounts/me/grants/${thawed.grantId}`, { frozen: false })).status).toBe(200)
  expect((await thief.patch(`/v1/spending-policies/${looser}`, { version: 1, daily_limit_minor: null })).status).toBe(200)
  expect((await thief.delete(`/v1/spending-policies/${archived}`)).status).toBe(200)
  const planted = await createKey({ api: thief }, { permissions: ['policy.manage', 'policy.read'] })
  expect((await planted.api.patch(`/v1/spending-policies/${byKey}`, { version: 1, daily_limit_minor: '6000' })).status).toBe(200)
  // Excludes acts of others, and of the owner elsewhere.
  expect((await manager.api.patch(`/v1/spending-policies/${kept}`, { version: 1, daily_limit_minor: '6000' })).status).toBe(200)

  service.clock.advance(3600)
  const path = `/v1/accounts/me/sessions/${stolen}`
  const { began_here: began } = (await owner.api.delete(path)).body
  const accounts = (rows: Json[]) => rows.map((row) => [row.account_id, row.status, row.role])
  expect(accounts(began.members).toSorted()).toEqual(
    [
      [accomplice.accountId, 'active', 'admin'],
      [further.accountId, 'active', 'approver'],
    ].toSorted(),
  )
  expect(began.roles).toMatchObject([{ id: raised.memberId, role: 'approver', role_before: 'viewer', status_before: 'active' }])
  expect(began.workspaces).toMatchObject([{ id: made.id, status: 'active' }])
  expect(idsOf(began.widened)).toEqual([wider.grantId, thawed.grantId].toSorted())
  expect(idsOf(began.loosened)).toEqual([looser, archived, byKey].toSorted())

  const ended = await owner.api.delete(`${path}?end=everything`)
  const { began_here: now } = ended.body
  expect([ended.status, now.members.map(({ status }: Json) => status)]).toEqual([200, ['suspended', 'suspended']])
  expect([now.roles[0].role, now.workspaces[0].status]).toEqual(['viewer', 'frozen'])
  expect(now.widened.map(({ frozen }: Json) => frozen)).toEqual([true, true])
  for (const { api } of [accomplice, further]) expect((await api.get('/v1/payments')).body.error).toBe('membership_suspended')
  for (const { id, undo } of began.loosened) {
    const answer = await owner.api.call(undo.method, undo.path, { body: undo.body })
    expect([id, answer.status, answer.body.daily_limit_minor]).toEqual([id, id === archived ? 201 : 200, '5000'])
  }
  const roles = (await list(owner.api, '/v1/workspaces/current/members')).map((row: Json) => [
    row.account_id,
    row.role,
    row.status,
  ])
  expect(roles).toContainEqual([bystander.accountId, 'member', 'active'])
  expect(roles).toContainEqual([raised.accountId, 'viewer', 'active'])
  const again = (await owner.api.delete(`${path}?end=everything`)).body.began_here
  expect([again.members, again.roles, again.workspaces, again.widened, again.loosened.length]).toEqual([[], [], [], [], 1])
  await service.settle()
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
  // Acts that nobody can end any more are forgotten with the sessions.
  const sweepAfter = async (days: number) => {
    service.clock.advance(days * 86_400)
    await service.deps.jobs.sweep()
    return (await service.deps.db.query('select from session_acts')).length
  }
  expect([(await sweepAfter(25)) > 5, await sweepAfter(40)]).toEqual([true, 0])
})

test('a role that a stolen session raised is lowered, however many steps it took and whoever took the last one', async () => {
  const team = await createTeam(service)
  const { owner } = team
  const thief = raw(await signIn(service.api, owner.wallet))
  await thief.put('/v1/workspaces/current', { workspace_id: team.id })
  const stolen = await current(thief)
  const [twice, byAccomplice, restored] = [
    await join(service, team, 'viewer'),
    await join(service, team, 'viewer'),
    await join(service, team, 'viewer'),
  ]
  const member = (one: { memberId: string }) => `/v1/workspaces/current/members/${one.memberId}`
  for (const one of [twice, byAccomplice, restored]) expect((await thief.patch(member(one), { role: 'admin' })).status).toBe(200)
  expect((await thief.patch(member(twice), { role: 'approver' })).status).toBe(200)
  const { token } = (await thief.post('/v1/workspaces/current/invitations', { role: 'admin' })).body
  const accomplice = await signIn(service.api)
  await accomplice.api.post('/v1/workspaces/invitations/accept', { token })
  await standIn(accomplice, team.id)
  expect((await accomplice.api.patch(member(byAccomplice), { role: 'approver' })).status).toBe(200)
  expect((await owner.api.patch(member(restored), { role: 'viewer' })).status).toBe(200)
  const ended = await owner.api.delete(`/v1/accounts/me/sessions/${stolen}?end=everything`)
  const { roles } = ended.body.began_here
  expect([ended.status, idsOf(roles)]).toEqual([200, [twice.memberId, byAccomplice.memberId].toSorted()])
  for (const one of roles) expect(one).toMatchObject({ role: 'viewer', role_before: 'viewer', status_before: 'active' })
})

test('who no longer manages a workspace undoes nothing in it, and sees what is left to a person', async () => {
  const team = await createTeam(service)
  const admin = await join(service, team, 'admin')
  const thief = raw(await signIn(service.api, admin.wallet))
  await thief.put('/v1/workspaces/current', { workspace_id: team.id })
  const { token } = (await thief.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
  const guest = await signIn(service.api)
  await guest.api.post('/v1/workspaces/invitations/accept', { token })
  const stolen = await current(thief)
  await team.owner.api.patch(`/v1/workspaces/current/members/${admin.memberId}`, { role: 'viewer' })
  const ended = await admin.api.delete(`/v1/accounts/me/sessions/${stolen}?end=everything`)
  expect([ended.status, ended.body.began_here.members]).toMatchObject([200, [{ account_id: guest.accountId, status: 'active' }]])
})

test('who was removed from a workspace, or no longer manages it, is shown nothing of it that they may not read, and ends none of it', async () => {
  const team = await createTeam(service)
  const { owner } = team
  const admin = await join(service, team, 'admin')
  const [raised, colleague] = [await join(service, team, 'viewer'), await join(service, team, 'member')]
  const { grantId } = await createKey(colleague)
  const policy = (await owner.api.post('/v1/spending-policies', { name: 'Day', daily_limit_minor: '5000' })).body.id
  await owner.api.patch(`/v1/workspaces/current/grants/${grantId}`, { frozen: true })
  // The theft.
  const thief = raw(await signIn(service.api, admin.wallet))
  await thief.put('/v1/workspaces/current', { workspace_id: team.id })
  const stolen = await current(thief)
  const { token } = (await thief.post('/v1/workspaces/current/invitations', { role: 'admin' })).body
  const guest = await signIn(service.api)
  await guest.api.post('/v1/workspaces/invitations/accept', { token })
  await standIn(guest, team.id)
  const later = (await guest.api.post('/v1/workspaces/current/invitations', { role: 'viewer', email: 'late@example.com' })).body
  expect((await thief.patch(`/v1/workspaces/current/members/${raised.memberId}`, { role: 'approver' })).status).toBe(200)
  expect((await thief.patch(`/v1/workspaces/current/grants/${grantId}`, { frozen: false })).status).toBe(200)
  expect((await thief.patch(`/v1/spending-policies/${policy}`, { version: 1, daily_limit_minor: null })).status).toBe(200)
  const made = (await thief.post('/v1/workspaces', { name: 'Elsewhere' })).body.workspace
  const path = `/v1/accounts/me/sessions/${stolen}`
  const shown = async (query = '') => {
    const { status, body } = await admin.api.delete(path + query)
    expect(status).toBe(200)
    const kinds = ['invitations', 'members', 'roles', 'widened', 'loosened', 'workspaces']
    return Object.fromEntries(kinds.map((kind) => [kind, idsOf(body.began_here[kind])]))
  }
  const people = (await list(owner.api, '/v1/workspaces/current/members')) as Json[]
  const guestId = people.find(({ account_id }) => account_id === guest.accountId).id
  const read = { members: [guestId], roles: [raised.memberId], loosened: [policy], workspaces: [made.id] }
  const all = await shown()
  expect(all).toMatchObject({ ...read, widened: [grantId], invitations: expect.arrayContaining([later.id]) })
  await owner.api.patch(`/v1/workspaces/current/members/${admin.memberId}`, { role: 'viewer' })
  expect(await shown()).toEqual({ ...read, widened: [], invitations: [] })
  await owner.api.delete(`/v1/workspaces/current/members/${admin.memberId}`)
  await standIn(admin, made.id)
  const left = { members: [], roles: [], loosened: [], workspaces: [made.id], widened: [], invitations: [] }
  expect([await shown(), await shown('?end=everything')]).toEqual([left, left])
  const invitations = await list(owner.api, '/v1/workspaces/current/invitations')
  expect(invitations.find(({ id }: Json) => id === later.id)).toMatchObject({ status: 'pending' })
})

test('four hundred keys end with the session that made them in a few queries', async () => {
  const owner = await signIn(service.api)
  const thief = raw(await signIn(service.api, owner.wallet))
  for (let round = 0; round < 4; round += 1) {
    const root = await createKey({ api: thief })
    await Promise.all(Array.from({ length: 99 }, () => createKey(root, {})))
  }
  const path = `/v1/accounts/me/sessions/${await current(thief)}?end=everything`
  const { statements } = await sentDuring(async () => {
    const ended = await owner.api.delete(path)
    expect([ended.status, ended.body.began_here.api_keys.length]).toEqual([200, 100])
  })
  expect(statements.length).toBeLessThan(100)
  expect((await list(owner.api, '/v1/accounts/me/api-keys')).filter(({ status }: Json) => status === 'active')).toEqual([])
})

test('a key is told nothing of what others added, and ends nothing of it', async () => {
  const owner = await signIn(service.api)
  const session = await current(owner.api)
  const key = await createKey(owner, { permissions: ['account.read', 'account.manage'] })
  const path = `/v1/accounts/me/sessions/${session}`
  expect(await key.api.delete(`${path}?end=everything`)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  expect(await key.api.delete(path)).toMatchObject({ status: 200, body: { began_here: null } })
  expect(await owner.api.delete(`${path}?end=nothing`)).toMatchObject({ status: 401 })
})
