import { describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { holdAccount } from '../harness/account-hold.ts'
import type { Answer } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()

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
