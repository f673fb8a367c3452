import { beginningOf, type Check, most } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import { unpack } from '../../lib/packed-text.ts'

const page = 1_000
const first: Uuid = '00000000-0000-0000-0000-000000000000'

type Row = { id: Uuid; key: string; snapshot: Buffer | null }

const isKept = ({ key, snapshot }: Row): boolean => {
  if (snapshot === null) return false
  const answer: unknown = JSON.parse(unpack(snapshot))
  return typeof answer === 'object' && answer !== null && 'idempotency_key' in answer && answer.idempotency_key === key
}

/** Page by page, as no statement can look into a packed answer. */
const withoutAnswer = async (db: Db, table: 'payments' | 'topups', since: string): Promise<Uuid[]> => {
  const found: Uuid[] = []
  for (let last = first; found.length < most; ) {
    const rows = await db.query<Row>(
      `select id, idempotency_key as key, snapshot from ${table}
       where idempotency_key is not null and created_at >= $1::timestamptz and id > $2 order by id limit ${page}`,
      [since, last],
    )
    found.push(...rows.filter((row) => !isKept(row)).map(({ id }) => id))
    const end = rows.at(-1)
    if (end === undefined || rows.length < page) break
    last = end.id
  }
  return found
}

export const answerChecks: readonly Check[] = [
  {
    invariant: 'I4',
    promise: 'a record that keeps an idempotency key keeps the answer to it',
    find: async (db, facts) => {
      const since = beginningOf(facts)
      const found = [...(await withoutAnswer(db, 'payments', since)), ...(await withoutAnswer(db, 'topups', since))]
      return found.slice(0, most)
    },
  },
]
