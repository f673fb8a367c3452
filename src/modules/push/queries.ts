import type { Config } from '../../config.ts'
import { type Db, statement } from '../../db/client.ts'
import { columnsOf } from '../../db/columns.ts'
import { sessionIsActive } from '../../db/credential-life.ts'
import { selectRow } from '../../db/select-rows.ts'
import { pushSubscriptions } from '../../db/tables/push.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'

export type SubscriptionRecord = typeof pushSubscriptions.$inferSelect

// As text, because whether a session is active is said there. A subscription ends with its session, whatever ended that.
const selectLive = `select ${columnsOf(pushSubscriptions, 'p')} from push_subscriptions p where (select ${sessionIsActive('s', '$2', '$3')} from sessions s where s.id = p.session_id)`
const live = statement(
  'push_subscriptions.live',
  `${selectLive} and p.account_id = any($1::uuid[]) order by p.account_id, p.id desc`,
)
const told = statement(
  'push_subscriptions.told',
  `${selectLive} and p.id = any(array(select n.subscription_id from push_notices n where n.approval_id = $1))`,
)

/** Those that have not ended of some accounts: of each the newest first. */
export const liveSubscriptions = (
  db: Db,
  clock: Clock,
  config: Config,
  accountIds: readonly Uuid[],
): Promise<SubscriptionRecord[]> => db.query<SubscriptionRecord>(live, [accountIds, clock.now(), config.SESSION_IDLE_DAYS])

/** Those of them that were told of an approval. */
export const toldSubscriptions = (db: Db, clock: Clock, config: Config, approvalId: Uuid): Promise<SubscriptionRecord[]> =>
  db.query<SubscriptionRecord>(told, [approvalId, clock.now(), config.SESSION_IDLE_DAYS])

/** Also one whose session has ended. */
export const findByEndpoint = selectRow('push_subscriptions.by_endpoint', pushSubscriptions, ['endpointHash'])
