import { expect, test } from 'vitest'
import { findEvent } from '../../src/events/read.ts'
import { parseId, type Uuid } from '../../src/lib/ids.ts'
import { findApproval, presentApproval } from '../../src/modules/payments/approvals/queries.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const { db } = service.deps

type Stored = { id: Uuid; type: string; data: Json; status: string }
const storedOf = (approvalId: string) =>
  db.query<Stored>(
    `select id, type, data, data->'payment'->>'status' as status from events where type like 'approval.%' and data->>'id' = $1 order by id`,
    [approvalId],
  )

/** The current approval as text, because the order of its fields counts too. */
const approvalNow = async (id: string): Promise<Json> => {
  const record = await findApproval(db, parseId('approval', id) as Uuid)
  return JSON.parse(JSON.stringify(record && presentApproval(record)))
}

const publishedOf = async (approvalId: string): Promise<string[]> =>
  Promise.all((await storedOf(approvalId)).map(async ({ id }) => JSON.stringify((await findEvent(db, id))?.data)))

const asking = async (): Promise<Person & { beneficiary: string }> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1' })
  return { ...person, beneficiary: await newBeneficiary(person.api, { display_name: 'Ä "quoted" \\ payee' }) }
}

const ends = {
  approved: ({ api }, { approval_id: id }) =>
    api.post(`/v1/approvals/${id}/decide`, { decision: 'approve', reason: 'Fits “March”' }),
  rejected: ({ api }, { approval_id: id }) => api.post(`/v1/approvals/${id}/decide`, { decision: 'reject' }),
  cancelled: ({ api }, { id }) => api.post(`/v1/payments/${id}/cancel`),
} satisfies Record<string, (person: Person, payment: Json) => Promise<{ status: number }>>

test.each(Object.entries(ends))('of an approval that is %s, the events are the approval as it was', async (end, act) => {
  const person = await asking()
  const payment = (await person.api.post('/v1/payments', { beneficiary_id: person.beneficiary, amount_minor: '150000' })).body
  const id = payment.approval_id
  const asked = await approvalNow(id)
  expect(asked).toMatchObject({
    status: 'pending',
    signing: { approve: expect.any(String) },
    payment: { decision: expect.any(Object) },
  })
  expect(await publishedOf(id)).toEqual([JSON.stringify(asked)])
  expect((await act(person, payment)).status).toBe(200)
  const ended = await approvalNow(id)
  const stored = await storedOf(id)
  expect(stored.map(({ type }) => type)).toEqual(['approval.requested', `approval.${end}`])
  // Published before the send of its payment.
  const published = { ...ended, payment: { ...ended.payment, status: stored[1]?.status } }
  expect(await publishedOf(id)).toEqual([asked, published].map((approval) => JSON.stringify(approval)))
  await service.settle()
  expect(await publishedOf(id)).toEqual([asked, published].map((approval) => JSON.stringify(approval)))
})

test("of a batch's approval too", async () => {
  const person = await asking()
  const items = [1, 2].map((n) => ({ beneficiary_id: person.beneficiary, amount_minor: `${n}0000` }))
  const batch = (await person.api.post('/v1/payment-batches', { items })).body
  const asked = await approvalNow(batch.approval_id)
  expect(asked).toMatchObject({ payment: null, batch: { items_count: 2 }, signing: { reject: expect.any(String) } })
  expect(await publishedOf(batch.approval_id)).toEqual([JSON.stringify(asked)])
})
