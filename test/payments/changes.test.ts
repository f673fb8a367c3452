import pg from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { firstIdAt, parseId } from '../../src/lib/ids.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary, unguarded } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { settledEvents } from '../harness/settled-events.ts'

const service = await openService()
let person: Person
let payee: string
let began: string
beforeEach(async () => {
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  payee = await newBeneficiary(person.api)
  service.clock.advance(3_600)
  began = service.clock.now().toISOString()
})

const pay = async (fields: Json = {}): Promise<string> => {
  service.clock.advance(1)
  return (await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10000', ...fields })).body.id
}
const later = () => new Date(service.clock.now().getTime() + 86_400_000).toISOString()
const cancel = (id: string) => {
  service.clock.advance(1)
  return person.api.post(`/v1/payments/${id}/cancel`)
}
const changes = async (query = '', path = '/v1/payments', since = began) => {
  await settledEvents(service)
  const answer = await person.api.get(`${path}?updated_after=${since}${query}`)
  expect(answer.status).toBe(200)
  return { ids: answer.body.data.map(({ id }: Json) => id), cursor: answer.body.next_cursor }
}

describe('with updated_after', () => {
  test('the oldest change comes first, what changes meanwhile comes again, and the last cursor goes on from there', async () => {
    const [one, two, three] = [await pay({ execute_at: later() }), await pay({ execute_at: later() }), await pay()]
    const first = await changes('&limit=1')
    expect(first.ids).toEqual([one])
    await cancel(one)
    const second = await changes(`&cursor=${first.cursor}&limit=100`)
    // The third is being sent: its number of changes does not matter here.
    expect([...new Set(second.ids.filter((id: string) => id !== three))]).toEqual([two, one])
    await service.settle()
    const sent = await changes(`&cursor=${second.cursor}`)
    expect(sent.ids).toEqual([three])
    expect(await changes(`&cursor=${sent.cursor}`)).toEqual({ ids: [], cursor: null })
    await cancel(two)
    expect((await changes(`&cursor=${sent.cursor}`)).ids).toEqual([two])
    expect((await changes('&status=cancelled')).ids).toEqual([one, two])
    const elsewhere = await person.api.get(`/v1/payments?updated_after=${began}&status=failed&cursor=${sent.cursor}`)
    expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_cursor'])
    const file = await person.api.get(`/v1/payments?updated_after=${began}&status=cancelled`, { headers: { accept: 'text/csv' } })
    expect(
      file.text
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0]),
    ).toEqual([one, two])
  })

  test('only changes after that time are listed, also of payments that are older', async () => {
    const [old, kept] = [await pay({ execute_at: later() }), await pay({ execute_at: later() })]
    service.clock.advance(60)
    const since = service.clock.now().toISOString()
    expect((await changes('', '/v1/payments', since)).ids).toEqual([])
    await cancel(old)
    expect((await changes('', '/v1/payments', since)).ids).toEqual([old])
    expect((await changes()).ids).toEqual([kept, old])
    const wrong = await person.api.get('/v1/payments?updated_after=yesterday')
    expect([wrong.status, wrong.body.details.param]).toEqual([400, 'updated_after'])
  })

  test('a change is never skipped that a long transaction commits after newer ones were read', async () => {
    const [slow, quick] = [await pay({ execute_at: later() }), await pay({ execute_at: later() })]
    const before = await changes()
    const long = new pg.Client({ connectionString: service.database.url })
    await long.connect()
    onTestFinished(() => long.end())
    await long.query('begin')
    await long.query('update payments set updated_at = $2 where id = $1', [parseId('payment', slow), service.clock.now()])
    service.clock.advance(7_200)
    await cancel(quick)
    const read = async (cursor = '') => {
      const { data, next_cursor: next } = (await person.api.get(`/v1/payments?updated_after=${began}${cursor}`)).body
      return { ids: data.map(({ id }: Json) => id), next }
    }
    // The newer change waits for the older transaction, so nothing is between the cursor and it.
    expect((await read(`&cursor=${before.cursor}`)).ids).toEqual([])
    const job = service.clock.now().toISOString()
    await pay()
    await long.query('commit')
    await service.settle()
    const [next, ...others] = (await changes(`&cursor=${before.cursor}`)).ids
    expect([next, others[0]]).toEqual([slow, quick])
    // A later list uses the time alone.
    expect((await changes('', '/v1/payments', job)).ids).not.toContain(slow)
  })

  test('a list begun while a transaction is open has its change on a later page, although its time is older', async () => {
    const [slow, quick] = [await pay({ execute_at: later() }), await pay({ execute_at: later() })]
    const older = service.clock.now()
    service.clock.advance(60)
    const since = service.clock.now().toISOString()
    await cancel(quick)
    await settledEvents(service)
    const long = new pg.Client({ connectionString: service.database.url })
    await long.connect()
    onTestFinished(() => long.end())
    await long.query('begin')
    await long.query('update payments set updated_at = $2 where id = $1', [parseId('payment', slow), older])
    const { data, next_cursor: cursor } = (await person.api.get(`/v1/payments?updated_after=${since}`)).body
    expect(data.map(({ id }: Json) => id)).toEqual([quick])
    await long.query('commit')
    expect((await changes(`&cursor=${cursor}`, '/v1/payments', since)).ids).toEqual([slow])
  })

  test('what changed long before that time is not read, except rows that are older than the order of changes', async () => {
    const [one, two] = [await pay({ execute_at: later() }), await pay({ execute_at: later() })]
    const at = service.clock.now()
    // An hour without changes, so that an audit row shows the transaction at its end.
    service.clock.advance(3_600)
    const id = firstIdAt(new Date(service.clock.now().getTime() - 1_800_000))
    await service.deps.db.transaction((tx) =>
      tx.query(`insert into audit_log (id, at, action) values ($1, $2, 'account.update')`, [id, at]),
    )
    await cancel(two)
    const since = new Date(service.clock.now().getTime() - 60_000).toISOString()
    const [row, time] = [parseId('payment', one), service.clock.now()]
    await unguarded(service, 'update payments set updated_at = $2 where id = $1', [row, time])
    expect((await changes('', '/v1/payments', since)).ids).toEqual([two])
    await unguarded(service, `update payments set changed = '0' where id = $1`, [row])
    expect((await changes('', '/v1/payments', since)).ids).toEqual([one, two])
  })

  test('batches are listed by their changes too', async () => {
    const make = async () => {
      service.clock.advance(1)
      const items = [{ beneficiary_id: payee, amount_minor: '20000' }]
      const body = { items, execute_at: later(), duplicates_intended: true }
      return (await person.api.post('/v1/payment-batches', body)).body.id
    }
    const [one, two] = [await make(), await make()]
    const path = '/v1/payment-batches'
    const first = await changes('&limit=1', path)
    expect(first.ids).toEqual([one])
    service.clock.advance(1)
    expect((await person.api.post(`${path}/${one}/cancel`)).status).toBe(200)
    const second = await changes(`&cursor=${first.cursor}`, path)
    expect(second.ids).toEqual([two, one])
    expect((await changes(`&cursor=${second.cursor}`, path)).cursor).toBeNull()
  })
})
