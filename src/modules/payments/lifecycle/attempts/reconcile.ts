import { inTx, statement, type Tx } from '../../../../db/client.ts'
import { describeError } from '../../../../db/errors.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import type { Evidence } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import { attemptForRail } from './callback-secret.ts'
import { applyEvidence } from './evidence.ts'
import { type AttemptRecord, attemptColumns, getAttempt } from './queries.ts'
import { railOf } from './rail-of.ts'
import { askAboutTopupsForSeconds, secondsToNextQuery, silenceSeconds } from './schedule.ts'
import type { AttemptSubject, Subjects } from './subject.ts'
import { markLost } from './submission.ts'

const batchSize = 20

const due = statement(
  'attempts.due',
  `select ${attemptColumns} from rail_attempts where next_check_at <= $1 and state not in ('resolved', 'not_sent') order by next_check_at limit ${batchSize} for update skip locked`,
)
const postpone = statement(
  'attempts.postpone',
  'update rail_attempts set checks = checks + 1, next_check_at = $2, updated_at = $3 where id = $1',
)

const nextCheck = (attempt: AttemptRecord, now: Date): Date | null => {
  const tooOld = attempt.kind === 'topup' && now > secondsAfter(attempt.createdAt, askAboutTopupsForSeconds)
  return tooOld ? null : secondsAfter(now, secondsToNextQuery(attempt.checks + 1))
}

/** Takes what is due for this process alone: the next question is set before this one is asked, so a crash costs one interval. */
const claim = async (tx: Tx, deps: Deps): Promise<AttemptRecord[]> => {
  const now = deps.clock.now()
  const attempts = await tx.query<AttemptRecord>(due, [now])
  for (const attempt of attempts) {
    await tx.query(postpone, [attempt.id, nextCheck(attempt, now), now])
  }
  return attempts
}

const noEvidence: Evidence = { kind: 'unknown', code: 'no_evidence', message: 'The provider took it and was not heard of again.' }

const conclude = async (tx: Tx, deps: Deps, subject: AttemptSubject, attempt: AttemptRecord, answer: Evidence): Promise<void> => {
  await subject.lock(tx, attempt.subjectId)
  const verdict = await applyEvidence(tx, deps, subject, attempt.id, answer, { kind: 'query' })
  const silent = deps.clock.now() >= secondsAfter(attempt.createdAt, silenceSeconds)
  if (verdict === 'inconclusive' && silent) await applyEvidence(tx, deps, subject, attempt.id, noEvidence, { kind: 'silence' })
}

const ask = async (deps: Deps, subjects: Subjects, attempt: AttemptRecord): Promise<void> => {
  const subject = subjects[attempt.kind]
  if (attempt.state === 'recorded') {
    await inTx(deps.db, async (tx) => {
      await subject.lock(tx, attempt.subjectId)
      const current = await getAttempt(tx, attempt.id)
      if (current.state === 'recorded') await markLost(tx, deps, subject, current)
    })
  }
  const rail = railOf(deps.rails, attempt.rail)
  if (!rail)
    return deps.logger.warn(
      { attempt: attempt.id, rail: attempt.rail },
      'the rail of an attempt under way is no longer configured',
    )
  const answer = await rail.query(attemptForRail(deps.vault, deps.config.operatorUrl, attempt))
  await inTx(deps.db, (tx) => conclude(tx, deps, subject, attempt, answer))
}

/** Asks the rails about every attempt whose time has come. */
export const reconcile = async (deps: Deps, subjects: Subjects): Promise<void> => {
  for (let full = true; full; ) {
    const attempts = await inTx(deps.db, (tx) => claim(tx, deps))
    full = attempts.length === batchSize
    const queries = await Promise.allSettled(attempts.map((attempt) => ask(deps, subjects, attempt)))
    for (const result of queries) {
      if (result.status === 'rejected') deps.logger.error(describeError(result.reason), 'an attempt could not be asked about')
    }
  }
}
