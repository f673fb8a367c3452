import { beforeEach, describe, expect, test } from 'vitest'
import { inTx } from '../../src/db/client.ts'
import { parseId } from '../../src/lib/ids.ts'
import { pauseRail, resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { holdAccount } from '../harness/account-hold.ts'
import type { Answer, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { happensBefore, pass } from '../rails-flows/scene.ts'
import { answered, createScene, type Team as PayingTeam } from './authority-scene.ts'

const administrator = newWallet()
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false', ADMIN_ACCOUNTS: administrator.address } })

type Team = {
  owner: Person
  workspace: string
  beneficiary: string
  join: (role: string) => Promise<Person & { memberId: string }>
}

const team = async (): Promise<Team> => {
  const owner = await signIn(service.api)
  await credit(service, owner.accountId, 10_000_000n)
  const beneficiary = await newBeneficiary(owner.api)
  const { workspace } = (await owner.api.get('/v1/workspaces/current')).body
  const join = async (role: string) => {
    const person = await signIn(service.api)
    const { token } = (await owner.api.post('/v1/workspaces/current/invitations', { role })).body
    await person.api.post('/v1/workspaces/invitations/accept', { token })
    await person.api.put('/v1/workspaces/current', { workspace_id: workspace.id })
    const members = (await owner.api.get('/v1/workspaces/current/members')).body.data
    const own = members.find((member: { account_id: string }) => member.account_id === person.accountId)
    return { ...person, memberId: own.id as string }
  }
  return { owner, workspace: workspace.id, beneficiary, join }
}

type Stop = { act: () => Promise<Answer>; pay: () => Promise<Answer> }

/**
 * Payments wait for the owner's account while their initiator is stopped. A stop acknowledged before the lock is free must let no
 * payment pass. A later one may precede or follow the payment.
 */
const stoppedWhileWaiting = async (
  owner: Person,
  stoppers: readonly Stop[],
): Promise<{ acknowledged: boolean; paid: Answer }[]> => {
  const hold = await holdAccount(service, owner.accountId)
  const payments = stoppers.map(({ pay }) => pay())
  await hold.waiting(1)
  const acknowledged = stoppers.map(() => false)
  const acts = stoppers.map(async ({ act }, index) => {
    const answer = await act()
    acknowledged[index] = answer.status < 300
    return answer
  })
  // Payments behind a waiting payment stay there. The others are answered now.
  await Promise.race([Promise.all(acts), hold.waiting(2)])
  await service.deps.db.query('select 1')
  const before = [...acknowledged]
  await hold.release()
  await Promise.all(acts)
  return (await Promise.all(payments)).map((paid, index) => ({ acknowledged: before[index] ?? false, paid }))
}

describe("a payment or approval that waits for the account's lock is refused after an acknowledged stop of", () => {
  test("the member's session, by logout", async () => {
    const { owner, beneficiary, join } = await team()
    const members = await Promise.all(Array.from({ length: 5 }, () => join('member')))
    const results = await stoppedWhileWaiting(
      owner,
      members.map((member) => ({
        pay: () => member.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' }),
        act: () => member.api.post('/v1/auth/logout'),
      })),
    )
    for (const { acknowledged, paid } of results)
      if (acknowledged) expect([paid.status, paid.body.error]).toEqual([401, 'session_revoked'])
      else expect([201, 401]).toContain(paid.status)
  })

  test('the key, by revocation, or its grant, by a freeze', async () => {
    const { owner, beneficiary, join } = await team()
    const members = await Promise.all(Array.from({ length: 4 }, () => join('member')))
    const keys = await Promise.all(members.map((member) => createKey(member)))
    const results = await stoppedWhileWaiting(
      owner,
      members.map((member, index) => {
        const key = keys[index]
        if (!key) throw new Error('a member has no key')
        return {
          pay: () => key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' }),
          act: () =>
            index % 2 === 0
              ? member.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
              : member.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true }),
        }
      }),
    )
    results.forEach(({ acknowledged, paid }, index) => {
      const refused = index % 2 === 0 ? [401, 'api_key_revoked'] : [403, 'grant_frozen']
      if (acknowledged) expect([paid.status, paid.body.error]).toEqual(refused)
      else expect([201, refused[0]]).toContain(paid.status)
    })
  })

  test('the approver, by logout or suspension', async () => {
    const { owner, beneficiary, join } = await team()
    await owner.api.post('/v1/spending-policies', { name: 'Two', approval_threshold_minor: '1', required_approval_count: 2 })
    const [first, second] = [await join('approver'), await join('approver')]
    const made = await owner.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
    const decide = (member: Person) => member.api.post(`/v1/approvals/${made.body.approval_id}/decide`, { decision: 'approve' })
    const hold = await holdAccount(service, owner.accountId)
    const suspended = owner.api.patch(`/v1/workspaces/current/members/${second.memberId}`, { status: 'suspended' })
    await hold.waiting(1)
    // The approval waits behind the suspension, whether or not it has arrived by the release.
    const approved = decide(second)
    await hold.release()
    expect((await suspended).status).toBe(200)
    expect([403, 503]).toContain((await approved).status)
    expect((await decide(first)).status).toBe(200)
    expect((await owner.api.get(`/v1/approvals/${made.body.approval_id}`)).body).toMatchObject({
      status: 'pending',
      approvals_given: 1,
    })
  })

  test('the workspace, by a freeze', async () => {
    const { owner, beneficiary, join } = await team()
    const member = await join('member')
    const hold = await holdAccount(service, owner.accountId)
    const frozen = owner.api.post('/v1/workspaces/current/freeze', {})
    await hold.waiting(1)
    const payment = member.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
    await hold.waiting(2)
    await hold.release()
    expect((await frozen).status).toBe(200)
    const { status, body } = await payment
    expect([status, body.error]).toEqual([403, 'workspace_frozen'])
  })

  test('the workspace, by a freeze in another process, for an approval too; a rejection still passes', async () => {
    const { owner, workspace, beneficiary, join } = await team()
    await owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
    const approver = await join('approver')
    const made = await owner.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
    const decide = (decision: string) => approver.api.post(`/v1/approvals/${made.body.approval_id}/decide`, { decision })
    const hold = await holdAccount(service, owner.accountId)
    const approved = decide('approve')
    await hold.waiting(1)
    // Another process commits this while it holds this account.
    await service.deps.db.query('update workspaces set frozen_at = now() where id = $1', [parseId('workspace', workspace)])
    await hold.release()
    const { status, body } = await approved
    expect([status, body.error]).toEqual([403, 'workspace_frozen'])
    expect((await decide('reject')).body).toMatchObject({ status: 'rejected' })
  })
})

