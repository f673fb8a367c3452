import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn, signInThroughKey } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { allNamed, answersToForms, copied } from '../harness/signature-forms.ts'
import { afterSweepRead } from '../harness/sweep-reads.ts'
import { join, memberIdOf, standIn, type Team, type Teammate } from '../workspaces/team.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const path = '/v1/spending-policies'
const [minute, day] = [60, 86_400]

type Scene = { team: Team; owner: Person; payee: string }

/** A person with money in their own workspace, which others can join. */
const createScene = async (): Promise<Scene> => {
  const owner = await signIn(service.api)
  await credit(service, owner.accountId, 10_000_000n)
  const { id } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  return { team: { id, owner }, owner, payee: await newBeneficiary(owner.api) }
}

const forTwo = { name: 'Two people', approval_threshold_minor: '100000', required_approval_count: 2 }
const make = async ({ owner }: Scene, rule: object = forTwo): Promise<string> => (await owner.api.post(path, rule)).body.id
const read = async ({ owner }: Scene, id: string): Promise<Json> => (await owner.api.get(`${path}/${id}`)).body
const confirm = ({ api }: Person, id: string, body: object = {}) => api.post(`${path}/${id}/pending-change/confirm`, body)
const pass = async (seconds: number) => {
  service.clock.advance(seconds)
  await service.deps.jobs.sweep()
}
/** The same person a day later, in a new session. */
const again = async (person: Person, team: Team): Promise<Person> => {
  const fresh = await signIn(service.api, person.wallet)
  await standIn(fresh, team.id)
  return fresh
}

