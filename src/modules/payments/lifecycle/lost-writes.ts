import { statement, type Tx } from '../../../db/client.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { railNames } from '../../../lib/rail-names.ts'
import type { Evidence, Rails } from '../../../rails/rail.ts'
import { repeatWithinSeconds } from './attempts/schedule.ts'

/** Lost writes may have been the approval of a payment, and that it was sent. */
export const mayHaveBeenSent: Evidence = {
  kind: 'unknown',
  code: 'restored',
  message: 'The database went back to a time before it was sent, so it may have been sent.',
}

/** Whether payment `payment` could have been sent before a loss of writes was noticed: asked for by then, and due if it has a time. */
export const isOlderThanLoss = (payment: string): string =>
  `exists (select from write_losses l where l.noticed_at > coalesce(${payment}.execute_at, ${payment}.created_at))`

const notRefused = statement(
  'payments.not_refused_as_duplicate',
  `select p.id from payments p where p.id = any($1::uuid[]) and not (p.created_at > $2 and exists (
     select from unnest($3::text[], $4::text[]) as r(rail, account) where r.rail = p.rail
       and (r.account is null or exists (select from duplicate_checks c where c.rail = r.rail and c.account = r.account))))`,
)

/**
 * Of payments that may have been sent before writes were lost, those that their provider might pay again: it has no id of ours, no test has shown
 * that it refuses the same one, or it has had the time to forget it.
 */
export const thoseThatMayBePaidTwice = async (
  tx: Tx,
  { payout }: Pick<Rails, 'payout'>,
  ids: readonly Uuid[],
): Promise<ReadonlySet<Uuid>> => {
  const repeated = railNames.flatMap((rail) => {
    const repeats = payout[rail]?.repeats
    return repeats ? [{ rail, account: repeats.provenFor }] : []
  })
  const rows = await tx.query<{ id: Uuid }>(notRefused, [
    ids,
    secondsAfter(tx.at, -repeatWithinSeconds),
    repeated.map(({ rail }) => rail),
    repeated.map(({ account }) => account),
  ])
  return new Set(rows.map(({ id }) => id))
}
