import type { Tx } from '../../../../db/client.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { only } from '../../../../lib/lists.ts'
import { collectionRail } from '../../../../lib/rail-names.ts'
import { payouts } from '../../../../rails/definitions.ts'
import type { Evidence } from '../../../../rails/rail.ts'
import { type Alert, alertAfterCommit } from '../../../alerts.ts'
import { recordDoubtful } from '../../../suspense/service.ts'
import { type AttemptRecord, attemptsOf, moveAttempt, resolveAttempts, stopQueries } from './queries.ts'
import { secondsToNextQuery } from './schedule.ts'
import type { AttemptSubject, EvidenceSource, OpenSubjects, Verdict } from './subject.ts'

/** An attempt under its subject's locks, and the one that settles the subject; `superseded`: that is a later one. */
export type OpenAttempt = {
  attempt: AttemptRecord
  live: AttemptRecord
  superseded: boolean
  tries: number
  subjects: OpenSubjects
}

type AttemptName = Pick<AttemptRecord, 'id' | 'subjectId'>

/** Locks the subjects and reads their attempts, once. Results are in the same order. */
export const openAttempts = async (tx: Tx, kind: AttemptSubject, names: readonly AttemptName[]): Promise<OpenAttempt[]> => {
  const subjectIds = [...new Set(names.map(({ subjectId }) => subjectId))]
  const subjects = await kind.open(tx, subjectIds)
  const bySubject = Map.groupBy(await attemptsOf(tx, subjectIds), ({ subjectId }) => subjectId)
  return names.map(({ id, subjectId }) => {
    const attempts = bySubject.get(subjectId) ?? []
    const attempt = attempts.find((each) => each.id === id)
    if (!attempt) throw new Error('an attempt that must exist is missing')
    // At most one attempt is not `not_sent`: that one is live. When there is none, the newest one would be the one that was sent after all.
    const live = attempts.find(({ state }) => state !== 'not_sent') ?? attempts.at(-1)
    return { attempt, live: live ?? attempt, superseded: live?.id !== id, tries: attempts.length, subjects }
  })
}

export const openAttempt = async (tx: Tx, kind: AttemptSubject, name: AttemptName): Promise<OpenAttempt> =>
  only(await openAttempts(tx, kind, [name]))

const isConclusive = ({ kind }: Evidence): boolean => kind === 'succeeded' || kind === 'failed' || kind === 'returned'

/** A piece of evidence, and the attempt that it is about. */
export type Proof = { open: OpenAttempt; evidence: Evidence; source: EvidenceSource }

/**
 * An unknown outcome counts only when it is new information: a rail that cannot be queried right now, or that answers a different query,
 * proves nothing about the money.
 */
const isUninformative = (evidence: Evidence, source: EvidenceSource): boolean =>
  evidence.kind === 'pending' ||
  (evidence.kind === 'unknown' && !evidence.moved && (source.kind === 'query' || evidence.code === 'other_request'))

/**
 * An answer to a query decides what a report has left in doubt, if it says how much moved: a person is not needed then. That nothing moved is
 * not believed of what was reported as moved.
 */
const isDecision = (evidence: Evidence, source: EvidenceSource): boolean =>
  source.kind === 'query' && evidence.kind === 'succeeded' && evidence.amountMinor !== null

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

/**
 * The order moved money, whichever send of it the report names. A failure of an earlier send is not taken for the later one's: that one
 * is still under way.
 */
const aboutOrder = (proof: Proof): Proof => {
  const { open, evidence } = proof
  const moved = evidence.kind === 'succeeded' || evidence.kind === 'returned'
  const { rail } = open.attempt
  if (!open.superseded || !moved || rail === collectionRail || payouts[rail].repeat === 'pays_again') return proof
  return { ...proof, open: { ...open, attempt: open.live, superseded: false } }
}

