import type { Tx } from '../../db/client.ts'
import { isPaid, isUnderWay } from '../../db/transitions.ts'
import { transfer } from '../../ledger/ledger.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { isSameReceipt } from '../../lib/text.ts'
import type { Evidence } from '../../rails/rail.ts'
import { alertAfterCommit } from '../alerts.ts'
import { actorOf, type EvidenceSource, resolveAttempts, type SettlementVerdict } from '../attempts/attempt.ts'
import { recordReportedNames } from '../beneficiaries/names-service.ts'
import { getAccount } from '../identity/accounts/queries.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { claimReceipts, type ReceiptClaim, type ReceiptHolder } from '../suspense/receipts-service.ts'
import { endPayments, type PaymentEnd, writeChange } from './change.ts'
import type { PaymentRecord } from './queries.ts'

/** The effect of the evidence, or the verdict if it has none. */
type Judgement = EffectName | Exclude<SettlementVerdict, 'applied'>
type EffectName = 'succeed' | 'fail' | 'mark_unknown' | 'return' | 'succeed_and_return' | 'complete' | 'note_late_success'

type Success = { receipt: string | null; amountMinor: Minor | null }

/** Accepts any amount, because money that left must be booked. A second report with a different receipt means a second payout. */
const onLateSuccess = (payment: PaymentRecord, { receipt }: Success, receiptIsTaken: boolean): Judgement => {
  if (receiptIsTaken) return 'contradiction'
  if (payment.lateSuccessAt === null) return 'note_late_success'
  return receipt === null || isSameReceipt(receipt, payment.lateSuccessReceipt) ? 'repeated' : 'contradiction'
}

const onSuccess = (payment: PaymentRecord, evidence: Success, receiptIsTaken: boolean): Judgement => {
  const { receipt, amountMinor } = evidence
  const conflicts = receiptIsTaken || (amountMinor !== null && amountMinor !== payment.amountMinor)
  if (isUnderWay(payment.status)) return conflicts ? 'mismatch' : 'succeed'
  if (payment.status === 'failed') return onLateSuccess(payment, evidence, receiptIsTaken)
  if (conflicts || !isPaid(payment.status)) return 'contradiction'
  if (receipt === null || isSameReceipt(receipt, payment.providerReceipt)) return 'repeated'
  return payment.providerReceipt === null ? 'complete' : 'contradiction'
}

const onFailure = (payment: PaymentRecord): Judgement => {
  if (isUnderWay(payment.status)) return 'fail'
  return payment.status === 'failed' && payment.lateSuccessAt === null ? 'repeated' : 'contradiction'
}

/** Credits a return of the full amount only. A return of a different or unreadable amount goes to suspense for a person. */
const onReturn = (
  payment: PaymentRecord,
  { amountMinor, isUnread }: Extract<Evidence, { kind: 'returned' }>,
  receiptIsTaken: boolean,
): Judgement => {
  const isOther = isUnread === true || (amountMinor !== null && amountMinor !== payment.amountMinor)
  if (isOther && (isUnderWay(payment.status) || payment.status === 'succeeded')) return 'mismatch'
  if (isUnderWay(payment.status)) return receiptIsTaken ? 'mismatch' : 'succeed_and_return'
  if (payment.status === 'succeeded') return receiptIsTaken ? 'contradiction' : 'return'
  return payment.status === 'returned' ? 'repeated' : 'contradiction'
}

/** The judgement does not depend on the order in which evidence arrives. */
const judgePayment = (payment: PaymentRecord, evidence: Evidence, receiptIsTaken: boolean): Judgement => {
  switch (evidence.kind) {
    case 'succeeded':
      return onSuccess(payment, evidence, receiptIsTaken)
    case 'failed':
      return onFailure(payment)
    case 'returned':
      return onReturn(payment, evidence, receiptIsTaken)
    case 'unknown':
      if (payment.status === 'processing') return 'mark_unknown'
      return evidence.moved && !isUnderWay(payment.status) && !isPaid(payment.status) ? 'contradiction' : 'inconclusive'
    default:
      return 'inconclusive'
  }
}

