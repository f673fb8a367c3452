import { type Db, statement } from '../../../db/client.ts'
import { prune } from '../../../db/prune.ts'

const removal = statement(
  'payment_refusals.prune',
  `delete from payment_refusals where id in (
     select id from payment_refusals where created_at < $1 order by created_at limit $2 offset $3)
   returning 1`,
)

export const pruneRefusals = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