/** The verdict on evidence that does not concern the subject. Undefined: the subject settles. */
const verdictOfAttempt = ({ open: { attempt, superseded }, evidence, source }: Proof): Verdict | undefined => {
  if (isUninformative(evidence, source)) return 'inconclusive'
  if (superseded) return judgeSuperseded(evidence)
  // The attempt was never sent, and the provider reports nothing that contradicts this.
  if (attempt.state === 'not_sent' && evidence.kind !== 'succeeded' && evidence.kind !== 'returned') return 'repeated'
  if (attempt.state === 'disputed' && !isDecision(evidence, source)) return isConclusive(evidence) ? 'disputed' : 'inconclusive'
  return undefined
}

/** One call of `settle` for all that were opened together. */
const judge = async (proofs: readonly Proof[]): Promise<Map<Proof, Verdict>> => {
  const verdicts = new Map<Proof, Verdict>()
  const settling: Proof[] = []
  for (const proof of proofs) {
    const verdict = verdictOfAttempt(proof)
    if (verdict) verdicts.set(proof, verdict)
    else settling.push(proof)
  }
  for (const [subjects, own] of Map.groupBy(settling, ({ open }) => open.subjects)) {
    const reports = own.map(({ open, evidence, source }) => ({ id: open.attempt.subjectId, evidence, source }))
    const settled = await subjects.settle(reports)
    own.forEach((proof, index) => {
      verdicts.set(proof, settled[index] ?? 'inconclusive')
    })
  }
  return verdicts
}

const raiseAlert = (tx: Tx, attempt: AttemptRecord, verdict: Verdict, evidence: Evidence): void => {
  const alert = alertOf[verdict]
  if (!alert) return
  const code = evidence.kind === 'failed' || evidence.kind === 'unknown' ? evidence.code : evidence.kind
  alertAfterCommit(tx, alert, { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code })
}

/** How the attempt moves: after a mismatch it is disputed, and from then on only an answer to a query, or a person, ends it. */
const moveOf = ({ open, evidence }: Proof, verdict: Verdict): 'dispute' | 'resolve' | 'resolve_unsent' | undefined => {
  if (verdict === 'mismatch') return 'dispute'
  const ends = isConclusive(evidence) && (verdict === 'applied' || verdict === 'repeated')
  if (!ends || open.superseded) return undefined
  if (open.attempt.state !== 'not_sent') return 'resolve'
  return verdict === 'applied' ? 'resolve_unsent' : undefined
}

/** The rail is asked about a payment once more. A prompt's query names no amount, and an answer that differs too leaves it to a person. */
const dispute = async (tx: Tx, { open: { attempt }, source }: Proof): Promise<void> => {
  const isAsked = attempt.kind === 'payment' && source.kind !== 'query'
  if (attempt.state === 'disputed') stopQueries(tx, attempt.id)
  else await moveAttempt(tx, attempt.id, 'disputed', isAsked ? secondsAfter(tx.at, secondsToNextQuery(0)) : null)
}

/**
 * Compares each piece of evidence with its attempt and lets the subjects settle, set-wise. Each attempt's subject is named once. Results are
 * in the same order.
 */
export const applyEvidence = async (tx: Tx, reported: readonly Proof[]): Promise<Verdict[]> => {
  const proofs = reported.map(aboutOrder)
  const judged = await judge(proofs)
  const verdicts = proofs.map((proof) => judged.get(proof) ?? 'inconclusive')
  const resolved: Uuid[] = []
  for (const [index, proof] of proofs.entries()) {
    const verdict = verdicts[index] ?? 'inconclusive'
    const { attempt } = proof.open
    const move = moveOf(proof, verdict)
    if (move === 'resolve') resolved.push(attempt.subjectId)
    else if (move === 'dispute') await dispute(tx, proof)
    else if (move) await moveAttempt(tx, attempt.id, 'resolved', null)
    raiseAlert(tx, attempt, verdict, proof.evidence)
    await recordDoubtful(tx, attempt, verdict, proof.evidence)
  }
  await resolveAttempts(tx, resolved)
  return verdicts
}
