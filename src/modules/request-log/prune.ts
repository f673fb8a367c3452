import { type Db, statement } from '../../db/client.ts'
import { prune } from '../../db/prune.ts'

const removal = statement(
  'request_log.prune',
  `delete from request_log where id in (select id from request_log where at < $1 order by at limit $2 offset $3) returning 1`,
)

/** An account that sends more keeps the newest of them. */
export const mostOfAccount = 10_000

const trim = statement(
  'request_log.trim',
  `with cut as (
     select account_id, (select newer.id from request_log newer where newer.account_id = r.account_id order by newer.id desc offset $1 limit 1) as id
     from request_log r group by account_id having count(*) > $1)
   delete from request_log r using cut where r.account_id = cut.account_id and r.id <= cut.id`,
)

export const pruneRequestLog = async (db: Db, before: Date): Promise<void> => {
  await prune(db, { removal, before })
  await db.query(trim, [mostOfAccount])
}
