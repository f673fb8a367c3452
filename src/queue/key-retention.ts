import { lt } from 'drizzle-orm'
import type { Db } from '../db/client.ts'
import { prepareRemoval, prune } from '../db/prune.ts'
import { idempotencyKeys } from '../db/tables/events.ts'

const removal = prepareRemoval('idempotency.prune', idempotencyKeys, {
  key: idempotencyKeys.scope,
  when: (before) => lt(idempotencyKeys.createdAt, before),
  by: [idempotencyKeys.createdAt, idempotencyKeys.scope],
})

export const idempotencyRetentionDays = 1

export const pruneIdempotencyKeys = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
