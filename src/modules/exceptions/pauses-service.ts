import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce, prepareWrite } from '../../db/prepare-write.ts'
import { railPauses, writeLosses } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { notFound, Refusal } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { SendingRail } from '../../lib/rail-names.ts'
import { nameOfOperator, type Operator } from '../operators.ts'

export type RailPause = typeof railPauses.$inferSelect

const allPauses = prepare('rail_pauses.all', {}, (orm) =>
  orm.select().from(railPauses).orderBy(railPauses.rail, railPauses.cause),
)
const removePause = prepareWrite('rail_pauses.remove', { rail: 'text' }, (orm, param) =>
  orm
    .delete(railPauses)
    .where(and(eq(railPauses.rail, param.rail), eq(railPauses.cause, 'operator')))
    .returning({ rail: railPauses.rail }),
)

export const listPauses = (db: Db): Promise<RailPause[]> => db.run(allPauses, {})

export const pauseRail = async (
  tx: Tx,
  operator: Operator,
  rail: SendingRail,
  reason: string,
  cause: RailPause['cause'] = 'operator',
): Promise<boolean> => {
  const pause = { rail, cause, reason, pausedBy: nameOfOperator(operator), pausedAt: tx.at }
  const added = await insertOnce(tx, railPauses, pause)
  if (added) audit(tx, operator, 'admin.pause_rail', { subject: newId(), after: { rail, cause, reason } })
  return added
}

/** Ends the losses once no rail is paused (for this reason). One statement, so that a loss declared meanwhile stays open. */
export const closeLosses = prepareWrite('write_losses.close', { at: 'timestamptz', by: 'text', reason: 'text?' }, (orm, param) =>
  orm
    .update(writeLosses)
    .set({ endedAt: param.at, endedBy: param.by })
    .where(
      and(
        isNull(writeLosses.endedAt),
        sql`not exists (select from ${railPauses} where ${param.reason ? eq(railPauses.reason, param.reason) : sql`true`})`,
      ),
    ),
)

/**
 * Ends an operator's pause. `resumeAfterLoss` ends the pauses of the service itself. The loss of a restore ends with the last
 * pause of all, because an earlier pause of the operator holds its rail for the restore too.
 */
export const resumeRail = async (tx: Tx, operator: Operator, rail: SendingRail): Promise<void> => {
  const removed = await tx.run(removePause, { rail })
  if (removed.length === 0) {
    const ofService = (await listPauses(tx)).find((pause) => pause.rail === rail)
    throw ofService ? new Refusal('conflict', { message: `The rail is stopped: ${ofService.reason}.` }) : notFound()
  }
  audit(tx, operator, 'admin.resume_rail', { subject: newId(), after: { rail, cause: 'operator' } })
  await tx.run(closeLosses, { at: tx.at, by: nameOfOperator(operator) })
}