type Step = { payment: PaymentRecord; evidence: Evidence; source: EvidenceSource }

const receiptOf = (evidence: Evidence): string | null => ('receipt' in evidence ? evidence.receipt : null)

/** Books money that the rail returned. The payment still counts against its limits, because it was sent. */
const returnPayment = async (tx: Tx, { payment, source }: Step): Promise<PaymentRecord> => {
  const { id, accountId, amountMinor } = payment
  const { balance } = await transfer(tx, {
    ownerId: accountId,
    amountMinor,
    against: 'rail_clearing',
    reference: { type: 'payment', id },
    memo: 'returned',
  })
  const updated = await balanceUpdated(tx, accountId, balance)
  return writeChange(tx, payment, { status: 'returned', completedAt: tx.at }, { actor: actorOf(source), balance: updated })
}

const markUnknown = (tx: Tx, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const code = evidence.kind === 'unknown' ? evidence.code : 'mismatch'
  alertAfterCommit(tx, 'payment_unknown', { subject: 'payment', id: payment.id, code })
  return writeChange(tx, payment, { status: 'unknown' }, { actor: actorOf(source) })
}

const complete = (tx: Tx, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const receipt = receiptOf(evidence)
  const options = { actor: actorOf(source), action: 'payment.receipt', after: { provider_receipt: receipt } } as const
  return writeChange(tx, payment, { providerReceipt: receipt }, options)
}

/** Records that money left after the hold was released. Books nothing: administrators are alerted, and one of them books it. */
const noteLateSuccess = (tx: Tx, { payment, evidence, source }: Step): Promise<PaymentRecord> => {
  const receipt = receiptOf(evidence)
  const movedMinor = (evidence.kind === 'succeeded' ? evidence.amountMinor : null) ?? payment.amountMinor
  alertAfterCommit(tx, 'late_success', { subject: 'payment', id: payment.id })
  return writeChange(
    tx,
    payment,
    { lateSuccessReceipt: receipt, lateSuccessAmountMinor: movedMinor, lateSuccessAt: tx.at },
    {
      actor: actorOf(source),
      type: 'payment.late_success',
      action: 'payment.late_success',
      after: { provider_receipt: receipt, amount_minor: formatMinor(movedMinor) },
    },
  )
}

/** `endsAs`: the final status, written for all payments at once. `followUp`: a further change, one payment at a time. */
type Effect = { endsAs?: 'succeeded' | 'failed'; followUp?: (tx: Tx, step: Step) => Promise<PaymentRecord> }

const effects: Readonly<Record<EffectName, Effect>> = {
  succeed: { endsAs: 'succeeded' },
  fail: { endsAs: 'failed' },
  /** The money remains on hold. */
  mark_unknown: { followUp: markUnknown },
  return: { followUp: returnPayment },
  /** The provider reports only the return, so the payment is booked as paid and then as returned. */
  succeed_and_return: { endsAs: 'succeeded', followUp: returnPayment },
  /** The payment had succeeded; only its receipt was missing. */
  complete: { followUp: complete },
  note_late_success: { followUp: noteLateSuccess },
}

const isEffect = (judgement: Judgement): judgement is EffectName => judgement in effects

const endOf = (judgement: Judgement, { payment, evidence, source }: Step): PaymentEnd[] => {
  const to = isEffect(judgement) ? effects[judgement].endsAs : null
  const actor = actorOf(source)
  if (to === 'succeeded') return [{ payment, to, actor, receipt: receiptOf(evidence) }]
  return to === 'failed' ? [{ payment, to, actor, failure: evidence.kind === 'failed' ? evidence : undefined }] : []
}

/** `holder`: the record that claimed the receipt before, if any. */
type Settled = { verdict: SettlementVerdict; payment: PaymentRecord; holder?: ReceiptHolder | undefined }

