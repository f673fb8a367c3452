import { type Db, statement } from '../db/client.ts'
import { prune } from '../db/prune.ts'

const removal = statement(
  'idempotency.prune',
  'delete from idempotency_keys where scope in (select scope from idempotency_keys where created_at < $1 order by created_at, scope limit $2 offset $3) returning 1',
)

export const idempotencyRetentionDays = 1

export const pruneIdempotencyKeys = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
