import { and, asc, eq, sql } from 'drizzle-orm'
import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import type { Config } from '../../config.ts'
import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareWrite, upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { identities } from '../../db/tables/accounts.ts'
import { mails, notificationSettings } from '../../db/tables/mail.ts'
import { audit } from '../../events/audit.ts'
import { isoTimeOrNull } from '../../lib/clock.ts'
import { emailKey } from '../../lib/email-key.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { NotificationSettings, UpdateNotificationSettings } from './schema.ts'

type Row = typeof notificationSettings.$inferSelect

const findSettings = selectRow('notification_settings.of_account', notificationSettings, ['accountId'])

const addressesOf = prepare('identities.mailed', { accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ email: identities.email, refusedAt: identities.mailRefusedAt })
    .from(identities)
    .where(and(eq(identities.accountId, param.accountId), sql`${identities.emailVerified} and ${identities.email} is not null`))
    .orderBy(asc(identities.id)),
)

const defaults = {
  approvalsEmail: true,
  approvalsPush: true,
  listsEmail: true,
  balanceEmail: true,
  policiesEmail: true,
  language: 'en',
} as const satisfies Omit<Row, 'accountId' | 'updatedAt'>
const columns = Object.keys(defaults) as (keyof typeof defaults)[]

export const readSettings = async (db: Db, config: Config, accountId: Uuid): Promise<NotificationSettings> => {
  const [row = defaults, addresses] = await Promise.all([findSettings(db, { accountId }), db.run(addressesOf, { accountId })])
  // Two sign-in methods may have the same address, of which the one linked later was not refused.
  const byAddress = new Map<string, { email: string; refusedAt: Date | null }>()
  for (const { email, refusedAt } of addresses) {
    const key = emailKey(email ?? '')
    byAddress.set(key, { email: email ?? '', refusedAt: refusedAt ?? byAddress.get(key)?.refusedAt ?? null })
  }
  return {
    approvals: { email: row.approvalsEmail, push: row.approvalsPush },
    lists: { email: row.listsEmail },
    balance: { email: row.balanceEmail },
    policies: { email: row.policiesEmail },
    language: row.language,
    delivery: config.mailDelivery,
    addresses: [...byAddress.values()].map(({ email, refusedAt }) => ({ email, refused_at: isoTimeOrNull(refusedAt) })),
  }
}

export const updateSettings = async (tx: Tx, principal: Principal, input: UpdateNotificationSettings): Promise<void> => {
  const { accountId } = principal
  const before = { ...defaults, ...(await findSettings(tx, { accountId })) }
  const after: Omit<Row, 'accountId' | 'updatedAt'> = {
    approvalsEmail: input.approvals?.email ?? before.approvalsEmail,
    approvalsPush: input.approvals?.push ?? before.approvalsPush,
    listsEmail: input.lists?.email ?? before.listsEmail,
    balanceEmail: input.balance?.email ?? before.balanceEmail,
    policiesEmail: input.policies?.email ?? before.policiesEmail,
    language: input.language ?? before.language,
  }
  const changed = columns.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return
  // Needs fresh proof, because a stolen session could silence its owner.
  if (changed.some((name) => after[name] === false)) requireFreshProof(principal, tx.at)
  const row = { accountId, ...after, updatedAt: tx.at }
  await upsertRow(tx, notificationSettings, row, {
    key: [notificationSettings.accountId],
    replaced: [...columns, 'updatedAt'],
  })
  const pick = (all: object) => Object.fromEntries(Object.entries(all).filter(([name]) => changed.some((one) => one === name)))
  audit(tx, principal, 'notification_settings.update', { workspaceId: null, before: pick(before), after: pick(after) })
}

const withoutPush = prepare('notification_settings.without_push', { accountIds: 'uuid[]' }, (orm, param) =>
  orm
    .select({ accountId: notificationSettings.accountId })
    .from(notificationSettings)
    .where(sql`${notificationSettings.accountId} = any(${param.accountIds}) and not ${notificationSettings.approvalsPush}`),
)

export const wantingPush = async (db: Db, accountIds: readonly Uuid[]): Promise<Uuid[]> => {
  const without = await db.run(withoutPush, { accountIds })
  return accountIds.filter((id) => !without.some(({ accountId }) => accountId === id))
}

const removeMails = prepareWrite('mails.of_account', { accountId: 'uuid' }, (orm, param) =>
  orm.delete(mails).where(eq(mails.accountId, param.accountId)),
)
const removeSettings = prepareWrite('notification_settings.remove', { accountId: 'uuid' }, (orm, param) =>
  orm.delete(notificationSettings).where(eq(notificationSettings.accountId, param.accountId)),
)

/** Removes the account's settings and unsent e-mails. Called when the account is closed. */
export const removeMailData = async (tx: Tx, accountId: Uuid): Promise<void> => {
  tx.defer(tx.run(removeMails, { accountId }))
  tx.defer(tx.run(removeSettings, { accountId }))
}