describe('a rule that asks for two', () => {
  test('is archived when a second approver confirms it, and stays when one withdraws it', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const { api } = scene.owner
    const id = await make(scene)
    const waits = await api.delete(`${path}/${id}`)
    expect(waits.status).toBe(202)
    expect(waits.body).toMatchObject({
      status: 'active',
      pending_change: {
        change: { status: 'archived' },
        requested_by: scene.owner.accountId,
        effective_at: new Date(service.clock.now().getTime() + day * 1000).toISOString(),
      },
    })
    expect((await api.patch(`${path}/${id}`, { version: 1, required_approval_count: 1 })).body.details.reason).toBe(
      'change_pending',
    )
    expect((await api.patch(`${path}/${id}`, { version: 1 })).status).toBe(200)
    expect((await confirm(scene.owner, id)).body).toMatchObject({
      error: 'separation_of_duties',
      message: 'Whoever asked for a change of a policy may not confirm it: another approver must.',
    })
    const confirmed = await confirm(second, id)
    expect([confirmed.status, confirmed.body.status, confirmed.body.pending_change]).toEqual([200, 'archived', null])
    const other = await make(scene)
    expect((await api.patch(`${path}/${other}`, { version: 1, required_approval_count: 1 })).status).toBe(202)
    expect((await second.api.delete(`${path}/${other}/pending-change`)).body).toMatchObject({ pending_change: null, version: 1 })
    expect((await second.api.delete(`${path}/${other}/pending-change`)).status).toBe(404)
    expect((await api.patch(`${path}/${other}`, { version: 1, required_approval_count: 1 })).status).toBe(202)
  })

  test('is loosened once by a confirmation that is sent again with its key, and gets the first answer', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    expect((await scene.owner.api.delete(`${path}/${id}`)).status).toBe(202)
    const send = (body: object = {}) => second.api.post(`${path}/${id}/pending-change/confirm`, body, { key: 'confirm-1' })
    const [first, again] = [await send(), await send()]
    expect([first.status, first.body.status]).toEqual([200, 'archived'])
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, first.text, 'true'])
    expect((await send({ message_digest: '0'.repeat(64) })).body.details.reason).toBe('idempotency')
    expect((await confirm(second, id)).status).toBe(404)
  })

  test('tells each reader whether they can confirm the change now', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    await pass(minute)
    const [newcomer, viewer] = [await join(service, scene.team, 'approver'), await join(service, scene.team, 'viewer')]
    await scene.owner.api.delete(`${path}/${id}`)
    const key = await createKey(second, { permissions: ['approval.decide', 'policy.read'] })
    const manager = await createKey(second, { permissions: ['account.read', 'account.manage'] })
    const linked = await signInThroughKey(service.api, manager)
    const readers = [second, newcomer, viewer, scene.owner, key, linked]
    const headers = { 'workspace-id': scene.team.id }
    const told = readers.map(async ({ api }) => (await api.get(`${path}/${id}`, { headers })).body.pending_change.confirmable)
    expect(await Promise.all(told)).toEqual([true, false, false, false, false, false])
    expect((await confirm(newcomer, id)).status).toBe(403)
    expect((await scene.owner.api.get(path)).body.data[0].pending_change).not.toHaveProperty('confirmable')
    await scene.owner.api.post('/v1/workspaces/current/freeze')
    expect((await second.api.get(`${path}/${id}`)).body.pending_change.confirmable).toBe(false)
    await scene.owner.api.post('/v1/workspaces/current/unfreeze')
    expect((await confirm(second, id)).status).toBe(200)
  })

  test('tells every approver of the change that is asked for', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    await scene.owner.api.delete(`${path}/${id}`)
    const heard = (await second.api.get('/v1/notifications?type=policy.change_requested')).body.data
    expect(heard).toMatchObject([{ data: { id, pending_change: { change: { status: 'archived' } } } }])
  })

  test('is asked for again by the same request with the same answer, and by another person or with another change with 409', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'admin')
    const { api } = scene.owner
    const id = await make(scene)
    const waits = await api.delete(`${path}/${id}`)
    const again = await api.delete(`${path}/${id}`)
    expect([again.status, again.body]).toEqual([202, waits.body])
    expect((await second.api.delete(`${path}/${id}`)).body.details.reason).toBe('change_pending')
    await api.delete(`${path}/${id}/pending-change`)
    const lower = { version: 1, required_approval_count: 1 }
    const changed = await api.patch(`${path}/${id}`, lower)
    expect((await api.patch(`${path}/${id}`, lower)).body).toEqual(changed.body)
    expect((await api.delete(`${path}/${id}`)).body.details.reason).toBe('change_pending')
  })

  test('waits although the only other approver has closed the account, until a day later', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    expect((await second.api.delete('/v1/accounts/me')).status).toBe(200)
    expect((await scene.owner.api.delete(`${path}/${id}`)).status).toBe(202)
    const other = await make(scene)
    await pass(day + minute)
    expect((await (await again(scene.owner, scene.team)).api.delete(`${path}/${other}`)).status).toBe(200)
  })

  test('is loosened after 24 hours, and not a minute before', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const id = await make(scene)
    await scene.owner.api.patch(`${path}/${id}`, { version: 1, required_approval_count: 1 })
    await pass(day - minute)
    expect(await read(scene, id)).toMatchObject({ version: 1, required_approval_count: 2 })
    await pass(minute)
    expect(await read(scene, id)).toMatchObject({ version: 2, required_approval_count: 1, pending_change: null })
  })

  test.each([
    ['removed', (scene: Scene, { memberId }: Teammate) => scene.owner.api.delete(`/v1/workspaces/current/members/${memberId}`)],
    [
      'made a viewer',
      (scene: Scene, { memberId }: Teammate) =>
        scene.owner.api.patch(`/v1/workspaces/current/members/${memberId}`, { role: 'viewer' }),
    ],
    [
      'suspended',
      (scene: Scene, { memberId }: Teammate) =>
        scene.owner.api.patch(`/v1/workspaces/current/members/${memberId}`, { status: 'suspended' }),
    ],
  ])('stays as it is when who asked is %s before the day is over', async (_, lose) => {
    const scene = await createScene()
    const admin = await join(service, scene.team, 'admin')
    const id = await make(scene)
    expect((await admin.api.delete(`${path}/${id}`)).status).toBe(202)
    expect((await lose(scene, admin)).status).toBe(200)
    await pass(day)
    expect(await read(scene, id)).toMatchObject({ status: 'active', version: 1, pending_change: null })
  })

  test('stays as it is when who asked was in a session of a wallet that a key linked, and the key is revoked', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const [id, other] = [await make(scene), await make(scene)]
    const key = await createKey(scene.owner, { name: 'Manager', permissions: ['account.read', 'account.manage'] })
    const session = await signInThroughKey(service.api, key)
    const lower = (policy: string) => session.api.patch(`${path}/${policy}`, { version: 1, required_approval_count: 1 })
    expect((await lower(other)).status).toBe(202)
    await pass(day)
    const by = { account_id: scene.owner.accountId, grant_id: key.grantId, label: 'Manager' }
    expect(await read(await withSession(scene), other)).toMatchObject({ version: 2, changed_by: by })
    const late = { ...session, api: (await signIn(service.api, session.wallet)).api }
    expect((await late.api.patch(`${path}/${id}`, { version: 1, required_approval_count: 1 })).status).toBe(202)
    const { owner } = await withSession(scene)
    expect((await owner.api.delete(`/v1/accounts/me/api-keys/${key.id}`)).status).toBe(200)
    await pass(day)
    expect(await read(await withSession(scene), id)).toMatchObject({
      version: 1,
      required_approval_count: 2,
      pending_change: null,
    })
  })

  test('becomes stricter at once, and gives what waits a new result, a new text and the 24 hours anew', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const id = await make(scene)
    const { api } = scene.owner
    const first = (await api.patch(`${path}/${id}`, { version: 1, required_approval_count: 1 })).body.pending_change
    expect(first).toMatchObject({
      version: 1,
      before: { name: 'Two people', required_approval_count: 2, daily_limit_minor: null },
      result: { name: 'Two people', required_approval_count: 1, daily_limit_minor: null },
    })
    await pass(day - minute)
    const stricter = await (await again(scene.owner, scene.team)).api.patch(`${path}/${id}`, {
      version: 1,
      daily_limit_minor: '500000',
    })
    expect(stricter.status).toBe(200)
    expect(stricter.body).toMatchObject({ version: 2, daily_limit_minor: '500000', required_approval_count: 2 })
    const { pending_change: second } = stricter.body
    expect(second).toMatchObject({
      change: { required_approval_count: 1 },
      version: 2,
      result: { required_approval_count: 1, daily_limit_minor: '500000' },
      effective_at: new Date(service.clock.now().getTime() + day * 1000).toISOString(),
    })
    expect(second.message).not.toBe(first.message)
    await pass(day - minute)
    expect(await read(scene, id)).toMatchObject({ version: 2, required_approval_count: 2 })
    await pass(minute)
    expect(await read(scene, id)).toMatchObject({ version: 3, daily_limit_minor: '500000', required_approval_count: 1 })
    const heard = (await (await again(scene.owner, scene.team)).api.get('/v1/notifications?type=policy.*')).body.data
    expect(heard.map(({ type }: Json) => type)).toEqual([
      'policy.updated',
      'policy.change_requested',
      'policy.updated',
      'policy.change_requested',
      'policy.created',
    ])
  })

  test('is not emptied by two steps that are milder only together: the text says what results, and an earlier agreement does not count', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    const { api } = scene.owner
    const asked = (await api.patch(`${path}/${id}`, { version: 1, required_approval_count: null })).body.pending_change
    expect(asked.message).toContain(
      [
        'Policy: "Two people", version 1',
        `Workspace: "${(await api.get('/v1/workspaces/current')).body.workspace.name}"`,
        'Change:',
        '- Approvals needed: 2 people → 1 person',
        'Approvals for an ordinary payment now: 2 approvals at or above KES 1,000.00, and none below',
        'Approvals for an ordinary payment after the change: 1 approval at or above KES 1,000.00, and none below',
      ].join('\n'),
    )
    const seen = createHash('sha256').update(asked.message).digest('hex')
    service.clock.advance(1)
    const emptied = await api.patch(`${path}/${id}`, { version: 1, approval_threshold_minor: null })
    expect([emptied.status, emptied.body.required_approval_count]).toEqual([200, 2])
    const { message, result } = emptied.body.pending_change
    expect(result).toMatchObject({ approval_threshold_minor: null, required_approval_count: 0 })
    expect(message).toContain('Approvals for an ordinary payment now: 2 approvals\n')
    expect(message).toContain('Approvals for an ordinary payment after the change: no approval under this policy\n')
    // The earlier text, shown or signed, with proofs of identity from before the new one.
    const early = await confirm(second, id, { message_digest: seen })
    expect([early.status, early.body.details.reason]).toEqual([409, 'message_changed'])
    const signature = await second.wallet.signMessage({ message: asked.message })
    expect((await confirm(second, id, { signature })).status).toBe(401)
    const inOldSession = { ...second, api: service.api.as({ cookie: second.cookie }) }
    expect((await confirm(inOldSession, id)).body.error).toBe('step_up_required')
    const proven = await confirm(await again(second, scene.team), id, {
      message_digest: createHash('sha256').update(message).digest('hex'),
    })
    expect(proven.body).toMatchObject({ approval_threshold_minor: null, required_approval_count: 0, pending_change: null })
  })

  test('names what changes in a long list of beneficiaries, each by its id', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const payees = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        newBeneficiary(scene.owner.api, { display_name: index === 11 ? 'The "last' : 'Alike' }),
      ),
    )
    const id = await make(scene, { ...forTwo, beneficiary_ids: payees })
    const fewer = (await scene.owner.api.patch(`${path}/${id}`, { version: 1, beneficiary_ids: payees.slice(0, 11) })).body
    expect(fewer.pending_change.message).toContain(`- Beneficiaries: "The 'last" (${payees[11]}), `)
    expect(fewer.pending_change.message).toContain(' and 2 more → ')
    const other = await make(scene, { ...forTwo, beneficiary_ids: payees.slice(0, 1) })
    const replaced = (await scene.owner.api.patch(`${path}/${other}`, { version: 1, beneficiary_ids: payees.slice(1) })).body
    for (const payee of payees.slice(1)) expect(replaced.pending_change.message).toContain(`(${payee})`)
  })

  test('withdraws what waits where it contradicts a stricter version', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    const { api } = scene.owner
    const asked = { version: 1, daily_limit_minor: '900000', required_approval_count: 1 }
    expect((await api.patch(`${path}/${id}`, asked)).status).toBe(202)
    const stricter = await api.patch(`${path}/${id}`, { version: 1, monthly_limit_minor: '500000' })
    expect(stricter.body).toMatchObject({ version: 2, monthly_limit_minor: '500000', pending_change: null })
    const heard = (await second.api.get('/v1/notifications?type=policy.change_withdrawn')).body.data
    expect(heard).toMatchObject([{ data: { id, pending_change: null } }])
  })

  test('does not take effect if the workspace is frozen while the sweep runs, and does after the freeze', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const id = await make(scene)
    expect((await scene.owner.api.patch(`${path}/${id}`, { version: 1, required_approval_count: 1 })).status).toBe(202)
    service.clock.advance(day)
    const owner = await again(scene.owner, scene.team)
    let frozen = 0
    afterSweepRead(service, 'policies.change', async () => {
      frozen = (await owner.api.post('/v1/workspaces/current/freeze', {})).status
    })
    await service.deps.jobs.sweep()
    expect([frozen, await read({ ...scene, owner }, id)]).toMatchObject([200, { version: 1, required_approval_count: 2 }])
    expect((await owner.api.post('/v1/workspaces/current/unfreeze', {})).status).toBe(200)
    await pass(30)
    expect(await read({ ...scene, owner }, id)).toMatchObject({ version: 2, required_approval_count: 1, pending_change: null })
  })

  test('withdraws what an earlier release left waiting and is no looser than its version by now', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const id = await make(scene, { ...forTwo, duplicate_window_seconds: 90, on_duplicate: 'deny' })
    expect((await scene.owner.api.patch(`${path}/${id}`, { version: 1, duplicate_window_seconds: 60 })).status).toBe(202)
    const changed = 'update spending_policies set duplicate_window_seconds = 60, version = 2 where id = $1'
    await service.deps.db.query(changed, [parseId('policy', id)])
    await service.deps.jobs.sweep()
    expect(await read(scene, id)).toMatchObject({ version: 2, duplicate_window_seconds: 60, pending_change: null })
  })

  test('gives a change of an earlier release, which stored no result, a result before it can take effect', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    await scene.owner.api.patch(`${path}/${id}`, { version: 1, required_approval_count: 1 })
    await service.deps.db.query(
      'update spending_policies set pending_change_result = null, pending_change_version = null, pending_change_message = null where id = $1',
      [parseId('policy', id)],
    )
    expect((await read(scene, id)).pending_change).toMatchObject({ version: 1, result: { required_approval_count: 1 } })
    expect((await confirm(second, id)).body.details.reason).toBe('message_changed')
    await pass(day)
    const { version, pending_change } = await read(scene, id)
    expect(version).toBe(1)
    expect(pending_change.message).toContain('- Approvals needed: 2 people → 1 person')
    await pass(day)
    expect(await read(scene, id)).toMatchObject({ version: 2, required_approval_count: 1, pending_change: null })
  })

  test('keeps what became stricter meanwhile, although the change that waits repeated every field', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const id = await make(scene)
    const { api } = scene.owner
    const whole = { ...forTwo, version: 1, payment_types: [], daily_limit_minor: null, required_approval_count: 1 }
    expect((await api.patch(`${path}/${id}`, whole)).body.pending_change.change).toEqual({ required_approval_count: 1 })
    await api.patch(`${path}/${id}`, { version: 1, daily_limit_minor: '500000', name: 'Two people, less' })
    await pass(day)
    expect(await read(scene, id)).toMatchObject({
      name: 'Two people, less',
      daily_limit_minor: '500000',
      required_approval_count: 1,
    })
  })

  test('waits whole for a change that is stricter in one field and milder in another', async () => {
    const scene = await createScene()
    await join(service, scene.team, 'approver')
    const id = await make(scene)
    const mixed = { version: 1, daily_limit_minor: '500000', required_approval_count: 1 }
    const waits = await scene.owner.api.patch(`${path}/${id}`, mixed)
    expect(waits.status).toBe(202)
    expect(waits.body).toMatchObject({ version: 1, daily_limit_minor: null, required_approval_count: 2 })
    await pass(day)
    expect(await read(scene, id)).toMatchObject({ version: 2, daily_limit_minor: '500000', required_approval_count: 1 })
  })

  test('is changed at once by who is alone in the workspace, and by a team whose rule asks for one', async () => {
    const alone = await createScene()
    const id = await make(alone)
    expect((await alone.owner.api.delete(`${path}/${id}`)).body).toMatchObject({ status: 'archived', pending_change: null })
    const team = await createScene()
    await join(service, team.team, 'approver')
    const one = await make(team, { ...forTwo, required_approval_count: 1 })
    expect((await team.owner.api.delete(`${path}/${one}`)).status).toBe(200)
  })

  test('is confirmed by a wallet of the approver where it asks for signatures, and not without', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene, { ...forTwo, required_approval_count: 1, approval_proof: 'signature' })
    const { message } = (await scene.owner.api.delete(`${path}/${id}`)).body.pending_change
    expect((await confirm(second, id)).status).toBe(400)
    const foreign = await scene.owner.wallet.signMessage({ message })
    expect((await confirm(second, id, { signature: foreign })).body.error).toBe('invalid_signature')
    const own = await second.wallet.signMessage({ message })
    expect(await answersToForms(own, (signature) => confirm(second, id, { signature }))).toEqual(allNamed)
    const signed = await confirm(second, id, { signature: copied(own) })
    expect([signed.status, signed.body.status]).toEqual([200, 'archived'])
  })

  test('is not confirmed by a key, even one that may approve', async () => {
    const scene = await createScene()
    const second = await join(service, scene.team, 'approver')
    const id = await make(scene)
    await scene.owner.api.delete(`${path}/${id}`)
    const key = await createKey(second, { permissions: ['approval.decide', 'policy.read'] })
    expect((await confirm({ ...second, api: key.api }, id)).status).toBe(403)
    expect(await read(scene, id)).toMatchObject({ status: 'active' })
  })
})

