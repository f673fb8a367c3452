import type { Tx } from '../../../../db/client.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Evidence } from '../../../../rails/rail.ts'
import { type Alert, alertAfterCommit } from '../../../alerts.ts'
import type { Deps } from '../../../deps.ts'
import { recordDoubtful } from '../../../suspense/service.ts'
import { type AttemptRecord, getAttempt, resolveAttempts, updateAttempt } from './queries.ts'
import type { AttemptSubject, Verdict, Witness } from './subject.ts'

const isConclusive = ({ kind }: Evidence): boolean => kind === 'succeeded' || kind === 'failed' || kind === 'returned'

/**
 * Doubt is worth something only where it is news: a rail that cannot be asked right now, or that answers another question, has
 * said nothing about the money.
 */
const saysNothing = (evidence: Evidence, witness: Witness): boolean =>
  evidence.kind === 'pending' || (evidence.kind === 'unknown' && (witness.kind === 'query' || evidence.code === 'other_request'))

const alertOf: Partial<Record<Verdict, Alert>> = {
  mismatch: 'evidence_mismatch',
  contradiction: 'evidence_contradiction',
  disputed: 'evidence_disputed',
}

const judge = async (
  tx: Tx,
  deps: Deps,
  subject: AttemptSubject,
  attempt: AttemptRecord,
  evidence: Evidence,
  witness: Witness,
): Promise<Verdict> => {
  if (saysNothing(evidence, witness)) return 'inconclusive'
  if (attempt.state === 'disputed') return isConclusive(evidence) ? 'disputed' : 'inconclusive'
  return subject.settle(tx, deps, attempt.subjectId, evidence, witness)
}

/**
 * Holds evidence against its attempt and lets the subject settle. The caller has the subject's lock. An attempt with a mismatch is
 * disputed from then on: whatever comes later, only a person ends it.
 */
export const applyEvidence = async (
  tx: Tx,
  deps: Deps,
  subject: AttemptSubject,
  attemptId: Uuid,
  evidence: Evidence,
  witness: Witness,
): Promise<Verdict> => {
  const at = deps.clock.now()
  const attempt = await getAttempt(tx, attemptId)
  const verdict = await judge(tx, deps, subject, attempt, evidence, witness)
  const ends = isConclusive(evidence) && (verdict === 'applied' || verdict === 'repeated')
  if (verdict === 'mismatch') await updateAttempt(tx, attempt.id, 'disputed', null, at)
  else if (ends) await resolveAttempts(tx, attempt.subjectId, at)
  raise(tx, deps, attempt, verdict, evidence)
  await recordDoubtful(tx, deps, attempt, verdict, evidence)
  return verdict
}

const raise = (tx: Tx, deps: Deps, attempt: AttemptRecord, verdict: Verdict, evidence: Evidence): void => {
  const alert = alertOf[verdict]
  if (!alert) return
  const code = evidence.kind === 'failed' || evidence.kind === 'unknown' ? evidence.code : evidence.kind
  alertAfterCommit(tx, deps, alert, { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code })
}
