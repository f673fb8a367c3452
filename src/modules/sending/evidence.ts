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
import { alertConflict } from '../suspense/receipts-service.ts'
import { recordUnapplied } from '../suspense/service.ts'
import { settleTopup } from '../topups/outcome.ts'
import { lockTopupsWithAccounts, type TopupRecord } from '../topups/queries.ts'

/** A locked payment or top-up. Each settlement updates the record. */
type Subject = { kind: 'payment'; record: PaymentRecord } | { kind: 'topup'; record: TopupRecord }

/** `live`: the attempt that settles the subject. `superseded`: a later attempt is the live one. */
export type LockedAttempt = {
  attempt: AttemptRecord
  live: AttemptRecord
  superseded: boolean
  tries: number
  subject: Subject
}

export type AttemptName = Pick<AttemptRecord, 'id' | 'kind' | 'subjectId'>

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
export const lockAttempts = async (tx: Tx, names: readonly AttemptName[]): Promise<LockedAttempt[]> => {
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

export const lockAttempt = async (tx: Tx, name: AttemptName): Promise<LockedAttempt> => only(await lockAttempts(tx, [name]))

const isConclusive = ({ kind }: Evidence): boolean => kind === 'succeeded' || kind === 'failed' || kind === 'returned'

export type AttemptEvidence = { locked: LockedAttempt; evidence: Evidence; source: EvidenceSource }

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
const onLiveAttempt = (entry: AttemptEvidence): AttemptEvidence => {
  const { locked, evidence } = entry
  const moved = evidence.kind === 'succeeded' || evidence.kind === 'returned'
  const { rail } = locked.attempt
  if (!locked.superseded || !moved || rail === collectionRail || payouts[rail].repeat === 'pays_again') return entry
  return { ...entry, locked: { ...locked, attempt: locked.live, superseded: false } }
}

/** Money under another receipt settles a prompt, because the rail's answer about a prompt does not state the amount. */
const isAnotherPayment = ({ kind }: AttemptRecord, evidence: Evidence): boolean =>
  kind === 'topup' && evidence.kind === 'succeeded' && evidence.receipt !== null && evidence.amountMinor !== null

/** Returns the verdict on evidence that does not settle the subject, or undefined if the evidence settles it. */
const verdictOfAttempt = ({ locked, evidence, source }: AttemptEvidence): EvidenceVerdict | undefined => {
  const { attempt, superseded } = locked
  if (isUninformative(evidence, source)) return 'inconclusive'
  if (superseded) return judgeSuperseded(evidence)
  if (attempt.state === 'not_sent' && evidence.kind !== 'succeeded' && evidence.kind !== 'returned') return 'repeated'
  if (attempt.state === 'disputed' && !isDecision(evidence, source) && !isAnotherPayment(attempt, evidence))
    return isConclusive(evidence) ? 'disputed' : 'inconclusive'
  return undefined
}

/** Settles top-ups, then payments, each of which may occur only once. Returns the verdicts in the order of `entries`. */
const settleSubjects = async (tx: Tx, entries: readonly AttemptEvidence[]): Promise<EvidenceVerdict[]> => {
  const verdicts = new Map(entries.map((entry) => [entry, verdictOfAttempt(entry)]))
  const ofPayments: { entry: AttemptEvidence; subject: Extract<Subject, { kind: 'payment' }> }[] = []
  for (const entry of entries.filter((each) => verdicts.get(each) === undefined)) {
    const { subject } = entry.locked
    if (subject.kind === 'payment') ofPayments.push({ entry, subject })
    else {
      // One by one, because top-ups are few: a person answers each prompt on a phone.
      const { verdict, topup } = await settleTopup(tx, subject.record, entry.evidence, entry.source)
      subject.record = topup
      verdicts.set(entry, verdict)
    }
  }
  const reports = ofPayments.map(({ entry, subject }) => ({ ...entry, payment: subject.record }))
  const settled = await settlePayments(tx, reports)
  for (const [index, { entry, subject }] of ofPayments.entries()) {
    subject.record = settled[index]?.payment ?? subject.record
    verdicts.set(entry, settled[index]?.verdict)
  }
  return entries.map((entry) => verdicts.get(entry) ?? 'inconclusive')
}

const raiseAlert = (tx: Tx, attempt: AttemptRecord, verdict: EvidenceVerdict, evidence: Evidence): void => {
  const alert = alertOf[verdict]
  if (!alert) return
  const code = evidence.kind === 'failed' || evidence.kind === 'unknown' ? evidence.code : evidence.kind
  alertAfterCommit(tx, alert, { subject: attempt.kind, id: attempt.subjectId, attempt: attempt.id, code })
}

const isSettled = (verdict: EvidenceVerdict): boolean => ['applied', 'repeated', 'account_closed'].includes(verdict)

/** A disputed attempt ends by a query's answer with the amount, by a prompt's money under another receipt, or by a person. */
const transitionOf = ({ locked, evidence }: AttemptEvidence, verdict: EvidenceVerdict) => {
  if (verdict === 'mismatch') return 'dispute'
  if (!isConclusive(evidence) || !isSettled(verdict) || locked.superseded) return undefined
  if (locked.attempt.state !== 'not_sent') return 'resolve'
  return verdict === 'applied' ? 'resolve_unsent' : undefined
}

/** The provider has paid the order; only the receipt or the amount is missing. Only a lost attempt is sent again. */
const isPaidUnclearly = ({ locked: { attempt, superseded }, evidence }: AttemptEvidence): boolean =>
  evidence.kind === 'unknown' &&
  evidence.moved === true &&
  !superseded &&
  (attempt.state === 'sending' || attempt.state === 'lost')

/** Queries the rail once more about a payment. A query about a prompt would return no amount, so a person decides. */
const dispute = async (tx: Tx, { locked: { attempt }, source }: AttemptEvidence): Promise<void> => {
  const queriesAgain = attempt.kind === 'payment' && source.kind !== 'query'
  // The rail's answer did not decide the attempt, so a person decides it.
  if (attempt.state === 'disputed') updateRow(tx, railAttempts, attempt, { nextCheckAt: null, updatedAt: tx.at })
  else await moveAttempt(tx, attempt.id, 'disputed', queriesAgain ? secondsAfter(tx.at, secondsToNextQuery(0)) : null)
}

/** Alerts a person to a later report about a paid payment, unless it agrees with what was booked. Books nothing. */
const alertLaterReport = async (
  tx: Tx,
  { locked: { attempt, subject }, evidence }: AttemptEvidence,
  verdict: EvidenceVerdict,
) => {
  if (evidence.kind === 'pending') return
  if (evidence.kind === 'succeeded') {
    const { rail, subjectId: id, amountMinor } = attempt
    const { receipt } = evidence
    const isSame = receipt !== null && isSameReceipt(receipt, subject.record.providerReceipt)
    if (isSame) await alertConflict(tx, { kind: 'payment', id, amountMinor, isOpen: false }, { ...evidence, rail, receipt })
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

export const disputedOf = ({ attempt, subject }: LockedAttempt) => ({ attempt, paidReceipt: subject.record.providerReceipt })

/** Settles the subjects, each of which may occur only once. Returns the verdicts in the order of `reported`. */
export const applyEvidence = async (tx: Tx, reported: readonly AttemptEvidence[]): Promise<EvidenceVerdict[]> => {
  const entries = reported.map(onLiveAttempt)
  const wasPaid = entries.map(({ locked: { subject } }) => subject.kind === 'payment' && isPaid(subject.record.status))
  const verdicts = await settleSubjects(tx, entries)
  const resolved: Uuid[] = []
  for (const [index, entry] of entries.entries()) {
    const verdict = verdicts[index] ?? 'inconclusive'
    const { attempt } = entry.locked
    const transition = transitionOf(entry, verdict)
    if (transition === 'resolve') resolved.push(attempt.subjectId)
    else if (transition === 'dispute') await dispute(tx, entry)
    else if (transition) await moveAttempt(tx, attempt.id, 'resolved', null)
    else if (isPaidUnclearly(entry)) await moveAttempt(tx, attempt.id, 'submitted', attempt.nextCheckAt)
    raiseAlert(tx, attempt, verdict, entry.evidence)
    if (wasPaid[index]) await alertLaterReport(tx, entry, verdict)
    await recordUnapplied(tx, disputedOf(entry.locked), verdict, entry.evidence)
  }
  await resolveAttempts(tx, resolved)
  return verdicts
}
