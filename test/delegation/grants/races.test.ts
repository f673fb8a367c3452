import { expect, test } from 'vitest'
import { parseId } from '../../../src/lib/ids.ts'
import type { Json } from '../../harness/client.ts'
import { waitingForLock } from '../../harness/lock-waits.ts'
import { decide, newPkce, redeemCode, registerClient, requestConsent } from '../../harness/oauth.ts'
import { createKey, type Key, newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { openService, type TestService } from '../../harness/service.ts'
import { findBreaches } from '../../harness/verify.ts'
import { createTeam, invite, join, memberIdOf, type Team, type Teammate } from '../../workspaces/team.ts'

/** Two processes on one database prove that the database enforces this, not one process. */
const first = await openService()
const second = await openService({ database: first.database, clock: first.clock })
const person = await signIn(first.api)

const keys = '/v1/accounts/me/api-keys'
const through = (service: TestService, credential: { bearer: string } | { cookie: string }) => service.api.as(credential)
const byPerson = (service: TestService) => through(service, { cookie: person.cookie })
const byKey = (service: TestService, key: Key) => through(service, { bearer: key.key })
const alternate = (index: number) => (index % 2 === 0 ? first : second)
const orphans = async () =>
  first.deps.db.query(
    'select c.id from grants c where c.revoked_at is null and exists (select from grants a where a.id = any(c.ancestor_ids) and a.revoked_at is not null)',
  )

/** Waits until a statement of another connection waits for the given lock. */
const isWaiting = (where: string) =>
  expect.poll(() => first.deps.db.query(`select from ${waitingForLock} and ${where}`)).toHaveLength(1)

const rejoin = async (team: Team, member: Teammate): Promise<string> => {
  const personal = await member.api.get('/v1/workspaces')
  const own = personal.body.data.find(({ workspace }: Json) => workspace.kind === 'personal').workspace.id
  await member.api.put('/v1/workspaces/current', { workspace_id: own })
  await member.api.post('/v1/workspaces/invitations/accept', { token: await invite(team.owner, { role: 'admin' }) })
  await member.api.put('/v1/workspaces/current', { workspace_id: team.id })
  return memberIdOf(team.owner, member.accountId)
}

test('no child outlives its parent, in either order of creation and revocation', async () => {
  let adopted = 0
  for (let round = 0; round < 12; round += 1) {
    const root = await createKey(person)
    const parent = await createKey(root)
    const victim = round % 2 === 0 ? parent : root
    const children = Array.from({ length: 6 }, (_, index) => byKey(alternate(index), parent).post(keys, { name: 'Child' }))
    const [answers, revoked] = await Promise.all([
      Promise.all(children),
      byPerson(alternate(round)).delete(`${keys}/${victim.id}`),
    ])
    expect(revoked.status).toBe(200)
    for (const answer of answers) {
      if (answer.status === 201) {
        adopted += 1
        const use = await first.api.get('/v1/accounts/me', { bearer: answer.body.key })
        expect([use.status, use.body.error]).toEqual([401, 'api_key_revoked'])
      } else expect([answer.status, answer.body.error]).toEqual([401, 'api_key_revoked'])
    }
  }
  expect(await orphans()).toEqual([])
  expect(adopted).toBeGreaterThan(0)
})

test('of two concurrent rotations one creates a key, and exactly one key of the grant stays active', async () => {
  for (let round = 0; round < 6; round += 1) {
    const key = await createKey(person)
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) => byPerson(alternate(index)).post(`${keys}/${key.id}/rotate`)),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409])
    const live = await first.deps.db.query(
      'select k.id from api_keys k where k.revoked_at is null and k.grant_id = (select subject_id from audit_log where action = $1 order by transaction desc, id desc limit 1)',
      ['grant.create'],
    )
    expect(live).toHaveLength(1)
  }
})

test('two concurrent revocations have one effect: the same answer, one event, one audit row each', async () => {
  for (let round = 0; round < 6; round += 1) {
    const key = await createKey(person)
    const answers = await Promise.all([
      byPerson(first).delete(`${keys}/${key.id}`),
      byPerson(second).delete(`${keys}/${key.id}`),
      byPerson(first).delete(`/v1/accounts/me/grants/${key.grantId}`),
      byKey(second, key).delete(`${keys}/${key.id}`),
    ])
    expect(answers.slice(0, 3).map((answer) => answer.status)).toEqual([200, 200, 200])
    expect(answers[0]?.text).toBe(answers[1]?.text)
    const events = await first.deps.db.query<{ type: string }>(
      "select type from events where type like '%.revoked' and data->>'id' = any($1) order by type",
      [[key.id, key.grantId]],
    )
    expect(events.map(({ type }) => type)).toEqual(['api_key.revoked', 'grant.revoked'])
  }
})