/** The scene with a new session of its owner. */
const withSession = async (scene: Scene): Promise<Scene> => {
  const owner = await again(scene.owner, scene.team)
  return { ...scene, owner, team: { ...scene.team, owner } }
}

const pay = ({ owner, payee }: Scene) => owner.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '150000' })
const approve = (payment: Json, { api }: Person) =>
  api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision: 'approve' })

test('an approver who joined after the rule was made counts for it 24 hours later, and may reject at once', async () => {
  const scene = await createScene()
  await join(service, scene.team, 'approver')
  await make(scene)
  await pass(minute)
  const newcomer = await join(service, scene.team, 'approver')
  const payment = (await pay(scene)).body
  const early = await approve(payment, newcomer)
  expect([early.status, early.body.error]).toEqual([403, 'forbidden'])
  const rejected = await newcomer.api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision: 'reject' })
  expect(rejected.body.status).toBe('rejected')
  await pass(day)
  const later = (await pay(scene)).body
  await approve(later, scene.owner)
  expect((await approve(later, await again(newcomer, scene.team))).body.status).toBe('approved')
})

test('an approver who joined after a rule was made counts at once for payments to which the rule does not apply', async () => {
  const scene = await createScene()
  await make(scene, { name: 'Salaries', payment_types: ['salary'], required_approval_count: 2 })
  await pass(minute)
  const newcomer = await join(service, scene.team, 'approver')
  await make(scene, { name: 'Separate', approval_threshold_minor: '1', separation_of_duties: true })
  const { status, body: payment } = await pay(scene)
  expect([status, payment.status]).toEqual([201, 'pending_approval'])
  const { context } = (await scene.owner.api.get(`/v1/approvals/${payment.approval_id}`)).body
  expect(context.eligible_approvers).toEqual([newcomer.accountId])
  expect((await approve(payment, newcomer)).body.status).toBe('approved')
  const salary = { beneficiary_id: scene.payee, amount_minor: '150000', payment_type: 'salary' }
  const refused = await scene.owner.api.post('/v1/payments', salary)
  expect([refused.status, refused.body.error]).toEqual([403, 'policy_denied'])
  const entry = refused.body.details.decision.trace.find(({ rule }: Json) => rule === 'eligible_approvers')
  expect([entry.required_approvals, entry.eligible_approvers]).toEqual([2, 0])
})

