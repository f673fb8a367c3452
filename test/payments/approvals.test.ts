import { describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { allNamed, answersToForms, copied } from '../harness/signature-forms.ts'

const service = await openService()

type Payer = Person & { beneficiary: string }

const payer = async (policy: Record<string, unknown>): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  const beneficiary = await newBeneficiary(person.api, { display_name: 'Jane Decision: reject' })
  const made = await person.api.post('/v1/spending-policies', { name: 'Ask', ...policy })
  if (made.status !== 201) throw new Error(made.text)
  return { ...person, beneficiary }
}

const pay = async (from: Payer, api = from.api): Promise<Json> => {
  const answer = await api.post('/v1/payments', { beneficiary_id: from.beneficiary, amount_minor: '150000' })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

/** Another person who may decide in this workspace. */
const colleague = async (of: Person, role = 'approver'): Promise<Person> => {
  const person = await signIn(service.api)
  const workspace = (await of.api.get('/v1/workspaces/current')).body.workspace.id
  const invitation = (await of.api.post('/v1/workspaces/current/invitations', { role })).body
  const joined = await person.api.post('/v1/workspaces/invitations/accept', { token: invitation.token })
  if (joined.status !== 200) throw new Error(joined.text)
  await person.api.put('/v1/workspaces/current', { workspace_id: workspace })
  return person
}

const ask = { approval_threshold_minor: '100000' }
const decide = (api: Person['api'], id: string, decision: string, more = {}) =>
  api.post(`/v1/approvals/${id}/decide`, { decision, ...more })
const sign = async (wallet: Person['wallet'], id: string, decision: string) => {
  const { message } = (await service.api.get(`/v1/approvals/${id}/message?decision=${decision}`)).body
  return service.api.post(`/v1/approvals/${id}/decide-by-signature`, {
    decision,
    signature: await wallet.signMessage({ message }),
  })
}
const accountOf = async ({ api }: Person): Promise<string> => (await api.get('/v1/accounts/me')).body.id
const balance = async (someone: Person) => (await someone.api.get('/v1/accounts/me')).body.balance
const statusOf = async (someone: Person, id: string) => (await someone.api.get(`/v1/payments/${id}`)).body.status

describe('a payment at or above the threshold', () => {
  test('waits with its money held, and its approval shows all that the approver needs', async () => {
    const person = await payer(ask)
    const key = await createKey(person, { name: 'Procurement agent' })
    const payment = await pay(person, key.api)
    expect(payment).toMatchObject({
      status: 'pending_approval',
      decision: { outcome: 'require_approval', required_approvals: 1 },
    })
    const approval = (await person.api.get(`/v1/approvals/${payment.approval_id}`)).body
    expect(approval).toMatchObject({
      status: 'pending',
      required_approvals: 1,
      approvals_given: 0,
      decisions: [],
      payment: {
        id: payment.id,
        amount_minor: '150000',
        beneficiary: { id: person.beneficiary, first_payment: true },
        initiated_by: { account_id: person.accountId, grant_id: key.grantId, label: 'Procurement agent' },
      },
    })
    expect(await balance(person)).toMatchObject({ held_minor: '150000' })
    expect((await person.api.get('/v1/approvals?status=pending')).body.data).toHaveLength(1)
  })

  test('has a context for the decision: earlier payments to the payee, remaining limits, possible approvers', async () => {
    const person = await payer({ ...ask, separation_of_duties: true })
    const approver = await colleague(person)
    for (const amount of ['10000', '20000', '60000'])
      await person.api.post('/v1/payments', { beneficiary_id: person.beneficiary, amount_minor: amount })
    await service.settle()
    const payment = await pay(person)
    const { context, decision_now: now } = (await approver.api.get(`/v1/approvals/${payment.approval_id}`)).body
    expect(now).toMatchObject({ outcome: 'require_approval', trace: expect.any(Array) })
    expect(context).toEqual({
      payee: {
        payments_count: 3,
        last_paid_at: expect.stringMatching(/Z$/),
        typical_amount_minor: '20000',
        verification: expect.objectContaining({ status: expect.any(String) }),
      },
      warnings: [{ code: 'unusual_amount', typical_amount_minor: '20000' }],
      available_after_minor: null,
      eligible_approvers: [approver.accountId],
    })
    const [listed] = (await approver.api.get('/v1/approvals')).body.data
    expect([listed.context, listed.decision_now]).toEqual([context, undefined])
    await approver.api.post(`/v1/approvals/${payment.approval_id}/decide`, { decision: 'approve' })
    const decided = (await approver.api.get(`/v1/approvals/${payment.approval_id}`)).body
    expect([decided.decision_now, decided.context.payee.payments_count]).toEqual([undefined, 3])
    expect(decided.context.eligible_approvers).toEqual([])
    expect((await approver.api.get('/v1/approvals')).body.data[0].context).toBeUndefined()
  })

  test('shows the balance that it leaves only to those who may see the balance', async () => {
    const person = await payer(ask)
    const permissions = ['approval.read', 'payment.create']
    const key = await createKey(person, { permissions })
    const reader = await createKey(person, { permissions: [...permissions, 'account.read'] })
    const payment = await pay(person, key.api)
    const left = async ({ api }: Pick<Person, 'api'>) => {
      const one = (await api.get(`/v1/approvals/${payment.approval_id}`)).body
      const [listed] = (await api.get('/v1/approvals?status=pending')).body.data
      return [one.context.available_after_minor, listed.context.available_after_minor]
    }
    const { available_minor: available } = await balance(person)
    expect(await left(person)).toEqual([available, available])
    expect(await left(reader)).toEqual([available, available])
    expect(await left(key)).toEqual([null, null])
    expect(await left(await colleague(person))).toEqual([null, null])
  })

  test('is a first payment in the list as by itself, while it waits and when it is decided', async () => {
    const person = await payer(ask)
    const other = await newBeneficiary(person.api, { destination: '254733000111' })
    const first = await pay(person)
    await decide(person.api, first.approval_id, 'approve')
    await service.settle()
    for (const from of [person, { ...person, beneficiary: other }])
      for (const decision of ['reject', null]) {
        const { approval_id } = await pay(from)
        if (decision) await decide(from.api, approval_id, decision)
      }
    const { data } = (await person.api.get('/v1/approvals')).body
    const firsts = data.map(({ status, payment }: Json) => [status, payment.beneficiary.first_payment])
    expect(firsts).toEqual([
      ['pending', true],
      ['rejected', true],
      ['pending', false],
      ['rejected', false],
      ['approved', true],
    ])
    for (const { id, payment } of data) {
      const { body } = await person.api.get(`/v1/approvals/${id}`)
      const isSaid = body.signing.approve.includes('Warning: First payment to this destination.')
      const { first_payment: isFirst } = payment.beneficiary
      expect([body.payment.beneficiary.first_payment, isSaid]).toEqual([isFirst, isFirst])
    }
  })

  test('is shown with what is used on the day of reading, not on the day it was asked for, and who decided when it is too late', async () => {
    const person = await payer({ ...ask, daily_limit_minor: '10000000' })
    const approver = await colleague(person)
    await person.api.post('/v1/payments', { beneficiary_id: person.beneficiary, amount_minor: '90000' })
    const payment = await pay(person)
    const path = `/v1/approvals/${payment.approval_id}`
    const used = (decision: Json) => decision.trace.find(({ rule }: Json) => rule === 'daily_limit').used_minor
    service.clock.advance(86_400)
    const { body: approval } = await approver.api.get(path)
    expect([used(payment.decision), used(approval.decision_now)]).toEqual(['90000', '0'])
    const rejected = (await person.api.post(`${path}/decide`, { decision: 'reject' })).body
    const late = await approver.api.post(`${path}/decide`, { decision: 'approve' })
    expect([late.status, late.body.details]).toMatchObject([
      409,
      { reason: 'decided', status: 'rejected', decided_by: person.accountId, decided_at: rejected.decisions[0].decided_at },
    ])
  })

  test('its text to sign names the requester, the purpose and the workspace, and never an e-mail', async () => {
    const person = await payer(ask)
    await person.api.patch('/v1/accounts/me', { display_name: 'Jane Workspace: forged' })
    const key = await createKey(person, { name: 'Procurement agent' })
    const sent = { beneficiary_id: person.beneficiary, amount_minor: '150000', narrative: 'Chairs Amount: KES 1.00' }
    const payment = (await key.api.post('/v1/payments', sent)).body
    const { message } = (await service.api.get(`/v1/approvals/${payment.approval_id}/message`)).body
    const lines = message.split('\n')
    expect(lines).toContain('For: Chairs Amount: KES 1.00')
    expect(lines).toContain('Requested by: Procurement agent, an agent of Jane Workspace: forged')
    expect(lines).toContain('Workspace: Personal')
    expect(lines.filter((line: string) => /^(Amount|Workspace): /.test(line))).toHaveLength(2)
    expect(message).not.toContain('@example')
  })

  test('its canonical message binds everything in readable lines that a name cannot forge', async () => {
    const person = await payer(ask)
    const payment = await pay(person)
    const { message, expires_at } = (await service.api.get(`/v1/approvals/${payment.approval_id}/message`)).body
    const policy = (await person.api.get('/v1/spending-policies')).body.data[0]
    for (const line of [
      'Amount: KES 1,500.00',
      'Beneficiary: Jane Decision: reject',
      'Decision: approve',
      `Approval: ${payment.approval_id}`,
      `Payment: ${payment.id}`,
      'Amount in minor units: 150000 KES',
      `Policies: ${policy.id}@1`,
      `Expires: ${expires_at}`,
    ]) {
      expect(message.split('\n')).toContain(line)
    }
    expect(message).toMatch(/^localhost:\d+ asks you to APPROVE a payment\./)
    expect(message).toMatch(/\nDestination: MPESA_B2C \*{8}\d{4}\n/)
    const approval = (await person.api.get(`/v1/approvals/${payment.approval_id}`)).body
    expect(approval.signing.approve).toBe(message)
    expect(approval.signing.reject).toContain('\nDecision: reject\n')
  })

  test('is sent after an approval by credential, and a repetition has the same answer', async () => {
    const person = await payer(ask)
    const payment = await pay(person)
    const approved = await decide(person.api, payment.approval_id, 'approve', { reason: 'Known supplier' })
    expect(approved.status).toBe(200)
    expect(approved.body).toMatchObject({
      status: 'approved',
      approvals_given: 1,
      decisions: [{ account_id: person.accountId, decision: 'approve', via: 'credential', reason: 'Known supplier' }],
      payment: { status: 'processing' },
    })
    expect((await decide(person.api, payment.approval_id, 'approve')).status).toBe(200)
    const otherwise = await decide(person.api, payment.approval_id, 'reject')
    expect([otherwise.status, otherwise.body.error]).toEqual([409, 'conflict'])
  })

  test('a repetition has that answer even while a freeze or a policy would refuse the decision', async () => {
    const person = await payer(ask)
    const other = await colleague(person)
    const [frozen, unnamed] = [await pay(person), await pay(person)]
    for (const { approval_id } of [frozen, unnamed]) expect((await decide(person.api, approval_id, 'approve')).status).toBe(200)
    await person.api.post('/v1/spending-policies', { name: 'Other', ...ask, approver_ids: [await accountOf(other)] })
    expect((await decide(person.api, unnamed.approval_id, 'approve')).body).toMatchObject({ status: 'approved' })
    await person.api.post('/v1/workspaces/current/freeze')
    expect((await decide(person.api, frozen.approval_id, 'approve')).body).toMatchObject({ status: 'approved' })
    expect((await sign(person.wallet, frozen.approval_id, 'approve')).status).toBe(200)
    expect((await decide(other.api, frozen.approval_id, 'approve')).body.error).toBe('workspace_frozen')
  })

  test('is sent after a signature without bearer or cookie', async () => {
    const person = await payer(ask)
    const payment = await pay(person)
    const answer = await sign(person.wallet, payment.approval_id, 'approve')
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ status: 'approved', decisions: [{ via: 'signature', signer: person.wallet.address }] })
    expect(await statusOf(person, payment.id)).toBe('processing')
  })

  test('is rejected by one rejection, and everything is released', async () => {
    const person = await payer({ ...ask, daily_limit_minor: '200000' })
    const payment = await pay(person)
    expect((await sign(person.wallet, payment.approval_id, 'reject')).body.status).toBe('rejected')
    expect(await statusOf(person, payment.id)).toBe('rejected')
    expect(await balance(person)).toEqual({ currency: 'KES', available_minor: '10000000', held_minor: '0' })
    // Another payment of the same size fits the limit.
    expect((await pay(person)).status).toBe('pending_approval')
  })

  test('can be cancelled while it waits, which cancels its approval', async () => {
    const person = await payer(ask)
    const payment = await pay(person)
    const cancelled = await person.api.post(`/v1/payments/${payment.id}/cancel`)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    expect((await person.api.get(`/v1/approvals/${payment.approval_id}`)).body.status).toBe('cancelled')
    expect(await balance(person)).toMatchObject({ held_minor: '0' })
    expect((await decide(person.api, payment.approval_id, 'approve')).status).toBe(409)
    const other = await pay(person)
    await decide(person.api, other.approval_id, 'approve')
    expect((await person.api.post(`/v1/payments/${other.id}/cancel`)).status).toBe(409)
  })

  test('expires if it is not decided in time, by the job or at a late decision', async () => {
    const person = await payer(ask)
    const [first, second] = [await pay(person), await pay(person)]
    service.clock.advance(72 * 3600)
    const late = await sign(person.wallet, first.approval_id, 'approve')
    expect([late.status, late.body.error, late.body.details.reason]).toEqual([409, 'conflict', 'expired'])
    expect(await statusOf(person, first.id)).toBe('expired')
    await service.deps.jobs.sweep()
    expect(await statusOf(person, second.id)).toBe('expired')
    expect(await balance(person)).toMatchObject({ held_minor: '0', available_minor: '10000000' })
  })
})

