import { and, desc, lte, ne, sql } from 'drizzle-orm'
import { type Database, inTx, statement, type Tx } from '../../db/client.ts'
import type { LossCause } from '../../db/loss-detection.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce, prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { endSendLogs } from '../../db/send-log-registry.ts'
import { payments, railAttempts } from '../../db/tables/payments.ts'
import { railPauses, writeLosses } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { Refusal } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { type Provider, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import { attemptsOf } from '../attempts/attempt.ts'
import { nameOfOperator, type Operator, timerOperator } from '../operators.ts'
import type { Parts } from '../parts.ts'
import { railsThatMayPayTwice, sentBeforeLoss } from '../payments/lost-writes.ts'
import { lockPaymentWithAccount } from '../payments/queries.ts'
import { settlePayments } from '../payments/settle.ts'
import { closeLosses, listPauses, pauseRail } from './pauses-service.ts'

/** Records a loss: payments requested before this time count as possibly sent. */
const recordLoss = (tx: Tx, operator: Operator): Promise<boolean> =>
  insertOnce(tx, writeLosses, { noticedAt: tx.at, noticedBy: nameOfOperator(operator) })

const waitingPayments = prepare('restore.waiting_payments', { until: 'timestamptz?', rails: 'text[]' }, 'pool', (orm, param) =>
  orm
    .select({ id: payments.id })
    .from(payments)
    .where(
      and(
        sql`${payments.status} = 'processing'`,
        sql`${payments.rail} = any(${param.rails})`,
        param.until && lte(payments.updatedAt, param.until),
        sql`not exists (select from ${railAttempts} where ${railAttempts.subjectId} = ${payments.id}
            and ${railAttempts.state} not in ('not_sent', 'recorded'))`,
      ),
    )
    .limit(200),
)

const makeWaitingUnknown = async (db: Database, operator: Operator, until: Date | null, rails: readonly SendingRail[]) => {
  let unknown = 0
  for (let more = true; more; ) {
    const waiting = await db.run(waitingPayments, { until, rails })
    for (const { id } of waiting)
      await inTx(db, async (tx) => {
        const payment = await lockPaymentWithAccount(tx, id)
        // A claim of the right to send may have committed after the page was read: only evidence ends that attempt.
        if ((await attemptsOf(tx, [id])).some(({ state }) => state !== 'not_sent' && state !== 'recorded')) return
        await settlePayments(tx, [{ payment, evidence: sentBeforeLoss, source: { kind: 'operator', actor: operator } }])
        updateRow(tx, payments, { id }, { dispatchDueAt: null })
      })
    unknown += waiting.length
    more = waiting.length > 0
  }
  return unknown
}

const restored = 'restored from a backup: reconcile first'

/** An operator who repeats a command does so within hours. */
const repeatedWithinHours = 24

const newestLoss = prepare('write_losses.newest', {}, (orm) =>
  orm.select().from(writeLosses).orderBy(desc(writeLosses.noticedAt)).limit(1),
)

/** The end of a loss must not be taken for a restore: repeating the command that ended it would pause the rails again. */
const refuseRepetition = async (tx: Tx): Promise<void> => {
  const [loss] = await tx.run(newestLoss, {})
  if (!loss?.endedAt || loss.endedAt < secondsAfter(tx.at, -repeatedWithinHours * 3600)) return
  throw new Refusal('conflict', {
    message: `If this database was restored, add --again yes: it pauses all rails and makes waiting payments unknown. Otherwise there is nothing to do: ${loss.endedBy} ended the loss of ${loss.noticedAt.toISOString()} at ${loss.endedAt.toISOString()}, and the rails are resumed.`,
  })
}

/**
 * After a restore, pauses all rails and makes waiting payments `unknown`: they may have been sent since, so none is resent.
 * `again`: even if a loss ended a short time ago.
 */
export const markWaitingUnknown = async (
  db: Database,
  operator: Operator,
  { again = false }: { again?: boolean } = {},
): Promise<{ unknown: number }> => {
  await inTx(db, async (tx) => {
    if (!again) await refuseRepetition(tx)
    for (const rail of sendingRails) await pauseRail(tx, operator, rail, restored)
    await recordLoss(tx, operator)
    await tx.run(endSendLogs, {})
  })
  return { unknown: await makeWaitingUnknown(db, operator, null, sendingRails) }
}

const reconcileFirst = 'reconcile, then run npm run admin -- after-restore'
const losses = {
  lost_writes: {
    alert: 'database_lost_writes',
    reason: `the database lost writes that it had committed: ${reconcileFirst}`,
    railsOf: async () => sendingRails,
  },
  unknown_sender: {
    alert: 'unknown_sender',
    reason: `payments are under way that an unknown process sent, so this may be a copy of the database: ${reconcileFirst}`,
    railsOf: railsThatMayPayTwice,
  },
} as const satisfies Record<LossCause, unknown>

/**
 * Every process that detects or reads the loss declares it, so that the death of one leaves no step undone. Only the first
 * declaration raises the alert. Payments whose sending was permitted after the first declaration (`at`) keep waiting. Pauses no
 * rail for a loss that an operator has ended: one that this process only read (`detectedAt` null), or detected before that end.
 */
export const declareLoss = async (
  { db, alerts, rails: adapters }: Pick<Parts, 'alerts' | 'db' | 'rails'>,
  cause: LossCause,
  detectedAt: Date | null,
) => {
  const { alert, reason, railsOf } = losses[cause]
  const { isFirst, at, rails } = await inTx(db, async (tx) => {
    const rails = await railsOf(tx, adapters)
    const [newest] = await tx.run(newestLoss, {})
    const isEnded = detectedAt === null || (newest?.endedAt && newest.endedAt > detectedAt)
    let added = false
    for (const rail of isEnded ? [] : rails) added = (await pauseRail(tx, timerOperator, rail, reason, cause)) || added
    if (added) await recordLoss(tx, timerOperator)
    const times = (await listPauses(tx)).flatMap((pause) => (pause.cause === cause ? [pause.pausedAt.getTime()] : []))
    return { isFirst: added, rails: times.length === 0 ? [] : rails, at: new Date(Math.min(tx.at.getTime(), ...times)) }
  })
  if (isFirst) alerts.raise(alert, { subject: 'database', id: 'rails' })
  await makeWaitingUnknown(db, timerOperator, at, rails)
}

const removeServicePauses = prepareWrite('restore.end_loss', {}, (orm) =>
  orm.delete(railPauses).where(ne(railPauses.cause, 'operator')).returning({ rail: railPauses.rail, cause: railPauses.cause }),
)

/** A statement without an account number counts only if its provider has a single account. */
const notComparedSinceLoss = statement('restore.not_compared')`
  select p.provider, p.number from unnest($1::text[], $2::text[]) as p(provider, number) where not exists (
     select from reconciliations r where r.provider = p.provider and r.requested_by like 'shell:%'
       and r.created_at >= (select max(noticed_at) from write_losses where ended_at is null)
       and (p.number is null or replace(split_part(r.account, ',', 1), ' ', '') = replace(p.number, ' ', '')
         or (r.account is null and (select count(*) from unnest($1::text[]) as o(provider) where o.provider = p.provider) = 1)))
     and exists (select from rail_pauses where cause <> 'operator')`

/** `number`: the number of a paying account at its provider. Null: any account of the provider. */
export type PayingAccount = { provider: Provider; number: string | null }

/**
 * `notCompared`: accounts without a statement compared since the loss. If there are any, a reason is required; the audit log
 * records both. A lost payment that its client repeats is found only while its statement line is in suspense.
 */
export const resumeAfterLoss = (db: Database, operator: Operator, accounts: readonly PayingAccount[], reason?: string) =>
  inTx(db, async (tx) => {
    const without = await tx.query<PayingAccount>(notComparedSinceLoss, fieldsOf(accounts, 'provider', 'number'))
    const notCompared = without.map(({ provider, number }) => (number === null ? provider : `${provider} ${number}`))
    if (notCompared.length > 0 && reason === undefined)
      throw new Refusal('conflict', {
        message: `No statement of ${notCompared.join(', ')} was compared since the loss. A payment that was lost, and is asked for again, may be paid twice. Compare it (npm run admin -- reconcile <file>), or say why not with --reason.`,
      })
    const ended = await tx.run(removeServicePauses, {})
    if (ended.length > 0) await tx.run(closeLosses, { at: tx.at, by: nameOfOperator(operator), reason: restored })
    for (const { rail, cause } of ended)
      audit(tx, operator, 'admin.resume_rail', {
        subject: newId(),
        after: { rail, cause, not_compared: notCompared, ...(reason !== undefined && { reason }) },
      })
    return { resumed: [...new Set(ended.map(({ rail }) => rail))], notCompared }
  })
