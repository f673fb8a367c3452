import { expect, test } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import type { Query } from '../../src/db/statement.ts'
import { typeIdSql } from '../../src/operate/verify/audit-log.ts'
import { stateChecks } from '../../src/operate/verify/states.ts'
import { factsOf } from '../../src/operate/verify/verify.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

// A machine may be twenty times slower than ours: the test measures work, not time.
const service = await openService({ fixed: { DATABASE_STATEMENT_TIMEOUT_MS: 150_000 } })

type Node = { 'Actual Rows': number; 'Actual Loops': number; Plans?: Node[] } & Record<string, unknown>

/** The rows that a plan's nodes returned or checked in vain, over all loops. */
const rowsOf = (node: Node): number => {
  const removed = Object.entries(node).flatMap(([name, count]) => (name.startsWith('Rows Removed') ? Number(count) : []))
  const own = removed.reduce((sum, count) => sum + count, node['Actual Rows']) * node['Actual Loops']
  return (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), own)
}

/** Building indexes after the rows is cheaper than with each row. */
const behindIndexes = async (table: string, insert: () => Promise<void>): Promise<void> => {
  const { db } = service.deps
  const indexes = await db.query<{ name: string; text: string }>(
    `select indexrelid::regclass::text as name, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as text from pg_index
     where indrelid = $1::regclass and not indisprimary`,
    [table],
  )
  for (const { name } of indexes) await db.query(`drop index ${name}`)
  await insert()
  for (const { text } of indexes) await db.query(text)
}

test('the statuses of 14,000 top-ups are compared with their events by looking at each a few times', async () => {
  const { db } = service.deps
  const person = await signIn(service.api)
  const asked = await person.api.post('/v1/topups/initiate', { amount_minor: '10000', phone_number: '254722000001' })
  expect(asked.status).toBe(201)
  await service.settle()
  const check = stateChecks.find(({ promise }) => promise.includes('every topup '))
  const find = (by: Db = db) => check?.find(by, { ...factsOf(service.deps), since: null, sealedThrough: '0' })
  expect(await find()).toEqual([])
  // Copies of it with their events, and payments' events, from which the planner estimates how few belong to top-ups.
  await db.query(`insert into topups select copied.* from topups t, generate_series(1, 14000) n,
    jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', null, 'request_hash', null,
      'provider_receipt', 'MANY' || n)) as copied`)
  await behindIndexes('events', async () => {
    await db.query(`with t as materialized (select *, ${typeIdSql('topup', 'id')} as name from topups where provider_receipt like 'MANY%')
      insert into events (id, type, account_id, workspace_id, data, created_at)
      select overlay(gen_random_uuid()::text placing first from 1 for 1)::uuid, 'topup.' || told.status, t.account_id, t.workspace_id,
        json_build_object('id', t.name, 'status', told.status), t.created_at
      from t, (values ('pending', '0'), ('succeeded', 'f')) as told(status, first)`)
    await db.query(`insert into events (id, type, account_id, payment_id, created_at)
      select gen_random_uuid(), 'payment.' || (array['created', 'processing', 'succeeded', 'failed'])[1 + n % 4], t.account_id, gen_random_uuid(), t.created_at
      from (select * from topups limit 1) t, generate_series(1, 180000) n`)
  })
  await db.query('analyze')
  // One top-up has an event too many, and only that one is found.
  await db.query(`insert into events (id, type, account_id, workspace_id, data, created_at)
    select gen_random_uuid(), 'topup.failed', t.account_id, t.workspace_id, json_build_object('id', ${typeIdSql('topup', 't.id')}, 'status', 'failed'), t.created_at
    from topups t where provider_receipt = 'MANY7'`)
  let rows = 0
  const query: Query = async (statement, values) => {
    const text = typeof statement === 'string' ? statement : statement.text
    const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Node }[] }>(
      `explain (analyze, timing off, format json) ${text}`,
      values,
    )
    rows += rowsOf(explained?.['QUERY PLAN'][0]?.Plan as Node)
    return db.query(statement, values)
  }
  expect(await find({ ...db, query })).toEqual([expect.stringContaining('published succeeded to failed, is succeeded')])
  expect(rows).toBeGreaterThan(14_000)
  expect(rows).toBeLessThan(5_000_000)
})
