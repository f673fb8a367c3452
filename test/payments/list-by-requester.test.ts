import { expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
await credit(service, person.accountId, 1_000_000n)
const beneficiary_id = await newBeneficiary(person.api)
const newest = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1000' })).body
const [rare, unused] = [await createKey(person), await createKey(person)]
const grantOf = (key: typeof rare) => key.grantId

/** 6,000 earlier payments, 30 of them by a key: two among the newest, the others among the oldest. Every third failed. */
for (let from = 1; from <= 6_000; from += 1_000)
  await service.deps.db.query(
    `insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', md5('made' || n)::uuid, 'grant_id', case when n in (10, 11) or n > 5972 then $1::uuid end,
     'created_at', p.created_at - n * interval '1 minute', 'hold_transfer_id', md5('hold' || n)::uuid, 'idempotency_key', null, 'request_hash', null, 'dispatch_due_at', null,
     'status', case when n % 3 = 0 then 'failed' else 'succeeded' end, 'amount_minor', 1000 + n,
     'id', overlay(md5('made' || n)::uuid::text placing left(first_id_at(p.created_at - n * interval '1 minute')::text, 13) from 1)))).*
   from payments p cross join generate_series($2::int, $2::int + 999) n where p.id = $3`,
    [parseId('grant', grantOf(rare)), from, parseId('payment', newest.id)],
  )
await service.deps.db.query('analyze payments')

const pagesOf = async (query: string): Promise<string[]> => {
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await person.api.get(`/v1/payments?limit=7&${query}${cursor && `&cursor=${cursor}`}`)
    found.push(...body.data.map(({ amount_minor }: { amount_minor: string }) => amount_minor))
    cursor = body.next_cursor
  }
  return found
}

const asked = [10, 11, ...Array.from({ length: 28 }, (_, index) => 5973 + index)]
const amounts = (numbers: readonly number[]) => numbers.map((n) => String(1000 + n))

test('every page of what a key asked for is complete, and in order, however far back it is', async () => {
  const grant = `grant_id=${grantOf(rare)}`
  expect(await pagesOf(grant)).toEqual(amounts(asked))
  expect(await pagesOf(`${grant}&status=failed`)).toEqual(amounts(asked.filter((n) => n % 3 === 0)))
  expect(await pagesOf(`${grant}&amount_min_minor=${1000 + 5990}`)).toEqual(amounts(asked.filter((n) => n >= 5990)))
  expect(await pagesOf(`${grant}&amount_max_minor=${1000 + 5990}`)).toEqual(amounts(asked.filter((n) => n <= 5990)))
  expect(await pagesOf(`${grant}&initiator_account_id=${person.accountId}`)).toEqual(amounts(asked))
  expect(await pagesOf(`grant_id=${grantOf(unused)}`)).toEqual([])
  expect(await pagesOf(`${grant}&created_before=2000-01-01T00:00:00Z`)).toEqual([])
  expect(await pagesOf(`${grant}&created_after=2000-01-01T00:00:00Z`)).toEqual(amounts(asked))
})

test('another workspace’s person finds none of them', async () => {
  const stranger = await signIn(service.api)
  const { body } = await stranger.api.get(`/v1/payments?grant_id=${grantOf(rare)}`)
  expect(body.data).toEqual([])
})