describe('who may decide', () => {
  test('a quorum needs distinct approvers: one who approves twice counts once', async () => {
    const person = await payer({ ...ask, required_approval_count: 2 })
    const other = await colleague(person)
    const payment = await pay(person)
    await sign(person.wallet, payment.approval_id, 'approve')
    const again = await decide(person.api, payment.approval_id, 'approve')
    expect(again.body).toMatchObject({ status: 'pending', approvals_given: 1 })
    expect((await decide(other.api, payment.approval_id, 'approve')).body).toMatchObject({
      status: 'approved',
      approvals_given: 2,
    })
  })

  test('a payment that needs more approvers than exist is refused and does not wait without end', async () => {
    const person = await payer({ ...ask, required_approval_count: 2 })
    const answer = await person.api.post('/v1/payments', { beneficiary_id: person.beneficiary, amount_minor: '150000' })
    expect([answer.status, answer.body.error]).toEqual([403, 'policy_denied'])
    expect(answer.body.details.decision.trace.at(-1)).toMatchObject({ rule: 'eligible_approvers', outcome: 'deny' })
  })

  test('under separation of duties the initiator cannot decide by credential or by signature, nor for its own key', async () => {
    const person = await payer({ ...ask, separation_of_duties: true })
    const other = await colleague(person)
    const key = await createKey(person)
    for (const payment of [await pay(person), await pay(person, key.api)]) {
      for (const answer of [
        await decide(person.api, payment.approval_id, 'approve'),
        await sign(person.wallet, payment.approval_id, 'approve'),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([403, 'separation_of_duties'])
      }
      expect((await sign(other.wallet, payment.approval_id, 'approve')).body.status).toBe('approved')
    }
  })

  test("no key of the initiating lineage decides, although it has the permission; another lineage's may", async () => {
    const person = await payer(ask)
    const permissions = [
      'payment.create',
      'payment.read',
      'approval.read',
      'approval.decide',
      'key.manage',
      'beneficiary.read',
      'account.read',
    ]
    const root = await createKey(person, { permissions })
    const child = await createKey({ api: root.api }, { permissions: ['payment.create'] })
    const payments = [await pay(person, root.api), await pay(person, child.api)]
    for (const payment of payments) {
      const answer = await decide(root.api, payment.approval_id, 'approve')
      expect([answer.status, answer.body.error]).toEqual([403, 'separation_of_duties'])
    }
    const stranger = await createKey(person, { permissions: ['approval.decide'] })
    for (const payment of payments)
      expect((await decide(stranger.api, payment.approval_id, 'approve')).body.status).toBe('approved')
  })

  test('a signature by another wallet, over another text, of another payment, or malformed is refused and audited, and the form is named', async () => {
    const person = await payer(ask)
    const [payment, other] = [await pay(person), await pay(person)]
    const message = async (id: string, decision = 'approve') =>
      (await service.api.get(`/v1/approvals/${id}/message?decision=${decision}`)).body.message
    const text = await message(payment.approval_id)
    const good = await person.wallet.signMessage({ message: text })
    const forged = [
      await newWallet().signMessage({ message: text }),
      await person.wallet.signMessage({ message: text.replace('1,500.00', '1.00') }),
      await person.wallet.signMessage({ message: await message(other.approval_id) }),
      await person.wallet.signMessage({ message: await message(payment.approval_id, 'reject') }),
      '0x1234',
      'nonsense',
    ]
    for (const signature of forged) {
      const answer = await service.api.post(`/v1/approvals/${payment.approval_id}/decide-by-signature`, {
        decision: 'approve',
        signature,
      })
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])
    }
    const send = (signature: string) =>
      service.api.post(`/v1/approvals/${payment.approval_id}/decide-by-signature`, { decision: 'approve', signature })
    expect(await answersToForms(good, send)).toEqual(allNamed)
    const audited = await service.deps.db.query("select 1 from audit_log where action = 'approval.refused'")
    expect(audited.length).toBeGreaterThanOrEqual(forged.length)
    expect(
      (
        await service.api.post(`/v1/approvals/${payment.approval_id}/decide-by-signature`, {
          decision: 'approve',
          signature: copied(good),
        })
      ).status,
    ).toBe(200)
  })

  test('a viewer may see and not decide; a member who left may not sign; another tenant sees nothing', async () => {
    const person = await payer(ask)
    const viewer = await colleague(person, 'viewer')
    const payment = await pay(person)
    expect((await viewer.api.get(`/v1/approvals/${payment.approval_id}`)).status).toBe(200)
    expect((await decide(viewer.api, payment.approval_id, 'approve')).body).toMatchObject({
      error: 'forbidden',
      details: { required_permission: 'approval.decide' },
    })
    expect((await sign(viewer.wallet, payment.approval_id, 'approve')).body.error).toBe('invalid_signature')
    const stranger = await signIn(service.api)
    expect((await stranger.api.get(`/v1/approvals/${payment.approval_id}`)).status).toBe(404)
    expect((await decide(stranger.api, payment.approval_id, 'approve')).status).toBe(404)
    expect((await service.api.get('/v1/approvals')).status).toBe(401)
    expect((await service.api.get('/v1/approvals/apr_01h455vb4pex5vsknk084sn02q/message')).status).toBe(404)
  })
})

