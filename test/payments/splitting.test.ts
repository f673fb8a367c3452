import { beforeEach, describe, expect, test } from 'vitest'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'

let person: Person
let payee: string
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 100_000_000n)
  payee = await newBeneficiary(person.api)
})

const threshold = (fields: Record<string, unknown> = {}) =>
  person.api.post('/v1/spending-policies', { name: 'Large', approval_threshold_minor: '20000', ...fields })
const pay = (fields: Record<string, unknown> = {}, api: Client = person.api) =>
  api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '9000', ...fields })
const statusOf = async (answer: Promise<{ body: Json }>) => (await answer).body.status

describe('payments to one payee that together reach an approval threshold', () => {
  test('need the approval that the sum needs, under whichever name the payee is paid', async () => {
    await threshold()
    const again = await newBeneficiary(person.api, { destination: '254733000111' })
    const twin = await newBeneficiary(person.api, { destination: '254733000111' })
    expect(await statusOf(pay({ beneficiary_id: again }))).toBe('processing')
    expect(await statusOf(pay({ beneficiary_id: twin }))).toBe('processing')
    const third = await pay({ beneficiary_id: again })
    expect(third.body.status).toBe('pending_approval')
    expect(third.body.decision.trace.find(({ rule }: Json) => rule === 'approval_threshold')).toMatchObject({
      used_minor: '18000',
      limit_minor: '20000',
      required_approvals: 1,
    })
    expect(third.body.decision.remedy.max_amount_minor).toBeNull()
    expect(await statusOf(pay())).toBe('processing')
  })

  test('do not count what somebody approved, what failed, and what was paid yesterday', async () => {
    await threshold()
    const large = await pay({ amount_minor: '50000' })
    await person.api.post(`/v1/approvals/${large.body.approval_id}/decide`, { decision: 'approve' })
    expect(await statusOf(pay())).toBe('processing')
    expect(await statusOf(pay())).toBe('processing')
    expect(await statusOf(pay())).toBe('pending_approval')
    await service.settle()
    service.clock.advance(86_400)
    person = await signIn(service.api, person.wallet)
    expect(await statusOf(pay())).toBe('processing')
    const mandate = await createMandate(service, person.wallet, { max_total_minor: '1000000', beneficiary_ids: [payee] })
    expect(await statusOf(pay({ amount_minor: '90000', mandate_id: mandate.id }))).toBe('processing')
    expect(await statusOf(pay())).toBe('processing')
  })

  test('count for a paybill over all of its accounts', async () => {
    await threshold()
    const paybill = { payment_rail: 'MPESA_B2B', destination: '247247' }
    const open = await newBeneficiary(person.api, { ...paybill, account_reference_required: true })
    const fixed = await newBeneficiary(person.api, { ...paybill, account_reference: 'A1' })
    expect(await statusOf(pay({ beneficiary_id: open, account_reference: 'B2' }))).toBe('processing')
    expect(await statusOf(pay({ beneficiary_id: fixed }))).toBe('processing')
    expect(await statusOf(pay({ beneficiary_id: open, account_reference: 'C3' }))).toBe('pending_approval')
  })

  test('count for a key what it and its children paid, and not what its owner paid', async () => {
    const agent = await createKey(person, { spending_controls: { approval_threshold_minor: '20000' } })
    const child = await createKey(agent)
    for (let n = 0; n < 3; n += 1) expect(await statusOf(pay({ amount_minor: '19000' }))).toBe('processing')
    expect(await statusOf(pay({}, child.api))).toBe('processing')
    expect(await statusOf(pay({}, agent.api))).toBe('processing')
    expect(await statusOf(pay({}, child.api))).toBe('pending_approval')
  })

  test('need as many people as the sum needs, although fewer approved its parts', async () => {
    await threshold()
    await threshold({ name: 'Very large', approval_threshold_minor: '40000', required_approval_count: 2 })
    const other = await signIn(service.api)
    const { token } = (await person.api.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
    await other.api.post('/v1/workspaces/invitations/accept', { token })
    const { workspace } = (await person.api.get('/v1/workspaces/current')).body
    await other.api.put('/v1/workspaces/current', { workspace_id: workspace.id })
    const approve = async ({ body }: { body: Json }, api: Client) =>
      (await api.post(`/v1/approvals/${body.approval_id}/decide`, { decision: 'approve' })).body
    const first = await pay({ amount_minor: '20000' })
    expect(first.body.decision.required_approvals).toBe(1)
    expect((await approve(first, other.api)).status).toBe('approved')
    await service.settle()
    const second = await pay({ amount_minor: '20000' })
    expect(second.body.decision.required_approvals).toBe(2)
    expect(second.body.decision.trace.filter(({ rule }: Json) => rule === 'approval_threshold')).toMatchObject([
      { used_minor: '0', limit_minor: '20000' },
      { used_minor: '20000', limit_minor: '40000' },
    ])
    expect((await approve(second, other.api)).status).toBe('pending')
    expect((await approve(second, person.api)).status).toBe('approved')
    await service.settle()
    // The payment does not count against itself in the second check, and two people have approved it.
    expect((await person.api.get(`/v1/payments/${second.body.id}`)).body.status).toBe('succeeded')
    expect((await pay({ amount_minor: '19000' })).body.status).toBe('processing')
    expect((await pay({ amount_minor: '1000' })).body.decision.required_approvals).toBe(2)
  })

  test('are all sent when nothing stops them, also those that were decided first', async () => {
    await threshold()
    const made = [await pay(), await pay()]
    await service.settle()
    for (const { body } of made) expect((await person.api.get(`/v1/payments/${body.id}`)).body.status).toBe('succeeded')
  })

  test('two hundred at once over two processes: no more than the threshold goes out without an approval', async () => {
    await threshold()
    const second = await startService({ database: service.database, clock: service.clock, env: { RATE_LIMIT_ENABLED: 'false' } })
    try {
      const apis = [person.api, second.api.as({ cookie: person.cookie })]
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, n) => pay({ amount_minor: '1000' }, apis[n % 2] ?? person.api)),
      )
      const counts = Map.groupBy(answers, ({ body }) => body.status)
      expect([counts.get('processing')?.length, counts.get('pending_approval')?.length]).toEqual([19, 181])
    } finally {
      await second.close()
    }
  })
})