describe('where duties are separate, who asks counts for a rule that is older when 24 hours have passed', () => {
  const separate = { ...forTwo, required_approval_count: 1, separation_of_duties: true }
  const ask = ({ api }: Person, { payee }: Scene, more: object = {}) =>
    api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '150000', ...more })
  const raise = async ({ owner }: Scene, { memberId }: Teammate, change: object) =>
    owner.api.patch(`/v1/workspaces/current/members/${memberId}`, change)

  test.each<[string, (scene: Scene) => Promise<Teammate>]>([
    ['joined since', ({ team }) => join(service, team, 'member')],
    [
      'was a viewer before',
      async (scene) => {
        const viewer = await join(service, scene.team, 'viewer')
        await pass(2 * day)
        await make(scene, separate)
        await raise(await withSession(scene), viewer, { role: 'member' })
        return { ...(await again(viewer, scene.team)), memberId: viewer.memberId }
      },
    ],
    [
      'was suspended meanwhile',
      async (scene) => {
        const member = await join(service, scene.team, 'member')
        await make(scene, separate)
        await raise(scene, member, { status: 'suspended' })
        await raise(scene, member, { status: 'active' })
        return member
      },
    ],
  ])('and not at once when the requester %s', async (_, letIn) => {
    const scene = await createScene()
    await make(scene, separate)
    await pass(minute)
    const requester = await letIn(scene)
    const owner = (await withSession(scene)).owner
    const key = await createKey(requester, { permissions: ['payment.create', 'payment.read'] })
    const asked = [
      await ask(requester, scene),
      await ask({ ...requester, api: key.api }, scene),
      await ask(requester, scene, { execute_at: new Date(service.clock.now().getTime() + 2 * day * 1000).toISOString() }),
    ]
    for (const { body } of asked) {
      const early = await approve(body, owner)
      expect([early.status, early.body.error, early.body.message]).toEqual([
        403,
        'forbidden',
        expect.stringContaining('The role in which this was asked for is younger than a rule'),
      ])
      expect((await scene.owner.api.get(`/v1/payments/${body.id}`)).body.status).not.toBe('processing')
    }
    await pass(day)
    const later = (await withSession(scene)).owner
    expect((await approve(asked[0]?.body, later)).body.status).toBe('approved')
  })

  test('and a rule that is younger than the role is not made to wait', async () => {
    const scene = await createScene()
    const member = await join(service, scene.team, 'member')
    await pass(minute)
    await make(scene, separate)
    expect((await approve((await ask(member, scene)).body, scene.owner)).body.status).toBe('approved')
  })

  test('in a list of payments as well', async () => {
    const scene = await createScene()
    await make(scene, separate)
    await pass(minute)
    const member = await join(service, scene.team, 'member')
    const items = [{ beneficiary_id: scene.payee, amount_minor: '150000' }]
    const list = (await member.api.post('/v1/payment-batches', { items })).body
    expect((await approve(list, scene.owner)).status).toBe(403)
  })
})

