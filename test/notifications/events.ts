import pg from 'pg'
import { formatId, newId, parseId } from '../../src/lib/ids.ts'
import type { TestService } from '../harness/service.ts'

/** Simulates another process's open transaction: writes events for an account, and commits on the test's command. */
export const beginWriter = async (service: TestService, accountId: string) => {
  const client = new pg.Client({ connectionString: service.database.url })
  await client.connect()
  await client.query('begin')
  return {
    write: async (count = 1, bytes = 0): Promise<string[]> => {
      const ids = Array.from({ length: count }, newId)
      await client.query(
        `insert into events (id, type, account_id, data, created_at)
         select id, 'balance.updated', $2, jsonb_build_object('filler', repeat('x', $3::int)), $4 from unnest($1::uuid[]) as id`,
        [ids, parseId('account', accountId), bytes, service.clock.now()],
      )
      return ids.map((id) => formatId('event', id))
    },
    commit: async () => {
      await client.query('commit')
      await client.end()
      service.deps.feed.wake()
    },
    rollback: async () => {
      await client.query('rollback')
      await client.end()
    },
  }
}
