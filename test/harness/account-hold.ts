import { setTimeout as wait } from 'node:timers/promises'
import { lockAccount } from '../../src/db/account-lock.ts'
import { parseId } from '../../src/lib/ids.ts'
import type { TestService } from './service.ts'

const waitingNow = `select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`

export type Hold = {
  /** Resolves once at least this many transactions wait for account locks. */
  waiting: (count: number) => Promise<void>
  release: () => Promise<void>
}

/** Another transaction that holds an account's lock until it is released. Transactions that need the account wait. */
export const holdAccount = async (service: TestService, accountId: string): Promise<Hold> => {
  const account = parseId('account', accountId)
  if (!account) throw new Error('not an account id')
  const { db } = service.deps
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const transaction = db.transaction(async (tx) => {
    await lockAccount(tx, account)
    held.resolve()
    await released.promise
  })
  await held.promise
  return {
    waiting: async (count) => {
      for (let tries = 0; tries < 12_000; tries += 1) {
        const [row] = await db.query<{ waiting: number }>(waitingNow)
        if ((row?.waiting ?? 0) >= count) return
        await wait(5)
      }
      throw new Error('nothing came to wait for the account')
    },
    release: async () => {
      released.resolve()
      await transaction
    },
  }
}