// One member's possible acts on a rule, and on who else decides. The member is `owner`, or an administrator in its place. `other`
// is an honest approver, a `self` a second account of the attacker.
type Acts = Scene & { id: string; other: Teammate; selves: Person[] }
type Act = (is: Acts) => Promise<unknown>

const patch =
  (...steps: object[]): Act =>
  async ({ owner, id }) => {
    for (const step of steps)
      await owner.api.patch(`${path}/${id}`, { version: (await owner.api.get(`${path}/${id}`)).body.version, ...step })
  }
const archive: Act = ({ owner, id }) => owner.api.delete(`${path}/${id}`)
const memberPatch = ({ owner, other }: Acts, change: object) =>
  owner.api.patch(`/v1/workspaces/current/members/${other.memberId}`, change)
const addSelf = async ({ team, selves }: Acts, role: string): Promise<Teammate> => {
  const self = await join(service, team, role)
  selves.push(self)
  return self
}

const loosenings: Readonly<Record<string, Act>> = {
  'archives it': archive,
  'archives it and makes a milder one': async (is) => {
    await archive(is)
    await make(is, { ...forTwo, required_approval_count: 1 })
  },
  'raises the threshold in two small steps': patch(
    { approval_threshold_minor: '150000' },
    { approval_threshold_minor: '150001' },
  ),
  'lowers the count': patch({ required_approval_count: 1, separation_of_duties: false }),
  'makes it stricter first': patch({ daily_limit_minor: '900000' }, { approval_threshold_minor: '900000' }),
  'names another rail': patch({ payment_types: ['PESALINK'] }),
  'names another payee': async (is) => patch({ beneficiary_ids: [await newBeneficiary(is.owner.api)] })(is),
  'archives it by a key': async ({ owner, id }) => {
    const key = await createKey(owner, { permissions: ['policy.manage', 'policy.read'] })
    await key.api.delete(`${path}/${id}`)
  },
  'withdraws and asks again': async (is) => {
    await archive(is)
    await is.owner.api.delete(`${path}/${is.id}/pending-change`)
    await archive(is)
  },
}

