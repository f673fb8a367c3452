import type { Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { railAttempts } from '../../db/tables/payments.ts'
import { isPaid } from '../../db/transitions.ts'
import { secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import { isSameReceipt } from '../../lib/text.ts'
import { payouts } from '../../rails/definitions.ts'
import type { Evidence } from '../../rails/rail.ts'
import { type Alert, alertAfterCommit } from '../alerts.ts'
import {
  type AttemptRecord,
  attemptsOf,
  type EvidenceSource,
  type EvidenceVerdict,
  moveAttempt,
  resolveAttempts,
  secondsToNextQuery,
} from '../attempts/attempt.ts'
import { lockPaymentsWithAccounts, type PaymentRecord } from '../payments/queries.ts'
import { settlePayments } from '../payments/settle.ts'
import { raiseProviderAlert } from '../suspense/provider-alerts-service.ts'
import { alertOfOtherAmount } from '../suspense/receipts-service.ts'
import { recordDoubtful } from '../suspense/service.ts'
import { settleTopup } from '../topups/outcome.ts'
import { lockTopupsWithAccounts, type TopupRecord } from '../topups/queries.ts'

/** A locked payment or top-up. Each settlement updates the record. */
type Subject = { kind: 'payment'; record: PaymentRecord } | { kind: 'topup'; record: TopupRecord }

/** `live`: the attempt that settles the subject. `superseded`: a later attempt is the live one. */
export type OpenAttempt = {
  attempt: AttemptRecord
  live: AttemptRecord
  superseded: boolean
  tries: number
  subject: Subject
}

type AttemptName = Pick<AttemptRecord, 'id' | 'kind' | 'subjectId'>

const lockSubjects = async (tx: Tx, names: readonly AttemptName[]): Promise<Map<Uuid, Subject>> => {
  const subjects = new Map<Uuid, Subject>()
  for (const [kind, own] of Map.groupBy(names, (name) => name.kind)) {
    const ids = [...new Set(own.map(({ subjectId }) => subjectId))]
    if (kind === 'payment')
      for (const record of await lockPaymentsWithAccounts(tx, ids)) subjects.set(record.id, { kind, record })
    else for (const record of await lockTopupsWithAccounts(tx, ids)) subjects.set(record.id, { kind, record })
  }
  return subjects
}

/** Locks the owning accounts, then the rows, and reads the rows once. The results are in the order of `names`. */
export const openAttempts = async (tx: Tx, names: readonly AttemptName[]): Promise<OpenAttempt[]> => {
  const subjects = await lockSubjects(tx, names)
  const attemptsBySubject = Map.groupBy(await attemptsOf(tx, [...subjects.keys()]), ({ subjectId }) => subjectId)
  return names.map(({ id, subjectId }) => {
    const subject = subjects.get(subjectId)
    const attempts = attemptsBySubject.get(subjectId) ?? []
    const attempt = attempts.find((each) => each.id === id)
    if (!subject || !attempt) throw new Error('an attempt that must exist is missing')
    // At most one attempt has a state other than `not_sent`. If none has, only the newest may have been sent after all.
    const live = attempts.find(({ state }) => state !== 'not_sent') ?? attempts.at(-1)
    return { attempt, live: live ?? attempt, superseded: live?.id !== id, tries: attempts.length, subject }
  })
}

export const openAttempt = async (tx: Tx, name: AttemptName): Promise<OpenAttempt> => only(await openAttempts(tx, [name]))

const isConclusive = ({ kind }: Evidence): boolean => kind === 'succeeded' || kind === 'failed' || kind === 'returned'

export type Proof = { open: OpenAttempt; evidence: Evidence; source: EvidenceSource }

/** An unknown outcome counts only if it is new: a rail that cannot be queried, or answers another query, proves nothing. */
const isUninformative = (evidence: Evidence, source: EvidenceSource): boolean =>
  evidence.kind === 'pending' ||
  (evidence.kind === 'unknown' && !evidence.moved && (source.kind === 'query' || evidence.code === 'other_request'))

/** A query's answer decides a disputed report if it states the amount. A failure cannot contradict money that was reported. */
const isDecision = (evidence: Evidence, source: EvidenceSource): boolean =>
  source.kind === 'query' && evidence.kind === 'succeeded' && evidence.amountMinor !== null

const alertOf: Partial<Record<EvidenceVerdict, Alert>> = {
  mismatch: 'evidence_mismatch',
  contradiction: 'evidence_contradiction',
  disputed: 'evidence_disputed',
  suspense: 'superseded_attempt_moved_money',
}

/** Only the live attempt settles the subject. Money that another attempt moved goes to suspense. */
const judgeSuperseded = (evidence: Evidence): EvidenceVerdict => {
  if (evidence.kind === 'succeeded') return 'suspense'
  return evidence.kind === 'returned' ? 'contradiction' : 'superseded'
}

/** Assigns moved money to the live attempt of the order. An earlier send's failure proves nothing about a later send. */
const aboutOrder = (proof: Proof): Proof => {
  const { open, evidence } = proof
  const moved = evidence.kind === 'succeeded' || evidence.kind === 'returned'
  const { rail } = open.attempt
  if (!open.superseded || !moved || rail === collectionRail || payouts[rail].repeat === 'pays_again') return proof
  return { ...proof, open: { ...open, attempt: open.live, superseded: false } }
}

/** Money under another receipt settles a prompt, because the rail's answer about a prompt does not state the amount. */
const isAnotherPayment = ({ kind }: AttemptRecord, evidence: Evidence): boolean =>
  kind === 'topup' && evidence.kind === 'succeeded' && evidence.receipt !== null && evidence.amountMinor !== null

/** Returns the verdict on evidence that does not settle the subject, or undefined if the evidence settles it. */
const verdictOfAttempt = ({ open: { attempt, superseded }, evidence, source }: Proof): EvidenceVerdict | undefined => {
  if (isUninformative(evidence, source)) return 'inconclusive'
  if (superseded) return judgeSuperseded(evidence)
  if (attempt.state === 'not_sent' && evidence.kind !== 'succeeded' && evidence.kind !== 'returned') return 'repeated'
  if (attempt.state === 'disputed' && !isDecision(evidence, source) && !isAnotherPayment(attempt, evidence))
    return isConclusive(evidence) ? 'disputed' : 'inconclusive'
  return undefined
}

/** Settles top-ups, then payments, each of which may occur only once. Returns the verdicts in the order of `proofs`. */
const settleSubjects = async (tx: Tx, proofs: readonly Proof[]): Promise<EvidenceVerdict[]> => {
  const verdicts = new Map(proofs.map((proof) => [proof, verdictOfAttempt(proof)]))
  const ofPayments: { proof: Proof; subject: Extract<Subject, { kind: 'payment' }> }[] = []
  for (const proof of proofs.filter((each) => verdicts.get(each) === undefined)) {
    const { subject } = proof.open
    if (subject.kind === 'payment') ofPayments.push({ proof, subject })
    else {
      // One by one, because top-ups are few: a person answers each prompt on a phone.
      const { verdict, topup } = await settleTopup(tx, subject.record, proof.evidence, proof.source)
      subject.record = topup
      verdicts.set(proof, verdict)
    }
  }
  const reports = ofPayments.map(({ proof, subject }) => ({ ...proof, payment: subject.record }))
  const settled = await settlePayments(tx, reports)
  for (const [index, { proof, subject }] of ofPayments.entries()) {
    subject.record = settled[index]?.payment ?? subject.record
    verdicts.set(proof, settled[index]?.verdict)
  }
  return proofs.map((proof) => verdicts.get(proof) ?? 'inconclusive')
}

const raiseAlert = (tx: Tx, attempt: AttemptRecord, verdict: EvidenceVerdict, evidence: Evidence): void => {
  const alert = alertOf[verdict]
  if (!alert) return
  const code = evidence.kind === 'failed' || evidence.kind === 'unknown' ? evidence.code : evidence.kind
  alertAfterCommit(tx, alert, { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code })
}

const isSettled = (verdict: EvidenceVerdict): boolean => ['applied', 'repeated', 'account_closed'].includes(verdict)

/** A disputed attempt ends by a query's answer with the amount, by a prompt's money under another receipt, or by a person. */
const moveOf = ({ open, evidence }: Proof, verdict: EvidenceVerdict): 'dispute' | 'resolve' | 'resolve_unsent' | undefined => {
  if (verdict === 'mismatch') return 'dispute'
  if (!isConclusive(evidence) || !isSettled(verdict) || open.superseded) return undefined
  if (open.attempt.state !== 'not_sent') return 'resolve'
  return verdict === 'applied' ? 'resolve_unsent' : undefined
}

/** The provider has paid the order; only the receipt or the amount is missing. Only a lost attempt is sent again. */
const isPaidUnclearly = ({ open: { attempt, superseded }, evidence }: Proof): boolean =>
  evidence.kind === 'unknown' &&
  evidence.moved === true &&
  !superseded &&
  (attempt.state === 'sending' || attempt.state === 'lost')

/** Queries the rail once more about a payment. A query about a prompt would return no amount, so a person decides. */
const dispute = async (tx: Tx, { open: { attempt }, source }: Proof): Promise<void> => {
  const isAsked = attempt.kind === 'payment' && source.kind !== 'query'
  // The rail's answer did not decide the attempt, so a person decides it.
  if (attempt.state === 'disputed') updateRow(tx, railAttempts, attempt, { nextCheckAt: null, updatedAt: tx.at })
  else await moveAttempt(tx, attempt.id, 'disputed', isAsked ? secondsAfter(tx.at, secondsToNextQuery(0)) : null)
}

/** Alerts a person to a later report about a paid payment, unless it agrees with what was booked. Books nothing. */
const alertLaterReport = async (
  tx: Tx,
  { open: { attempt, subject }, evidence }: Proof,
  verdict: EvidenceVerdict,
): Promise<void> => {
  if (evidence.kind === 'pending') return
  if (evidence.kind === 'succeeded') {
    const { rail, subjectId: id, amountMinor } = attempt
    const { receipt } = evidence
    const isSame = receipt !== null && isSameReceipt(receipt, subject.record.providerReceipt)
    if (isSame) await alertOfOtherAmount(tx, { kind: 'payment', id, amountMinor, isOpen: false }, { ...evidence, rail, receipt })
    return
  }
  if (evidence.kind === 'returned' && isSettled(verdict)) return
  const providerStatus =
    evidence.providerStatus ?? (evidence.kind === 'unknown' && evidence.code === 'unreadable' ? evidence.code : undefined)
  if (providerStatus === undefined) return
  const amountMinor = evidence.kind === 'returned' ? evidence.amountMinor : null
  const about = { rail: attempt.rail, subjectKind: attempt.kind, subjectId: attempt.subjectId }
  await raiseProviderAlert(tx, { ...about, word: providerStatus, receipt: subject.record.providerReceipt, amountMinor })
}

export const disputedOf = ({ attempt, subject }: OpenAttempt) => ({ attempt, paidReceipt: subject.record.providerReceipt })

/** Settles the subjects, each of which may occur only once. Returns the verdicts in the order of `reported`. */
export const applyEvidence = async (tx: Tx, reported: readonly Proof[]): Promise<EvidenceVerdict[]> => {
  const proofs = reported.map(aboutOrder)
  const paid = proofs.map(({ open: { subject } }) => subject.kind === 'payment' && isPaid(subject.record.status))
  const verdicts = await settleSubjects(tx, proofs)
  const resolved: Uuid[] = []
  for (const [index, proof] of proofs.entries()) {
    const verdict = verdicts[index] ?? 'inconclusive'
    const { attempt } = proof.open
    const move = moveOf(proof, verdict)
    if (move === 'resolve') resolved.push(attempt.subjectId)
    else if (move === 'dispute') await dispute(tx, proof)
    else if (move) await moveAttempt(tx, attempt.id, 'resolved', null)
    else if (isPaidUnclearly(proof)) await moveAttempt(tx, attempt.id, 'submitted', attempt.nextCheckAt)
    raiseAlert(tx, attempt, verdict, proof.evidence)
    if (paid[index]) await alertLaterReport(tx, proof, verdict)
    await recordDoubtful(tx, disputedOf(proof.open), verdict, proof.evidence)
  }
  await resolveAttempts(tx, resolved)
  return verdicts
}
