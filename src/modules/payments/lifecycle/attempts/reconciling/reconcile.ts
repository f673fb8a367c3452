import type { Database } from '../../../../../db/client.ts'
import { inTx, statement } from '../../../../../db/client.ts'
import { secondsAfter } from '../../../../../lib/clock.ts'
import type { Evidence } from '../../../../../rails/rail.ts'
import { forEachRow } from '../../../../for-each-row.ts'
import type { Deps } from '../../../deps.ts'
import type { OrderDeps } from '../deps.ts'
import { applyEvidence, openAttempt } from '../evidence.ts'
import { attemptForRail } from '../for-rail.ts'
import { type AttemptRecord, attemptColumns, findAttempt } from '../queries.ts'
import { railOf } from '../rail-of.ts'
import { queryTopupsForSeconds, secondsToNextQuery, silenceSeconds } from '../schedule.ts'
import { recordAbandoned } from '../sending/submission.ts'
import type { AttemptSubject, Subjects } from '../subject.ts'
import { repeatLost } from './repeat.ts'

type ReconcileDeps = OrderDeps & Pick<Deps, 'jobs' | 'sends'>

const batchSize = 20

const due = statement(
  'attempts.due',
  `select ${attemptColumns} from rail_attempts where next_check_at <= $1 and state not in ('resolved', 'not_sent')
   order by next_check_at limit ${batchSize} for update skip locked`,
)
const postpone = statement(
  'attempts.postpone',
  `update rail_attempts a set checks = checks + 1, asked_at = coalesce(a.asked_at, $3), checked_at = $3,
     next_check_at = x.next_check_at, updated_at = $3
   from unnest($1::uuid[], $2::timestamptz[]) as x(id, next_check_at) where a.id = x.id`,
)

const nextCheck = (attempt: AttemptRecord, now: Date): Date | null => {
  const tooOld = attempt.kind === 'topup' && now > secondsAfter(attempt.createdAt, queryTopupsForSeconds)
  return tooOld ? null : secondsAfter(now, secondsToNextQuery(attempt.checks + 1))
}

/** Takes what is due for this process alone: the time of the next query is set before this query is sent, so a crash costs one interval. */
const claim = (db: Database): Promise<AttemptRecord[]> =>
  inTx(db, async (tx) => {
    const now = tx.at
    const attempts = await tx.query<AttemptRecord>(due, [now])
    const next = attempts.map((attempt) => nextCheck(attempt, now))
    if (attempts.length > 0) await tx.query(postpone, [attempts.map(({ id }) => id), next, now])
    return attempts
  })

const noEvidence: Evidence = {
  kind: 'unknown',
  code: 'no_evidence',
  message: 'The provider accepted it and has not reported a result.',
}

const conclude = (db: Database, kind: AttemptSubject, unanswered: AttemptRecord, answer: Evidence): Promise<void> =>
  inTx(db, async (tx) => {
    const open = await openAttempt(tx, kind, unanswered)
    const [verdict] = await applyEvidence(tx, [{ open, evidence: answer, source: { kind: 'query' } }])
    const silent = tx.at >= secondsAfter(unanswered.createdAt, silenceSeconds)
    if (verdict === 'inconclusive' && silent)
      await applyEvidence(tx, [{ open, evidence: noEvidence, source: { kind: 'silence' } }])
  })

/** The attempt after its sender failed to report back. Null when it is to be sent again. */
const abandoned = async (
  deps: Pick<Deps, 'db' | 'jobs' | 'sends'>,
  kind: AttemptSubject,
  dueAttempt: AttemptRecord,
): Promise<AttemptRecord | null> => {
  const state = await inTx(deps.db, (tx) => recordAbandoned(tx, deps, kind, dueAttempt))
  if (state !== 'not_sent') return (await findAttempt(deps.db, dueAttempt.id)) ?? dueAttempt
  deps.jobs.wake(dueAttempt.kind === 'payment' ? 'payments' : 'topups', [dueAttempt.rail])
  return null
}

const queryRail = async (deps: ReconcileDeps, subjects: Subjects, dueAttempt: AttemptRecord): Promise<void> => {
  const kind = subjects[dueAttempt.kind]
  const isUnsent = dueAttempt.state === 'recorded' || dueAttempt.state === 'sending'
  const attempt = isUnsent ? await abandoned(deps, kind, dueAttempt) : dueAttempt
  if (!attempt) return
  const rail = railOf(deps.rails, attempt.rail)
  if (!rail)
    return deps.logger.warn(
      { attempt: attempt.id, rail: attempt.rail },
      'the rail of an attempt under way is no longer configured',
    )
  await conclude(deps.db, kind, attempt, await rail.query(attemptForRail(deps.orderNames, deps.config.operatorUrl, attempt)))
  await repeatLost(deps, kind, dueAttempt)
}

/** Queries the rails about every attempt that is due. One failure does not stop the others. */
export const reconcile = async (deps: ReconcileDeps, subjects: Subjects): Promise<void> => {
  for (let full = true; full; ) {
    const attempts = await claim(deps.db)
    full = attempts.length === batchSize
    await forEachRow(deps, 'attempts.reconcile', attempts, (attempt) => queryRail(deps, subjects, attempt), { atOnce: batchSize })
  }
}
