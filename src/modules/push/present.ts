import { isoTime } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import type { SubscriptionRecord } from './queries.ts'
import type { PushSubscription } from './schema.ts'

export const presentSubscription = ({
  id,
  createdAt,
  userAgent,
}: Pick<SubscriptionRecord, 'id' | 'createdAt' | 'userAgent'>): PushSubscription => ({
  id: formatId('push_subscription', id),
  created_at: isoTime(createdAt),
  user_agent: userAgent,
})