describe('a payment whose send is recorded', () => {
  const scene = createScene(() => service, administrator)
  const orders = () => service.sandbox.orders().length
  const amount_minor = '150000'

  /** Stops the payment after its last check and before its first byte. */
  const stopRecorded = async (stop: () => Promise<unknown>): Promise<void> => {
    const before = orders()
    let acknowledged = false
    happensBefore(service, 'attempts.claim', async () => {
      await stop()
      acknowledged = true
    })
    await service.settle()
    expect([acknowledged, orders()]).toEqual([true, before])
  }
  const isNeverSent = async (of: PayingTeam, payment: Json) => {
    const before = orders()
    await pass(service, 5)
    expect(await scene.paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    expect(orders()).toBe(before)
  }

  type Ready = { of: PayingTeam; payment: Json; stop: () => Promise<unknown> }
  const payNow = async (of: PayingTeam, api = of.owner.api): Promise<Json> =>
    answered(await api.post('/v1/payments', { beneficiary_id: of.beneficiary, amount_minor: '10000' }), 201)
  const byKey = async (stop: (of: PayingTeam, key: Awaited<ReturnType<typeof createKey>>) => Promise<unknown>, fields = {}) => {
    const of = await scene.team(1)
    const key = await createKey(of.owner, { spending_controls: { new_payees: 'allow' }, ...fields })
    return { of, payment: await payNow(of, key.api), stop: () => stop(of, key) }
  }
  const approved = async (stop: (of: PayingTeam, approver: Person, wallet: string) => Promise<unknown>): Promise<Ready> => {
    const of = await scene.team(1)
    const approver = await scene.join(of)
    const { wallet, path } = await scene.link(approver.api)
    const payment = await scene.pay(of, of.owner.api)
    answered(await scene.sign(wallet, payment))
    return { of, payment, stop: () => stop(of, approver, path) }
  }
  const underMandate = async (stop: (of: PayingTeam, mandate: Json, key: Json) => Promise<unknown>): Promise<Ready> => {
    const of = await scene.team(1)
    const key = await createKey(of.owner, { permissions: ['account.manage', 'account.read'] })
    const mandate = await createMandate(service, (await scene.link(key.api)).wallet, { max_total_minor: '1000000' })
    const terms = { beneficiary_id: of.beneficiary, amount_minor, mandate_id: mandate.id }
    const payment = answered(await of.owner.api.post('/v1/payments', terms), 201)
    return { of, payment, stop: () => stop(of, mandate, key) }
  }
  const own = async (stop: (of: PayingTeam) => Promise<unknown>): Promise<Ready> => {
    const of = await scene.team(1)
    return { of, payment: await payNow(of), stop: () => stop(of) }
  }
  const stops: Record<string, () => Promise<Ready>> = {
    'its key is revoked': () =>
      byKey(async ({ owner }, { id }) => answered(await owner.api.delete(`/v1/accounts/me/api-keys/${id}`))),
    'its grant is frozen': () =>
      byKey(async ({ owner }, { grantId }) =>
        answered(await owner.api.patch(`/v1/accounts/me/grants/${grantId}`, { frozen: true })),
      ),
    'API keys are disabled': () => byKey(({ owner }) => scene.administer(owner, { capabilities: { api_keys: 'disabled' } })),
    'its account is frozen': () => own(({ owner }) => scene.administer(owner, { status: 'frozen' })),
    'payments are disabled': () => own(({ owner }) => scene.administer(owner, { capabilities: { payments: 'disabled' } })),
    'its beneficiary is frozen': () =>
      own(async ({ owner, beneficiary }) =>
        answered(await owner.api.patch(`/v1/beneficiaries/${beneficiary}`, { status: 'frozen' })),
      ),
    'its beneficiary is archived': () =>
      own(async ({ owner, beneficiary }) => answered(await owner.api.delete(`/v1/beneficiaries/${beneficiary}`))),
    'its requester is demoted': async () => {
      const of = await scene.team(1)
      const member = await scene.join(of, 'member')
      const stop = async () => answered(await of.owner.api.patch(await scene.member(of, member), { role: 'viewer' }))
      return { of, payment: await payNow(of, member.api), stop }
    },
    'its approver is removed': () =>
      approved(async (of, approver) => answered(await of.owner.api.delete(await scene.member(of, approver)))),
    'its approver is suspended, and active again': () =>
      approved(async (of, approver) => {
        const path = await scene.member(of, approver)
        for (const status of ['suspended', 'active']) answered(await of.owner.api.patch(path, { status }))
      }),
    'the wallet that approved it is unlinked': () =>
      approved(async (_, approver, path) => answered(await approver.api.delete(path))),
    'its mandate is revoked': () =>
      underMandate(async ({ owner }, { id }) => answered(await owner.api.post(`/v1/intent-mandates/${id}/revoke`))),
    'the key that linked the wallet of its mandate is frozen': () =>
      underMandate(async ({ owner }, _, { grantId }) =>
        answered(await owner.api.patch(`/v1/accounts/me/grants/${grantId}`, { frozen: true })),
      ),
  }
  beforeEach(() => service.settle())

  test.each(Object.keys(stops))('is not sent if %s before its first byte', async (name) => {
    const ready = await stops[name]?.()
    if (!ready) throw new Error('no such stop')
    await stopRecorded(ready.stop)
    if (name.includes('account is frozen') || name.includes('are disabled')) {
      // Only an active account reads its payments.
      await pass(service, 5)
      await scene.administer(ready.of.owner, { status: 'active', capabilities: { payments: 'active', api_keys: 'active' } })
    }
    await isNeverSent(ready.of, ready.payment)
  })

  test('or only queued is not sent after its key has expired, even before the service records the end', async () => {
    const expires_at = new Date(service.clock.now().getTime() + 2_000).toISOString()
    const { of, payment } = await byKey(async () => undefined, { expires_at })
    const before = orders()
    service.clock.advance(3)
    await service.settle()
    expect(await scene.paymentOf(of, payment)).toMatchObject({ status: 'failed', failure_code: 'policy_changed' })
    expect(orders()).toBe(before)
  })

  test('waits if its rail is paused before its first byte, and is sent once after the pause', async () => {
    const { of, payment } = await own(async () => undefined)
    const operator = shellOperator('tester')
    const inService = (work: Parameters<typeof inTx>[1]) => inTx(service.deps.db, work)
    const before = orders()
    await stopRecorded(() => inService((tx) => pauseRail(tx, operator, 'MPESA_B2C', 'a test')))
    await pass(service, 60)
    expect((await scene.paymentOf(of, payment)).status).toBe('processing')
    expect(orders()).toBe(before)
    await inService((tx) => resumeRail(tx, operator, 'MPESA_B2C'))
    await service.settle()
    expect((await scene.paymentOf(of, payment)).status).toBe('succeeded')
    expect(orders()).toBe(before + 1)
  })

  test('is sent although its workspace is frozen before its first byte', async () => {
    const { of, payment } = await own(async () => undefined)
    happensBefore(service, 'attempts.claim', async () => answered(await of.owner.api.post('/v1/workspaces/current/freeze', {})))
    await service.settle()
    expect((await scene.paymentOf(of, payment)).status).toBe('succeeded')
  })

  test('is sent under a mandate whose wallet a frozen key linked, if a person approved it', async () => {
    const of = await scene.team(1)
    const key = await createKey(of.owner, { permissions: ['account.manage', 'account.read'] })
    const mandate = await createMandate(service, (await scene.link(key.api)).wallet, { max_total_minor: '1000000' })
    answered(await of.owner.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true }))
    const terms = { beneficiary_id: of.beneficiary, amount_minor, mandate_id: mandate.id }
    const payment = answered(await of.owner.api.post('/v1/payments', terms), 201)
    expect(payment.status).toBe('pending_approval')
    answered(await scene.decide((await scene.join(of)).api, payment))
    const before = orders()
    await service.settle()
    expect((await scene.paymentOf(of, payment)).status).toBe('succeeded')
    expect(orders()).toBe(before + 1)
  })

  test('is not sent by the approval of a mandate whose wallet a frozen key linked, beside that of a person', async () => {
    const of = await scene.team(2)
    const approver = await scene.join(of)
    const key = await createKey(of.owner, { permissions: ['account.manage', 'account.read'] })
    const mandate = await createMandate(service, (await scene.link(key.api)).wallet, { max_total_minor: '1000000' })
    const terms = { beneficiary_id: of.beneficiary, amount_minor, mandate_id: mandate.id }
    const payment = answered(await of.owner.api.post('/v1/payments', terms), 201)
    expect(await scene.approvalOf(of, payment)).toMatchObject({ status: 'pending', approvals_given: 1 })
    answered(await scene.decide(approver.api, payment))
    await stopRecorded(async () => answered(await of.owner.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })))
    await isNeverSent(of, payment)
  })
})
