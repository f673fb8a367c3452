import { type Db, statement } from '../../db/client.ts'
import { prepareRemoval, prune } from '../../db/prune.ts'
import { requestLog } from '../../db/tables/request-log.ts'

const removal = prepareRemoval('request_log.prune', requestLog.id, requestLog.at, { orderBy: [requestLog.at] })

/** Maximum number of requests kept per account. Only the newest are kept. */
const maxOfAccount = 10_000

const trimAccounts = statement('request_log.trim')`
  with cut as (
     -- Ordered by the account too, for the index on both.
     select account_id, (select newer.id from request_log newer where newer.account_id = r.account_id
       order by newer.account_id desc, newer.id desc offset $1 limit 1) as id
     from request_log r group by account_id having count(*) > $1)
   delete from request_log r using cut where r.account_id = cut.account_id and r.id <= cut.id`

export const pruneRequestLog = async (db: Db, before: Date): Promise<void> => {
  await prune(db, { removal, before })
  await db.query(trimAccounts, [maxOfAccount])
}