const preparations: Readonly<Record<string, Act>> = {
  nothing: async () => {},
  'the other approver is removed': ({ owner, other }) => owner.api.delete(`/v1/workspaces/current/members/${other.memberId}`),
  'the other approver is made a viewer': (is) => memberPatch(is, { role: 'viewer' }),
  'the other approver is suspended': (is) => memberPatch(is, { status: 'suspended' }),
  'roles are changed and changed back': async (is) => {
    await memberPatch(is, { role: 'viewer' })
    await memberPatch(is, { role: 'approver' })
  },
  'a second self joins as approver': (is) => addSelf(is, 'approver'),
  'a second self joins as member': (is) => addSelf(is, 'member'),
  'a second self joins as viewer and is raised': async (is) => {
    const self = await addSelf(is, 'viewer')
    await is.owner.api.patch(`/v1/workspaces/current/members/${await memberIdOf(is.owner, self.accountId)}`, { role: 'admin' })
  },
  'a second self asks for it, as an administrator': async (is) => {
    const self = await addSelf(is, 'admin')
    await self.api.delete(`${path}/${is.id}`)
    await confirm(is.owner, is.id)
  },
  'the other approver is removed and a second self takes the place': async (is) => {
    await is.owner.api.delete(`/v1/workspaces/current/members/${is.other.memberId}`)
    await addSelf(
      is,
      is.owner.accountId === (await is.owner.api.get('/v1/workspaces/current')).body.workspace.owning_account_id
        ? 'owner'
        : 'admin',
    )
  },
}

