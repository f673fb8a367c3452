import type { Tx } from '../../../../db/client.ts'
import type { Evidence } from '../../../../rails/rail.ts'
import { type Alert, alertAfterCommit } from '../../../alerts.ts'
import type { Deps } from '../../../deps.ts'
import { recordDoubtful } from '../../../suspense/service.ts'
import { type AttemptRecord, attemptsOf, moveAttempt, resolveAttempts } from './queries.ts'
import type { AttemptSubject, EvidenceSource, OpenSubject, Verdict } from './subject.ts'

/** An attempt and its subject, locked; `superseded`: a later attempt exists. */
export type OpenAttempt = { attempt: AttemptRecord; superseded: boolean; tries: number; subject: OpenSubject }

/** Locks the subject and reads its attempts, once. */
export const openAttempt = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts' | 'appendEvents' | 'config'>,
  kind: AttemptSubject,
  { id, subjectId }: Pick<AttemptRecord, 'id' | 'subjectId'>,
): Promise<OpenAttempt> => {
  const subject = await kind.open(tx, deps, subjectId)
  const attempts = await attemptsOf(tx, subjectId)
  const attempt = attempts.find((each) => each.id === id)
  if (!attempt) throw new Error('an attempt that must exist is missing')
  // At most one attempt is not `not_sent`: that one is live. When there is none, the newest one would be the one that was sent after all.
  const live = attempts.find(({ state }) => state !== 'not_sent') ?? attempts.at(-1)
  return { attempt, superseded: live?.id !== id, tries: attempts.length, subject }
}

const isConclusive = ({ kind }: Evidence): boolean => kind === 'succeeded' || kind === 'failed' || kind === 'returned'

/**
 * An unknown outcome counts only when it is new information: a rail that cannot be queried right now, or that answers a different query,
 * proves nothing about the money.
 */
const isUninformative = (evidence: Evidence, source: EvidenceSource): boolean =>
  evidence.kind === 'pending' || (evidence.kind === 'unknown' && (source.kind === 'query' || evidence.code === 'other_request'))

const alertOf: Partial<Record<Verdict, Alert>> = {
  mismatch: 'evidence_mismatch',
  contradiction: 'evidence_contradiction',
  disputed: 'evidence_disputed',
  suspense: 'superseded_attempt_moved_money',
}

/**
 * Only the live attempt settles the subject. The result of another attempt is recorded with that attempt, and money that it moved is
 * recorded in suspense for a person.
 */
const judgeSuperseded = (evidence: Evidence): Verdict => {
  if (evidence.kind === 'succeeded') return 'suspense'
  return evidence.kind === 'returned' ? 'contradiction' : 'superseded'
}

const judge = async (open: OpenAttempt, evidence: Evidence, source: EvidenceSource): Promise<Verdict> => {
  const { attempt, superseded, subject } = open
  if (isUninformative(evidence, source)) return 'inconclusive'
  if (superseded) return judgeSuperseded(evidence)
  // The attempt was never sent, and the provider reports nothing that contradicts this.
  if (attempt.state === 'not_sent' && evidence.kind !== 'succeeded' && evidence.kind !== 'returned') return 'repeated'
  if (attempt.state === 'disputed') return isConclusive(evidence) ? 'disputed' : 'inconclusive'
  return subject.settle(evidence, source)
}

const raiseAlert = (tx: Tx, deps: Pick<Deps, 'alerts'>, attempt: AttemptRecord, verdict: Verdict, evidence: Evidence): void => {
  const alert = alertOf[verdict]
  if (!alert) return
  const code = evidence.kind === 'failed' || evidence.kind === 'unknown' ? evidence.code : evidence.kind
  alertAfterCommit(tx, deps, alert, { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code })
}

/**
 * Compares evidence with its attempt and lets the subject settle. After a mismatch the attempt is disputed: from then on only a person ends
 * it.
 */
export const applyEvidence = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts'>,
  open: OpenAttempt,
  evidence: Evidence,
  source: EvidenceSource,
): Promise<Verdict> => {
  const { attempt, superseded } = open
  const verdict = await judge(open, evidence, source)
  const ends = isConclusive(evidence) && (verdict === 'applied' || verdict === 'repeated')
  if (verdict === 'mismatch') await moveAttempt(tx, attempt.id, 'disputed', null)
  else if (ends && !superseded && attempt.state !== 'not_sent') await resolveAttempts(tx, attempt.subjectId)
  else if (ends && !superseded && verdict === 'applied') await moveAttempt(tx, attempt.id, 'resolved', null)
  raiseAlert(tx, deps, attempt, verdict, evidence)
  await recordDoubtful(tx, deps, attempt, verdict, evidence)
  return verdict
}
