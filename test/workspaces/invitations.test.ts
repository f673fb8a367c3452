import { expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { authorizeAgent } from '../harness/oauth.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { createTeam, invite, join } from './team.ts'

const administrator = newWallet()
const service = await openService({ env: { ADMIN_ACCOUNTS: administrator.address } })
const other = await openService({ database: service.database, clock: service.clock })

const invitations = '/v1/workspaces/current/invitations'
const accept = (person: Pick<Person, 'api'>, token: string) => person.api.post('/v1/workspaces/invitations/accept', { token })

/** Links a Google identity as its callback would: only the verified e-mail matters here. */
const giveEmail = async (person: Person, email: string, verified = true) => {
  await service.deps.db.query(
    `insert into identities (id, account_id, provider, issuer, subject, subject_key, email, email_verified, created_at)
     select gen_random_uuid(), account_id, 'google', 'https://accounts.google.com', $2, $2, $2, $3, now() from identities where subject = $1`,
    [person.wallet.address, email, verified],
  )
}

test('an invitation’s token is shown once, kept as a hash, and makes its bearer a member once', async () => {
  const team = await createTeam(service)
  const made = await team.owner.api.post(invitations, { role: 'approver' }, { key: 'invite' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({
    role: 'approver',
    email: null,
    wallet_address: null,
    status: 'pending',
    expires_at: '2026-03-11T09:00:00.000Z',
  })
  const replayed = await team.owner.api.post(invitations, { role: 'approver' }, { key: 'invite' })
  expect([replayed.body.id, replayed.body.token]).toEqual([made.body.id, undefined])
  const [stored] = await service.deps.db.query<{ row: string }>(
    `select i::text as row from invitations i where workspace_id = (select workspace_id from members order by id desc limit 1)`,
  )
  expect(stored?.row).not.toContain(made.body.token)
  const person = await signIn(service.api)
  const view = await accept(person, made.body.token)
  expect([view.status, view.body.workspace.id, view.body.membership]).toEqual([
    200,
    team.id,
    { role: 'approver', status: 'active' },
  ])
  expect((await accept(person, made.body.token)).text).toBe(view.text)
  const late = await accept(await signIn(service.api), made.body.token)
  expect([late.status, late.body.error, late.body.details.reason]).toEqual([409, 'conflict', 'invitation_accepted'])
  const list = await team.owner.api.get(invitations)
  expect(list.body.data).toMatchObject([{ id: made.body.id, status: 'accepted', accepted_by: person.accountId }])
  expect(list.text).not.toContain('token')
})

test('of many who accept one open invitation at once, one joins', async () => {
  const team = await createTeam(service)
  const token = await invite(team.owner, { role: 'viewer' })
  const people = await Promise.all(Array.from({ length: 6 }, () => signIn(service.api)))
  const answers = await Promise.all(
    people.map(({ cookie }, index) => accept({ api: (index % 2 ? service : other).api.as({ cookie }) }, token)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
  expect((await team.owner.api.get('/v1/workspaces/current/members')).body.data).toHaveLength(2)
})

test('an invitation to a wallet is for the account of that wallet only', async () => {
  const team = await createTeam(service)
  const wallet = newWallet()
  const token = await invite(team.owner, { role: 'member', wallet_address: wallet.address.toLowerCase() })
  const refused = await accept(await signIn(service.api), token)
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
  expect((await accept(await signIn(service.api, wallet), token)).status).toBe(200)
})

test('an invitation to an e-mail is for an account that proved that e-mail, in any letter case', async () => {
  const team = await createTeam(service)
  const token = await invite(team.owner, { role: 'member', email: 'Wanjiru@Example.com' })
  const [unproven, proven] = [await signIn(service.api), await signIn(service.api)]
  await giveEmail(unproven, 'wanjiru@example.COM', false)
  expect((await accept(unproven, token)).status).toBe(403)
  await giveEmail(proven, 'WANJIRU@example.com')
  expect((await accept(proven, token)).status).toBe(200)
})

test('an expired or revoked invitation and an unknown token add no member', async () => {
  const team = await createTeam(service)
  const person = await signIn(service.api)
  const expired = await invite(team.owner, { role: 'viewer' })
  service.clock.advance(7 * 86_400)
  const renewed = { ...team, owner: await signIn(service.api, team.owner.wallet) }
  await renewed.owner.api.patch('/v1/accounts/me', { display_name: 'Wanjiku Kamau' })
  const late = await signIn(service.api)
  const afterExpiry = await accept(late, expired)
  expect([afterExpiry.status, afterExpiry.body.details.reason]).toEqual([409, 'invitation_expired'])
  expect(afterExpiry.body.message).toBe('The invitation is expired. Ask Wanjiku Kamau for a new one.')
  await renewed.owner.api.put('/v1/workspaces/current', { workspace_id: team.id })
  const made = await renewed.owner.api.post(invitations, { role: 'viewer' })
  const path = `${invitations}/${made.body.id}`
  const revoked = await renewed.owner.api.delete(path)
  expect([revoked.status, revoked.body.status]).toEqual([200, 'revoked'])
  expect((await renewed.owner.api.delete(path)).text).toBe(revoked.text)
  const afterRevocation = await accept(late, made.body.token)
  expect([afterRevocation.status, afterRevocation.body.details.reason]).toEqual([409, 'invitation_revoked'])
  const unknown = await accept(late, `service_inv_${'0'.repeat(64)}`)
  expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found'])
  expect(person.accountId).not.toBe(late.accountId)
})

test('a member cannot be invited or join again, and a suspended member is not reactivated by an invitation', async () => {
  const team = await createTeam(service)
  const member = await join(service, team, 'viewer')
  const again = await team.owner.api.post(invitations, { role: 'admin', wallet_address: member.wallet.address })
  expect([again.status, again.body.details.reason]).toEqual([409, 'already_member'])
  const open = await invite(team.owner, { role: 'admin' })
  await team.owner.api.patch(`/v1/workspaces/current/members/${member.memberId}`, { status: 'suspended' })
  const back = await accept(await signIn(service.api, member.wallet), open)
  expect([back.status, back.body.details.reason]).toEqual([409, 'already_member'])
})

test('a removed member cannot come back by the invitation that they accepted, or by one that they made', async () => {
  const team = await createTeam(service)
  const admin = await signIn(service.api)
  const token = await invite(team.owner, { role: 'admin' })
  await accept(admin, token)
  await admin.api.put('/v1/workspaces/current', { workspace_id: team.id })
  const backDoor = await invite(admin, { role: 'viewer' })
  const { body } = await team.owner.api.get('/v1/workspaces/current/members')
  await team.owner.api.delete(`/v1/workspaces/current/members/${body.data[0].id}`)
  const elsewhere = await signIn(service.api, admin.wallet)
  expect((await accept(elsewhere, token)).status).toBe(409)
  expect((await accept(elsewhere, backDoor)).body.details.reason).toBe('invitation_revoked')
})

test('an account that is closed, by its person or by an administrator, leaves no invitation open', async () => {
  const team = await createTeam(service)
  const invited = async () => {
    const owner = await join(service, team, 'owner')
    return { owner, token: await invite(owner, { role: 'owner' }) }
  }
  const [byItself, byAdministrator] = [await invited(), await invited()]
  expect((await byItself.owner.api.delete('/v1/accounts/me')).status).toBe(200)
  const operator = await signIn(service.api, administrator)
  const path = `/v1/admin/accounts/${byAdministrator.owner.accountId}`
  expect((await operator.api.patch(path, { status: 'closed', reason: 'Left' })).status).toBe(200)
  const again = await signIn(service.api, byItself.owner.wallet)
  for (const { token } of [byItself, byAdministrator]) {
    const refused = await accept(again, token)
    expect([refused.status, refused.body.details.reason]).toEqual([409, 'invitation_revoked'])
  }
  // Invitations of others stay open.
  expect((await accept(again, await invite(team.owner, { role: 'viewer' }))).status).toBe(200)
})

test('an invitation of a frozen account makes nobody a member, until the account is active again', async () => {
  const team = await createTeam(service)
  const admin = await join(service, team, 'admin')
  const token = await invite(admin, { role: 'approver' })
  const operator = await signIn(service.api, administrator)
  const set = (status: string) => operator.api.patch(`/v1/admin/accounts/${admin.accountId}`, { status, reason: 'A call' })
  expect((await set('frozen')).status).toBe(200)
  const person = await signIn(service.api)
  for (const refused of [await accept(person, token), await person.api.post('/v1/workspaces/invitations/preview', { token })])
    expect([refused.status, refused.body.details.reason]).toEqual([409, 'invitation_revoked'])
  expect((await set('active')).status).toBe(200)
  expect((await accept(person, token)).status).toBe(200)
})

test('a frozen workspace accepts no members', async () => {
  const team = await createTeam(service)
  const token = await invite(team.owner, { role: 'viewer' })
  await team.owner.api.post('/v1/workspaces/current/freeze')
  const person = await signIn(service.api)
  const refused = await accept(person, token)
  expect([refused.status, refused.body.error]).toEqual([403, 'workspace_frozen'])
  await team.owner.api.post('/v1/workspaces/current/unfreeze')
  expect((await accept(person, token)).status).toBe(200)
})

test('an invitation has at most one addressee, which is an e-mail or a wallet', async () => {
  const { owner } = await createTeam(service)
  const wallet = newWallet().address
  for (const body of [
    {},
    { role: 'root' },
    { role: 'viewer', email: 'nobody' },
    { role: 'viewer', wallet_address: '0x12' },
    { role: 'viewer', email: 'a@b.example', wallet_address: wallet },
    { role: 'viewer', status: 'accepted' },
  ]) {
    expect((await owner.api.post(invitations, body)).status).toBe(400)
  }
})

test('in a day a workspace invites an e-mail at most three times, and creates at most 200 invitations, revoked ones included', async () => {
  const team = await createTeam(service)
  const send = (body: object, { owner } = team) => owner.api.post(invitations, { role: 'viewer', ...body })
  for (const email of ['Chao@Example.com', 'chao@example.com', 'CHAO@EXAMPLE.COM']) {
    const made = await send({ email })
    expect(made.status).toBe(201)
    expect((await team.owner.api.delete(`${invitations}/${made.body.id}`)).status).toBe(200)
  }
  const email = 'chao@example.com'
  const refused = await send({ email })
  expect([refused.status, refused.body.details.reason]).toEqual([409, 'limit_reached'])
  expect(refused.body.message).toContain('at most 3 times in 24 hours')
  expect((await send({ email: 'other@example.com' })).status).toBe(201)
  expect((await send({ email }, await createTeam(service))).status).toBe(201)
  const last = (await send({})).body.id
  await team.owner.api.delete(`${invitations}/${last}`)
  await service.deps.db.query(
    `insert into invitations select (jsonb_populate_record(i, jsonb_build_object(
       'id', gen_random_uuid(), 'token_hash', '\\x' || encode(sha256(n::text::bytea), 'hex')))).*
     from invitations i, generate_series(1, 195) as n where i.id = $1`,
    [parseId('invitation', last)],
  )
  const full = await send({})
  expect([full.status, full.body.details.reason]).toEqual([409, 'limit_reached'])
  service.clock.advance(86_400)
  expect([(await send({ email })).status, (await send({})).status]).toEqual([201, 201])
})

test('only members who manage the workspace can invite, and another workspace’s invitation is the same 404 as none', async () => {
  const [team, foreign] = [await createTeam(service), await createTeam(service)]
  const viewer = await join(service, team, 'viewer')
  const agent = await createKey(team.owner)
  const theirs = (await foreign.owner.api.post(invitations, { role: 'viewer' })).body.id
  for (const { api } of [viewer, agent]) {
    const refused = await Promise.all([
      api.post(invitations, { role: 'viewer' }),
      api.get(invitations),
      api.delete(`${invitations}/${theirs}`),
    ])
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
  }
  const strangers = await Promise.all([
    service.api.post(invitations, { role: 'viewer' }),
    service.api.get(invitations),
    service.api.delete(`${invitations}/${theirs}`),
    accept(service, 'service_inv_x'),
  ])
  expect(strangers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  const missing = await Promise.all(
    [theirs, 'inv_01h455vb4pex5vsknk084sn02q'].map((id) => team.owner.api.delete(`${invitations}/${id}`)),
  )
  expect(missing.map(({ status }) => status)).toEqual([404, 404])
  expect(new Set(missing.map(({ text }) => text.replace(/"request_id":"[^"]*"/, ''))).size).toBe(1)
})

test('no token of an invitation is in an event, an audit row or a log line', async () => {
  const team = await createTeam(service)
  const token = await invite(team.owner, { role: 'viewer' })
  await accept(await signIn(service.api), token)
  const [texts] = await service.deps.db.query<{ events: string; audit: string }>(
    `select (select string_agg(e::text, ' ') from events e) as events, (select string_agg(a::text, ' ') from audit_log a) as audit`,
  )
  for (const text of [texts?.events, texts?.audit, service.log.join(' ')]) expect(text).not.toContain(token.slice(-32))
})

test('an agent, a key and a token of a key can neither see an invitation nor accept it for their person', async () => {
  const team = await createTeam(service)
  const person = await signIn(service.api)
  const token = await invite(team.owner, { role: 'member' })
  const key = await createKey(person, { permissions: ['topup.read', 'account.read'] })
  const agent = await authorizeAgent(service.api, person)
  const minted = service.api.as({ bearer: (await key.api.post('/v1/auth/dashboard-tokens')).body.token })
  for (const api of [key.api, agent.api, minted])
    for (const act of ['accept', 'preview']) {
      const answer = await api.post(`/v1/workspaces/invitations/${act}`, { token })
      expect([act, answer.status, answer.body.error]).toEqual([act, 403, 'forbidden'])
    }
  expect((await accept(person, token)).status).toBe(200)
})

test('its addressee can see an invitation before accepting it, which changes nothing', async () => {
  const team = await createTeam(service, 'Books')
  await team.owner.api.patch('/v1/accounts/me', { display_name: 'Wanjiru' })
  const wallet = newWallet()
  const made = await team.owner.api.post(invitations, { role: 'approver', wallet_address: wallet.address })
  const person = await signIn(service.api, wallet)
  const preview = (by: Person, token: string = made.body.token) => by.api.post('/v1/workspaces/invitations/preview', { token })
  expect(await preview(person)).toMatchObject({
    status: 200,
    body: {
      workspace: { id: team.id, name: 'Books', kind: 'team' },
      role: 'approver',
      status: 'pending',
      invited_by: { account_id: team.owner.accountId, display_name: 'Wanjiru' },
      expires_at: made.body.expires_at,
    },
  })
  expect((await person.api.get('/v1/workspaces')).body.data).toHaveLength(1)
  expect((await preview(await signIn(service.api))).status).toBe(403)
  expect((await preview(person, `service_inv_${'0'.repeat(64)}`)).status).toBe(404)
  expect((await service.api.post('/v1/workspaces/invitations/preview', { token: made.body.token })).status).toBe(401)
  await team.owner.api.delete(`${invitations}/${made.body.id}`)
  expect((await preview(person)).body.details.reason).toBe('invitation_revoked')
})