/**
 * Receipts to claim for a payout or a return. A return has its own direction and the payout's receipt. If the provider gives the
 * return a different receipt, that receipt is claimed as incoming too.
 */
const claimsOf = (judgement: Judgement, { payment, evidence }: Step): ReceiptClaim[] => {
  if (!isEffect(judgement) || (evidence.kind !== 'succeeded' && evidence.kind !== 'returned')) return []
  const { id, accountId, rail, providerReceipt: known } = payment
  const { receipt } = evidence
  const claim = { rail, owner: { kind: 'payment', id }, amountMinor: evidence.amountMinor ?? payment.amountMinor } as const
  const claimFor = (direction: ReceiptClaim['direction'], name: string | null) =>
    name === null ? [] : [{ ...claim, direction, receipt: name }]
  if (evidence.kind === 'succeeded') return claimFor('out', receipt)
  const isOther = receipt !== null && known !== null && !isSameReceipt(receipt, known)
  const incoming = isOther ? claimFor('in', receipt).map((each) => ({ ...each, credits: { accountId, topupId: null } })) : []
  return [...(known === null ? claimFor('out', receipt) : []), ...claimFor('return', known ?? receipt), ...incoming]
}

/** A payment under way has a hold, so only a later return can find its account closed. */
const withoutClosed = async <T extends { step: Step; judgement: Judgement }>(tx: Tx, judged: T): Promise<T> =>
  judged.judgement === 'return' && (await getAccount(tx, judged.step.payment.accountId)).status === 'closed'
    ? { ...judged, judgement: 'account_closed' }
    : judged

const conclude = async (tx: Tx, step: Step, judgement: Judgement, ended: PaymentRecord): Promise<Settled> => {
  const now = { ...step, payment: ended }
  if (isEffect(judgement)) return { verdict: 'applied', payment: (await effects[judgement].followUp?.(tx, now)) ?? ended }
  const doubtful = judgement === 'mismatch' && ended.status === 'processing'
  return { verdict: judgement, payment: doubtful ? await markUnknown(tx, now) : ended }
}

/**
 * Applies evidence from any source, in any order and any number of times. One call passes each payment and each receipt once. The
 * caller has locked the owning accounts and the payments. A mismatch moves no money, but makes a processing payment unknown.
 * After an operator's decision the rail is no longer queried. Results are in the same order.
 */
export const settlePayments = async (tx: Tx, steps: readonly Step[]): Promise<Settled[]> => {
  const judge = (step: Step, isTaken: boolean) => ({ step, judgement: judgePayment(step.payment, step.evidence, isTaken) })
  // The first judgement determines which receipts to claim. If another record has claimed a receipt, the step is judged again.
  const provisional = await Promise.all(steps.map((step) => withoutClosed(tx, judge(step, false))))
  const taken = await claimReceipts(
    tx,
    provisional.flatMap(({ step, judgement }) => claimsOf(judgement, step)),
  )
  const judged = provisional.map((each) => (taken.has(each.step.payment.id) ? judge(each.step, true) : each))
  const ends = judged.flatMap((each) => endOf(each.judgement, each.step))
  const ended = new Map((await endPayments(tx, ends)).map((payment) => [payment.id, payment]))
  const settled: Settled[] = []
  for (const { step, judgement } of judged)
    settled.push({
      ...(await conclude(tx, step, judgement, ended.get(step.payment.id) ?? step.payment)),
      holder: taken.get(step.payment.id),
    })
  const effective = judged.flatMap(({ step, judgement }) => (isEffect(judgement) ? [step] : []))
  const named = effective.flatMap(({ payment, evidence }) =>
    evidence.kind === 'succeeded' ? [{ payment, name: evidence.payeeName }] : [],
  )
  recordReportedNames(tx, named)
  const decided = effective.flatMap(({ payment, source }) => (source.kind === 'operator' ? [payment.id] : []))
  await resolveAttempts(tx, decided)
  return settled
}
