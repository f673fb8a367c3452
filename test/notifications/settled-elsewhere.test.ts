import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createKey, signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { openService } from '../harness/service.ts'
import { settledEvents } from '../harness/settled-events.ts'
import { openStream } from '../harness/stream.ts'

const service = await openService()

test('what is settled waits for older transactions of other databases, as they hide events when they end', async () => {
  const elsewhere = await createTestDatabase()
  const other = new pg.Client({ connectionString: elsewhere.url })
  await other.connect()
  await other.query('begin')
  await other.query('select pg_current_xact_id()')
  await signIn(service.api)
  let isSettled = false
  const settling = settledEvents(service, 60_000).then(() => {
    isSettled = true
  })
  for (let asked = 0; asked < 3; asked += 1) await service.api.get('/healthz')
  expect(isSettled).toBe(false)
  await other.query('commit')
  await settling
  await other.end()
  await elsewhere.drop()
})

/** The edge as computed at the moment when an old transaction of another database ends. */
const fallenBack = `create or replace function events_settled_before() returns xid8 language sql stable as $$ select '0'::xid8 $$`

test('a stream that resumes gets what was sent before, also while the edge has fallen back', async () => {
  const person = await signIn(service.api)
  // While a stream is open, the feed's place advances with its deliveries, and never moves back with the edge.
  const open = await openStream(person.api)
  await createKey(person)
  const grant = await open.next('grant.created')
  const key = await open.next('api_key.created')
  const database = new pg.Client({ connectionString: service.database.url })
  await database.connect()
  const { rows } = await database.query(`select pg_get_functiondef('events_settled_before'::regproc) as text`)
  onTestFinished(async () => {
    await database.query(rows[0].text)
    await database.end()
  })
  await database.query(fallenBack)
  const resumed = await openStream(person.api, { lastEventId: grant.id })
  expect((await resumed.next()).id).toBe(key.id)
  resumed.close()
  open.close()
})
