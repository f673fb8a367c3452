import type { Principal } from '../../../auth/principal.ts'
import type { Db } from '../../../db/client.ts'
import { isUnavailable } from '../../../db/errors.ts'
import { prepareText } from '../../../db/prepare.ts'
import { insertOnce } from '../../../db/prepare-write.ts'
import { approvalViews } from '../../../db/tables/approvals.ts'
import { presenter } from '../../../http/presenter.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import type { ApprovalRecord } from './queries.ts'
import { type Approval, Notification } from './schema.ts'

const maxNotifications = 200

type Row = { accountId: Uuid; event: 'mailed' | 'mail_refused' | 'pushed' | 'opened'; at: Date }

/** One row for each person, event and kind of email, regardless of how many addresses and browsers the person has. */
const readNotified = prepareText<Row>()(
  'approvals.notified',
  { id: 'uuid' },
  `select account_id as "accountId", event, min(at) as at from (
     select account_id, case state when 'sent' then 'mailed' else 'mail_refused' end as event, kind, ended_at as at from mails
       where subject_id = key.id and subject_kind = 'approval' and account_id is not null and state in ('sent', 'refused')
     union all select account_id, 'pushed', '', requested_at from push_notices where approval_id = key.id and account_id is not null
     union all select account_id, 'opened', '', opened_at from approval_views where approval_id = key.id) as notified
   group by account_id, event, kind order by at, event = 'opened' limit ${maxNotifications}`,
  'page',
)

const shown = presenter(Notification)

type Notifications = NonNullable<Approval['notifications']>

/** The accounts that were notified of an approval or opened it, oldest first. */
export const readNotifications = async (db: Db, id: Uuid): Promise<Notifications> =>
  (await db.run(readNotified, { id })).map((row) => shown(row))

/**
 * Records that the caller opened the approval, if the caller is a person who may decide it. Returns the notifications including
 * this one. If the database cannot be written, the approval can still be read.
 */
export const recordOpening = async (
  { clock, db }: Pick<Parts, 'clock' | 'db'>,
  { accountId, grant }: Principal,
  { approval }: ApprovalRecord,
  { known: earlier, eligible }: { known: Notifications; eligible: readonly string[] },
): Promise<Notifications> => {
  const own = formatId('account', accountId)
  const isOpened = earlier.some(({ account_id: id, event }) => id === own && event === 'opened')
  if (isOpened || grant !== null || approval.status !== 'pending' || !eligible.includes(own)) return earlier
  const row: Row = { accountId, event: 'opened', at: clock.now() }
  try {
    await insertOnce(db, approvalViews, { approvalId: approval.id, accountId, openedAt: row.at })
  } catch (error) {
    if (isUnavailable(error)) return earlier
    throw error
  }
  return [...earlier, shown(row)]
}
