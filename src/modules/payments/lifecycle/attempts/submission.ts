import type { Tx } from '../../../../db/client.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import { failure } from '../../../../lib/failure-codes.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Evidence, Submission } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import { applyEvidence, type OpenAttempt, openAttempt } from './evidence.ts'
import { type AttemptRecord, adoptProvider, moveAttempt } from './queries.ts'
import { secondsToNextQuery, secondsToNextTry } from './schedule.ts'
import type { AttemptSubject } from './subject.ts'

type SubmissionDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'config'>

/** What a rail that was never reached proves, once the last try was made. */
const neverSent: Evidence = { kind: 'failed', ...failure('provider_unreachable') }

const answerLost: Evidence = {
  kind: 'unknown',
  code: 'answer_lost',
  message: 'The answer to sending was lost; it may have arrived.',
}

/**
 * A write whose COMMIT was not answered is done again, so it must recognise its own effect: an attempt that is `not_sent` already, or
 * that another one has followed, has nothing more to learn from this.
 */
const recordNotSent = async (tx: Tx, deps: Pick<Deps, 'alerts'>, open: OpenAttempt): Promise<void> => {
  const { attempt, superseded, subject, tries } = open
  if (superseded || attempt.state === 'not_sent') return
  const wait = secondsToNextTry(tries)
  // One that was taken for lost meanwhile is in doubt, and doubt is ended, not sent again.
  if (attempt.state === 'sending' && wait !== undefined) {
    await moveAttempt(tx, attempt.id, 'not_sent', null)
    await subject.sendAgainAt(secondsAfter(tx.at, wait))
    return
  }
  await applyEvidence(tx, deps, open, neverSent, { kind: 'submission' })
}

/** Records what the rail answered to sending. A delivery that came before has the last word. */
export const recordSubmission = async (
  tx: Tx,
  deps: SubmissionDeps,
  kind: AttemptSubject,
  sent: Pick<AttemptRecord, 'id' | 'subjectId'>,
  submission: Submission,
): Promise<void> => {
  const open = await openAttempt(tx, deps, kind, sent)
  const nextQuestionAt = secondsAfter(tx.at, secondsToNextQuery(0))
  const settle = (evidence: Evidence) => applyEvidence(tx, deps, open, evidence, { kind: 'submission' })
  switch (submission.kind) {
    case 'accepted':
      await adoptProvider(tx, sent.id, submission.provider)
      await moveAttempt(tx, sent.id, 'submitted', nextQuestionAt)
      if (submission.evidence) await settle(submission.evidence)
      return
    case 'refused':
      await settle({ ...submission, kind: 'failed' })
      return
    case 'lost':
      await moveAttempt(tx, sent.id, 'lost', nextQuestionAt)
      await settle(answerLost)
      return
    case 'not_sent':
      return recordNotSent(tx, deps, open)
  }
}

/**
 * An attempt whose process did not report again. Before it had the right to send, nothing was sent and nothing will be: it is sent
 * again. After that it may have been sent: in doubt from now on, asked about, never sent again.
 */
export const recordAbandoned = async (
  tx: Tx,
  deps: SubmissionDeps,
  kind: AttemptSubject,
  found: { id: Uuid; subjectId: Uuid },
): Promise<AttemptRecord['state']> => {
  const open = await openAttempt(tx, deps, kind, found)
  const { attempt, subject } = open
  if (attempt.state === 'recorded' && (await moveAttempt(tx, attempt.id, 'not_sent', null))) {
    await subject.sendAgainAt(tx.at)
    return 'not_sent'
  }
  if (attempt.state === 'sending' && (await moveAttempt(tx, attempt.id, 'lost', attempt.nextCheckAt))) {
    await applyEvidence(tx, deps, open, answerLost, { kind: 'silence' })
    return 'lost'
  }
  return attempt.state
}