const separated = { ...forTwo, required_approval_count: 1, separation_of_duties: true }

type Attack = {
  attacker: 'the owner' | 'an administrator'
  rule: typeof forTwo
  preparations: readonly string[]
  acts: readonly string[]
}

/** Runs one member's acts of a day in sequence. Every payment of theirs must then still wait for somebody else. */
const expectNothingWon = async (attack: Attack): Promise<void> => {
  const scene = await createScene()
  const other = await join(service, scene.team, 'approver')
  const member = attack.attacker === 'the owner' ? scene.owner : await join(service, scene.team, 'admin')
  const team = { ...scene.team, owner: member }
  const is: Acts = { ...scene, team, owner: member, id: await make(scene, attack.rule), other, selves: [] }
  service.clock.advance(minute)
  for (const before of attack.preparations) await preparations[before]?.(is)
  for (const act of attack.acts) await loosenings[act]?.(is)
  for (const self of is.selves) await confirm(self, is.id)
  await pass(day - minute)
  for (const requester of [is.owner, ...is.selves]) {
    const answer = await pay({ ...is, owner: requester })
    if (answer.status === 403) expect(['policy_denied', 'forbidden']).toContain(answer.body.error)
    else expect(answer.body.status).toBe('pending_approval')
    if (answer.status === 403) continue
    for (const person of [is.owner, ...is.selves]) await approve(answer.body, person)
    expect((await is.owner.api.get(`/v1/payments/${answer.body.id}`)).body.status).toBe('pending_approval')
  }
}