test('a rotation and a revocation at once leave no key alive', async () => {
  for (let round = 0; round < 6; round += 1) {
    const key = await createKey(person)
    const [rotated] = await Promise.all([
      byPerson(first).post(`${keys}/${key.id}/rotate`, { overlap_seconds: 600 }),
      byPerson(second).delete(`/v1/accounts/me/grants/${key.grantId}`),
    ])
    expect([201, 409]).toContain(rotated.status)
    for (const bearer of [key.key, rotated.body.key].filter((text) => text !== undefined)) {
      expect((await first.api.get('/v1/accounts/me', { bearer })).body.error).toBe('api_key_revoked')
    }
  }
})

test('a key that is used and revoked at once is accepted or refused, never an error', async () => {
  for (let round = 0; round < 6; round += 1) {
    const key = await createKey(person)
    const uses = Array.from({ length: 8 }, (_, index) => byKey(alternate(index), key).get('/v1/accounts/me'))
    const [answers] = await Promise.all([Promise.all(uses), byPerson(first).delete(`${keys}/${key.id}`)])
    for (const answer of answers) expect([200, 401]).toContain(answer.status)
    expect((await byKey(second, key).get('/v1/accounts/me')).body.error).toBe('api_key_revoked')
  }
})

test('two processes that sweep at once end a grant once', async () => {
  const ends = new Date(first.clock.now().getTime() + 60_000).toISOString()
  const made = await Promise.all(Array.from({ length: 5 }, () => createKey(person, { expires_at: ends })))
  first.clock.advance(60)
  await Promise.all([first.deps.jobs.sweep(), second.deps.jobs.sweep()])
  const events = await first.deps.db.query("select id from events where type = 'grant.revoked' and data->>'id' = any($1)", [
    made.map(({ grantId }) => grantId),
  ])
  expect(events).toHaveLength(5)
})

test('a grant whose end is moved while the sweep waits for it stays active', async () => {
  const ends = new Date(first.clock.now().getTime() + 60_000)
  const key = await createKey(person, { expires_at: ends.toISOString() })
  const grant = parseId('grant', key.grantId)
  first.clock.advance(60)
  const sweep = await first.deps.db.transaction(async (tx) => {
    await tx.query('update grants set expires_at = $2 where id = $1', [grant, new Date(ends.getTime() + 60_000)])
    const waiting = second.deps.jobs.sweep()
    await isWaiting("query like '%grants%'")
    return { waiting }
  })
  await sweep.waiting
  expect((await byPerson(first).get(`/v1/accounts/me/grants/${key.grantId}`)).body.revoked_at).toBeNull()
  // The end in the audit log.
  await first.deps.db.query('update grants set expires_at = $2 where id = $1', [grant, ends])
})

test('no key or agent of a member who is being removed stays active, and none becomes active when the member is invited again', async () => {
  const team = await createTeam(first)
  const member = await join(first, team, 'admin')
  const inTeam = { headers: { 'workspace-id': team.id } }
  const client = await registerClient(first.api)
  const createKeyVia = (service: typeof first) =>
    through(service, { cookie: member.cookie }).post(keys, { name: 'Agent' }, inTeam)
  const made: string[] = []
  for (let round = 0; round < 5; round += 1) {
    const { memberId } = round === 0 ? member : { memberId: await rejoin(team, member) }
    const authorizationIds = await Promise.all([0, 1].map(() => requestConsent(member, client, newPkce())))
    made.push((await createKeyVia(first)).body.key)
    const remove = () => team.owner.api.delete(`/v1/workspaces/current/members/${memberId}`)
    // Every other round sends the removal first: some keys are created before it, some are too late.
    const removedFirst = round % 2 === 1 ? remove() : undefined
    const [answers, removed] = await Promise.all([
      Promise.all([
        ...Array.from({ length: 10 }, (_, index) => createKeyVia(alternate(index))),
        ...authorizationIds.map((id) =>
          decide({ api: through(second, { cookie: member.cookie }) }, id, { decision: 'approve', workspace_id: team.id }),
        ),
      ]),
      removedFirst ?? remove(),
    ])
    expect(removed.status).toBe(200)
    for (const { status, body } of answers) if (status === 201) made.push(body.key)
    // Whichever process wins the race, nothing is created after the removal.
    for (const service of [first, second]) expect((await createKeyVia(service)).status).not.toBe(201)
  }
  await rejoin(team, member)
  const uses = await Promise.all(made.map((bearer) => first.api.get('/v1/payments', { bearer })))
  expect(new Set(uses.map(({ status, body }) => `${status} ${body.error}`))).toEqual(new Set(['401 api_key_revoked']))
  expect(await findBreaches(first)).toEqual([])
})

