import { type Database, statement } from '../../../../db/client.ts'
import { statesBefore } from '../../../../db/transitions.ts'
import { serverSql } from '../../../../db/witness.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { AttemptRecord } from './queries.ts'
import { claimWithinSeconds } from './schedule.ts'

const claim = (kind: AttemptRecord['kind'], table: string, underWay: string) =>
  statement(
    `attempts.claim_${kind}`,
    `update rail_attempts a set state = 'sending', next_check_at = $3, updated_at = $2
     where a.id = any($1::uuid[]) and a.state = any($5::text[]) and a.created_at > $4 and $6 = (select ${serverSql})
       and exists (select from ${table} s where s.id = a.subject_id and s.status = '${underWay}')
     returning a.id`,
  )
const claims = {
  payment: claim('payment', 'payments', 'processing'),
  topup: claim('topup', 'topups', 'pending'),
}

/**
 * Takes the right to send these attempts; only the process that has it may call the rail. One statement checks all conditions: the attempt
 * is young and still waits for its sender, its subject is under way, and the server is the one that was looked at. So a process that slept after it had recorded an attempt sends
 * nothing: the attempt may already count as not sent.
 */
export const claimRightToSend = async (
  db: Database,
  kind: AttemptRecord['kind'],
  attemptIds: readonly Uuid[],
  { at, graceSeconds, server }: { at: Date; graceSeconds: number; server: string },
): Promise<Set<Uuid>> => {
  const values = [
    attemptIds,
    at,
    secondsAfter(at, graceSeconds),
    secondsAfter(at, -claimWithinSeconds),
    statesBefore('attempt', 'sending'),
    server,
  ]
  return new Set((await db.query<{ id: Uuid }>(claims[kind], values)).map(({ id }) => id))
}