const [nothing, takesThePlace] = ['nothing', 'the other approver is removed and a second self takes the place']
/** Each preparation before the simplest act, each act without a preparation, and each after the most useful one. */
const edges = [
  ...Object.keys(preparations).map((before) => [before, 'archives it'] as const),
  ...Object.keys(loosenings)
    .slice(1)
    .flatMap((act) => [[nothing, act] as const, [takesThePlace, act] as const]),
]

describe.each([
  ['the owner', 'two approvals', forTwo],
  ['the owner', 'separation of duties', separated],
  ['an administrator', 'two approvals', forTwo],
  ['an administrator', 'separation of duties', separated],
] as const)('within a day %s alone gets nothing past a rule that asks for %s', (attacker, _, rule) => {
  const own = attacker === 'the owner' || rule === forTwo ? edges : edges.filter(([, act]) => act === 'archives it')

  test.each(own)('%s, then the member %s', async (before, act) => {
    await expectNothingWon({ attacker, rule, preparations: [before], acts: [act] })
  })

  test('and two people do', async () => {
    const scene = await createScene()
    const other = await join(service, scene.team, 'approver')
    await make(scene, rule)
    const payment = (await pay(scene)).body
    await approve(payment, scene.owner)
    expect((await approve(payment, other)).body.status).toBe('approved')
  })
})

test('within a day nobody alone gets past a rule by several preparations and acts, in any order', {
  timeout: 300_000,
}, async () => {
  const some = (of: object) => fc.uniqueArray(fc.constantFrom(...Object.keys(of)), { minLength: 1, maxLength: 3 })
  const attack = fc.record({
    attacker: fc.constantFrom('the owner' as const, 'an administrator' as const),
    rule: fc.constantFrom(forTwo, separated),
    preparations: some(preparations),
    acts: some(loosenings),
  })
  await fc.assert(fc.asyncProperty(attack, expectNothingWon), { numRuns: 20, endOnFailure: true })
})