test('a removal waits for the key and the agent that the member is creating at that moment, and ends them', async () => {
  const team = await createTeam(first)
  const member = await join(first, team, 'admin')
  const client = await registerClient(first.api)
  const pkce = newPkce()
  const own = (await member.api.get('/v1/workspaces')).body.data.find(({ workspace }: Json) => workspace.kind === 'personal')
  const elsewhere = (await signIn(first.api, member.wallet)).cookie
  await first.api.put('/v1/workspaces/current', { workspace_id: own.workspace.id }, { cookie: elsewhere })
  const request = await requestConsent({ api: through(first, { cookie: elsewhere }) }, client, pkce)
  const inTeam = { headers: { 'workspace-id': team.id } }
  const acts = {
    key: () => through(second, { cookie: elsewhere }).post(keys, { name: 'Agent' }, inTeam),
    // Decided while another workspace is current: the only lock shared with the removal is the member's own account's.
    agent: () => decide({ api: through(second, { cookie: elsewhere }) }, request, { decision: 'approve', workspace_id: team.id }),
  }
  const made: Json[] = []
  for (const act of [acts.key, acts.agent]) {
    const memberId = made.length === 0 ? member.memberId : await rejoin(team, member)
    const { making, removing } = await first.deps.db.transaction(async (tx) => {
      // A grant is stored after its creator's membership is checked. A removal reads this table, and writes only to end grants.
      await tx.query('lock table grants in share mode')
      const making = act()
      await isWaiting("wait_event = 'relation' and query like 'insert into \"grants\"%'")
      const removing = team.owner.api.delete(`/v1/workspaces/current/members/${memberId}`)
      await isWaiting("wait_event = 'advisory'")
      return { making, removing }
    })
    const answer = await making
    expect([answer.status < 300, (await removing).status]).toEqual([true, 200])
    made.push(answer.body)
  }
  await rejoin(team, member)
  const [key, agent] = made
  expect((await first.api.get('/v1/payments', { bearer: key?.key })).body.error).toBe('api_key_revoked')
  const code = new URL(agent?.redirect_to).searchParams.get('code') ?? ''
  expect((await redeemCode(first.api, client, code, pkce)).body.error).toBe('invalid_grant')
  expect(await findBreaches(first)).toEqual([])
})

test('a revocation by a manager ends the key that is being made at that moment in a session which the revoked key led to', async () => {
  const team = await createTeam(first)
  const member = await join(first, team, 'admin')
  const key = await createKey(member, { permissions: ['account.read', 'account.manage'] })
  const wallet = newWallet()
  const message = await walletMessage(key.api, wallet)
  const signature = await wallet.signMessage({ message })
  await key.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })
  const session = await signIn(second.api, wallet)
  const { making, revoking } = await first.deps.db.transaction(async (tx) => {
    await tx.query('lock table grants in share mode')
    const making = session.api.post(keys, { name: 'Derived' })
    await isWaiting("wait_event = 'relation' and query like 'insert into \"grants\"%'")
    const revoking = team.owner.api.delete(`/v1/workspaces/current/grants/${key.grantId}`)
    await isWaiting("wait_event = 'advisory'")
    return { making, revoking }
  })
  const [made, revoked] = [await making, await revoking]
  expect([made.status, revoked.status]).toEqual([201, 200])
  expect((await first.api.get('/v1/accounts/me', { bearer: made.body.key })).body.error).toBe('api_key_revoked')
})

test('a suspended member makes no key, rotates none and connects no agent', async () => {
  const team = await createTeam(first)
  const member = await join(first, team, 'admin')
  const key = await createKey(member, { permissions: ['account.read', 'key.manage', 'payment.read'] })
  const id = await requestConsent(member, await registerClient(first.api), newPkce())
  await team.owner.api.patch(`/v1/workspaces/current/members/${member.memberId}`, { status: 'suspended' })
  const own = (await member.api.get('/v1/workspaces')).body.data.find(({ workspace }: Json) => workspace.kind === 'personal')
  const elsewhere = first.api.as({ cookie: (await signIn(first.api, member.wallet)).cookie })
  expect((await elsewhere.get('/v1/workspaces/current')).body.workspace.id).toBe(own.workspace.id)
  const answers = [
    await member.api.post(keys, { name: 'Agent' }),
    await elsewhere.post(keys, { name: 'Agent' }, { headers: { 'workspace-id': team.id } }),
    await key.api.post(keys, { name: 'Child' }),
    await elsewhere.post(`${keys}/${key.id}/rotate`),
    await decide({ api: elsewhere }, id, { decision: 'approve', workspace_id: team.id }),
  ]
  expect(answers.slice(0, 4).map(({ status, body }) => [status, body.error])).toEqual(
    Array(4).fill([403, 'membership_suspended']),
  )
  expect(answers[4]?.status).toBe(403)
  expect((await elsewhere.post(keys, { name: 'Agent' })).status).toBe(201)
})
