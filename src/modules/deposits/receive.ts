import { sha256 } from '../../auth/secrets.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { DepositRail } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'
import { parseJson } from '../../rails/fields.ts'
import type { DepositAdapter } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'
import { keepUnreadable } from '../sending/deliveries.ts'
import { recordSuspense } from '../suspense/service.ts'
import { findTopupById, isCreditable } from '../topups/queries.ts'
import { findTarget, recordConflictingNotification, recordDeposit, settleDeposit } from './deposit.ts'
import { railOfSecret } from './registration.ts'

/** Stores the notification only if it creates a suspense item. */
const keepAsSuspense = (
  { db, vault }: Pick<Parts, 'db' | 'vault'>,
  body: string,
  record: (tx: Tx, deliveryId: Uuid) => Promise<Uuid | undefined>,
): Promise<void> =>
  inTx(db, async (tx) => {
    const kept = { id: newId(), kind: 'deposit', body }
    if ((await record(tx, kept.id)) !== undefined) keepUnreadable(tx, vault, kept)
  })

/** The statement may list the money under its receipt, which then refuses to be booked again for this item. */
const recordUnreadable = (tx: Tx, rail: DepositRail, receipt: string | null, deliveryId: Uuid, body: string) => {
  const digest = `notice ${sha256(body).toString('hex').slice(0, 12)}`
  const about = { receipt, digest, deliveryId, isRepeated: true }
  return recordSuspense(tx, { ...about, rail, direction: 'in', reason: 'unbookable_delivery', book: false })
}

type ReceivedNotification = { rail: DepositRail; notification: ReturnType<DepositAdapter['readNotification']>; body: string }

/** Answers once the notification is stored. If booking fails, the sweep retries it. */
const confirm = async (deps: Parts, { rail, notification, body }: ReceivedNotification): Promise<object> => {
  if (notification === null) return deposits[rail].accepted
  const isUnreadable = 'unreadable' in notification
  const id = isUnreadable ? undefined : await recordDeposit(deps, rail, notification, { source: 'notice', body })
  if (id)
    await settleDeposit(deps.db, id).catch((error: unknown) =>
      deps.logger.error({ deposit: id, ...describeError(error) }, 'deposit not booked; it will be retried'),
    )
  else
    await keepAsSuspense(deps, body, (tx, deliveryId) =>
      isUnreadable
        ? recordUnreadable(tx, rail, notification.receipt, deliveryId, body)
        : recordConflictingNotification(tx, rail, notification, deliveryId),
    )
  return deposits[rail].accepted
}

const validate = async (deps: Parts, { rail, notification }: ReceivedNotification): Promise<object> => {
  const { accepted, unknownAccount } = deposits[rail]
  if (!notification || 'unreadable' in notification || unknownAccount === null) return accepted
  const target = await findTarget(deps.db, notification.reference)
  const topup = target && (await findTopupById(deps.db, { id: target.topupId }))
  return topup && (await isCreditable(deps.db, topup)) ? accepted : unknownAccount
}

/** Undefined if the path does not exist. An unauthorized sender gets the same answer as the provider. */
export const answerDeposit = async (
  deps: Parts,
  { secret, kind, body, allowedSource }: { secret: string; kind: string; body: string; allowedSource: boolean },
): Promise<object | undefined> => {
  const answer = kind === 'confirmation' ? confirm : kind === 'validation' ? validate : undefined
  if (!answer) return undefined
  const rail = railOfSecret(deps.derivations, secret)
  const adapter = rail && deps.rails.deposits[rail]
  if (rail && adapter && allowedSource) {
    const read = adapter.readNotification(parseJson(body))
    const isForeign = read && 'currency' in read && read.currency !== deps.config.CURRENCY
    const notification = isForeign ? ({ unreadable: true, receipt: read.receipt } as const) : read
    return answer(deps, { rail, notification, body })
  }
  deps.logger.warn({ rail, allowedSource }, 'deposit callback rejected')
  return Object.values(deposits)[0]?.accepted
}
