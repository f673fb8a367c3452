import type { Tx } from '../../../../db/client.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import { failure } from '../../../../lib/failure-codes.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Evidence, Submission } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import { applyEvidence } from './evidence.ts'
import { type AttemptRecord, adoptProvider, attemptStatesOf, getAttempt, updateAttempt } from './queries.ts'
import { secondsToNextQuery, secondsToNextTry } from './schedule.ts'
import type { AttemptSubject } from './subject.ts'

/** Nothing more is known of it than that it was begun; a delivery may have been faster than the answer to sending. */
const isOpen = ({ state }: AttemptRecord): boolean => state === 'recorded' || state === 'lost'

/** What a rail that was never reached proves, once nobody tries any more. */
const neverSent: Evidence = { kind: 'failed', ...failure('provider_unreachable') }
const answerLost: Evidence = {
  kind: 'unknown',
  code: 'answer_lost',
  message: 'The answer to sending was lost; it may have arrived.',
}

const notSent = async (tx: Tx, deps: Deps, subject: AttemptSubject, attempt: AttemptRecord): Promise<void> => {
  const at = deps.clock.now()
  const tries = (await attemptStatesOf(tx, attempt.subjectId)).length
  const wait = secondsToNextTry(tries)
  // One that was taken for lost meanwhile is under doubt, and doubt is ended, not sent again.
  if (attempt.state === 'recorded' && wait !== undefined) {
    await updateAttempt(tx, attempt.id, 'not_sent', null, at)
    await subject.setDue(tx, attempt.subjectId, secondsAfter(at, wait))
    return
  }
  await applyEvidence(tx, deps, subject, attempt.id, neverSent, { kind: 'submission' })
}

/** Records what the rail answered to sending. A delivery that came before has the last word. */
export const recordSubmission = async (
  tx: Tx,
  deps: Deps,
  subject: AttemptSubject,
  attemptId: Uuid,
  submission: Submission,
): Promise<void> => {
  const at = deps.clock.now()
  const nextQuestionAt = secondsAfter(at, secondsToNextQuery(0))
  await subject.lock(tx, (await getAttempt(tx, attemptId)).subjectId)
  const attempt = await getAttempt(tx, attemptId)
  const settle = (evidence: Evidence) => applyEvidence(tx, deps, subject, attemptId, evidence, { kind: 'submission' })
  switch (submission.kind) {
    case 'accepted':
      await adoptProvider(tx, attemptId, submission.provider)
      if (isOpen(attempt)) await updateAttempt(tx, attemptId, 'submitted', nextQuestionAt, at)
      if (submission.evidence) await settle(submission.evidence)
      return
    case 'refused':
      await settle({ ...submission, kind: 'failed' })
      return
    case 'lost':
      if (isOpen(attempt)) await updateAttempt(tx, attemptId, 'lost', nextQuestionAt, at)
      await settle(answerLost)
      return
    case 'not_sent':
      return notSent(tx, deps, subject, attempt)
  }
}

/** An attempt whose sender was never heard of again: the process died between intent and answer. */
export const markLost = async (tx: Tx, deps: Deps, subject: AttemptSubject, attempt: AttemptRecord): Promise<void> => {
  await updateAttempt(tx, attempt.id, 'lost', attempt.nextCheckAt, deps.clock.now())
  await applyEvidence(tx, deps, subject, attempt.id, answerLost, { kind: 'silence' })
}
