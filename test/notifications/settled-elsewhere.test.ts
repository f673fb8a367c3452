import pg from 'pg'
import { expect, test } from 'vitest'
import { signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { openService } from '../harness/service.ts'
import { settledEvents } from '../harness/settled-events.ts'

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
