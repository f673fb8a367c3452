import { index, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from './accounts.ts'
import { approvals } from './approvals.ts'
import { bytes, id, idOf, instant } from './columns.ts'
import { sessions } from './sessions.ts'

/** A browser subscribed to approval notifications (Web Push, RFC 8030). Deleted with its session. */
export const pushSubscriptions = pgTable(
  'push_subscriptions',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    sessionId: uuid()
      .references(() => sessions.id, { onDelete: 'cascade' })
      .notNull(),
    /** The push service's URL and the browser's secret (RFC 8291), which are enough to send. Encrypted under the row's id. */
    endpointCiphertext: bytes().notNull(),
    endpointKeyId: text().notNull(),
    endpointHash: bytes().notNull(),
    p256dh: bytes().notNull(),
    /** The server's public key (VAPID) for the subscription. Null: not recorded. */
    vapidKey: text(),
    userAgent: text(),
    createdAt: instant().notNull(),
  },
  (t) => [
    uniqueIndex('push_subscriptions_endpoint_key').on(t.endpointHash),
    index('push_subscriptions_account').on(t.accountId, t.id),
    index('push_subscriptions_session').on(t.sessionId),
  ],
)

/** An approval notification for one subscription. Written before the notification is sent, so that it is never sent twice. */
export const pushNotifications = pgTable(
  'push_notices',
  {
    approvalId: idOf(() => approvals.id).notNull(),
    subscriptionId: uuid().notNull(),
    /** A plain id, which outlives the subscription. Null: not recorded. */
    accountId: uuid(),
    requestedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.approvalId, t.subscriptionId] })],
)