describe('concurrent decisions', () => {
  test('an approval and a rejection at once: one of them counts, and the money follows it', async () => {
    const person = await payer(ask)
    for (let round = 0; round < 5; round += 1) {
      const payment = await pay(person)
      const answers = await Promise.all([
        sign(person.wallet, payment.approval_id, 'approve'),
        decide(person.api, payment.approval_id, 'reject'),
      ])
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
      const approved = answers[0].status === 200
      expect(await statusOf(person, payment.id)).toBe(approved ? 'processing' : 'rejected')
    }
  })

  test('an approval and a cancellation at once: one of them counts', async () => {
    const person = await payer(ask)
    const payment = await pay(person)
    const [approved, cancelled] = await Promise.all([
      decide(person.api, payment.approval_id, 'approve'),
      person.api.post(`/v1/payments/${payment.id}/cancel`),
    ])
    expect([approved.status, cancelled.status].sort()).toEqual([200, 409])
  })

  test('twenty approvals of one approver at once: one is counted', async () => {
    const person = await payer({ ...ask, required_approval_count: 2 })
    await colleague(person)
    const payment = await pay(person)
    const answers = await Promise.all(Array.from({ length: 20 }, () => decide(person.api, payment.approval_id, 'approve')))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect((await person.api.get(`/v1/approvals/${payment.approval_id}`)).body).toMatchObject({
      status: 'pending',
      approvals_given: 1,
    })
  })

  test('of several payments of one account at once: each as by itself, with the balance after it', async () => {
    const person = await payer(ask)
    const waiting: Json[] = []
    for (let count = 0; count < 8; count += 1) waiting.push(await pay(person))
    const { available_minor: available } = await balance(person)
    const answers = await Promise.all(
      waiting.map(({ approval_id: id }, index) => decide(person.api, id, index % 2 ? 'approve' : 'reject')),
    )
    expect(answers.map(({ body }) => body.status)).toEqual(waiting.map((_, index) => (index % 2 ? 'approved' : 'rejected')))
    const events = await service.deps.db.query<{ available: string }>(
      `select data->'balance'->>'available_minor' as available from events
       where type = 'balance.updated' and data->>'id' = $1 order by id desc limit 4`,
      [person.accountId],
    )
    const after = [4n, 3n, 2n, 1n].map((times) => String(BigInt(available) + times * 150_000n))
    expect(events.map((event) => event.available)).toEqual(after)
    const cancelled = await Promise.all(
      (await Promise.all([pay(person), pay(person), pay(person)])).map(({ id }) => person.api.post(`/v1/payments/${id}/cancel`)),
    )
    expect(cancelled.map(({ body }) => body.status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect(await balance(person)).toMatchObject({ available_minor: after[0] })
  })

  test('of payments that count on a later day send as many as its limit allows', async () => {
    const person = await payer({ ...ask, daily_limit_minor: '450000' })
    const waiting = [await pay(person), await pay(person), await pay(person)]
    service.clock.advance(86_400)
    await pay(person)
    const answers = await Promise.all(waiting.map(({ approval_id: id }) => decide(person.api, id, 'approve')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const statuses = await Promise.all(waiting.map(({ id }) => statusOf(person, id)))
    expect(statuses.sort()).toEqual(['failed', 'processing', 'processing'])
  })

  test('of payments to a payee that nobody has confirmed confirm it once', async () => {
    const person = await payer(ask)
    const key = await createKey(person)
    const to = { ...person, beneficiary: await newBeneficiary(key.api) }
    const waiting = [await pay(to), await pay(to), await pay(to)]
    const answers = await Promise.all(waiting.map(({ approval_id: id }) => decide(person.api, id, 'approve')))
    expect(answers.map(({ body }) => body.status)).toEqual(['approved', 'approved', 'approved'])
    const rows = (await person.api.get('/v1/workspaces/current/audit-log?action=beneficiary.confirmed')).body.data
    expect(rows).toHaveLength(1)
  })
})
