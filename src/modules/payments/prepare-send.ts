import { and, eq, lte, sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { prepare, type RowOf } from '../../db/prepare.ts'
import { prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { payments } from '../../db/tables/payments.ts'
import { owningAccountSql } from '../../db/tables/workspaces.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { Evidence, Rails } from '../../rails/rail.ts'
import {
  type EarlierSends,
  earlierSendsSql,
  longestChainWaitSeconds,
  notSent,
  type OrderToSend,
  type Outgoing,
  secondsToNextChainQuery,
  tryOpen,
} from '../attempts/attempt.ts'
import { destinationContext, findBeneficiary } from '../beneficiaries/queries.ts'
import { nameBalances } from '../operators.ts'
import type { Parts } from '../parts.ts'
import { voidRefusedDecisions } from './approvals/void.ts'
import { releasePayment } from './change.ts'
import type { ChainAnswers } from './evaluation/authority.ts'
import {
  batchKeySql,
  matchesUnexplainedPayoutSql,
  paymentsThatMayBePaidTwice,
  predatesLatestLossSql,
  seedOf,
  sentBeforeLoss,
  unexplainedPayout,
} from './lost-writes.ts'
import { lockPaymentWithAccount, type PaymentRecord } from './queries.ts'
import { type Obstacle, recheckPayments } from './recheck.ts'
import { settlePayments } from './settle.ts'

const leaveQueue = prepareWrite('payments.leave_queue', { ids: 'uuid[]', now: 'timestamptz' }, (orm, param) =>
  orm
    .update(payments)
    .set({ dispatchDueAt: null })
    .where(and(sql`${payments.id} = any(${param.ids})`, lte(payments.dispatchDueAt, param.now))),
)

/** Locks and reads due payments, except those with an attempt that may have been sent. */
const lockDue = prepare('payments.lock_due', { ids: 'uuid[]', at: 'timestamptz' }, 'pool', (orm, param) =>
  orm
    .select({
      payment: payments,
      beneficiary: beneficiaries,
      payer: sql<Uuid>`${sql.raw(owningAccountSql('payments.account_id'))}`,
      batchKey: sql<string | null>`${sql.raw(batchKeySql('payments'))}`,
      earlier: sql<EarlierSends>`${sql.raw(earlierSendsSql('payments.id'))}`,
      predatesLoss: sql<boolean>`${sql.raw(predatesLatestLossSql('payments'))}`,
      matchesUnexplainedPayout: sql<boolean>`${sql.raw(matchesUnexplainedPayoutSql('payments'))}`,
    })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .where(
      and(
        sql`${payments.id} = any(${param.ids})`,
        eq(payments.status, 'processing'),
        lte(payments.dispatchDueAt, param.at),
        sql`not exists (select from rail_attempts a where a.subject_id = ${payments.id} and a.state <> 'not_sent')`,
      ),
    )
    .orderBy(payments.dispatchDueAt, payments.id)
    .for('update', { of: payments }),
)

type DuePayment = Omit<RowOf<typeof lockDue>, 'payment'> & { payment: PaymentRecord }

type SendParts = Pick<Parts, 'logger' | 'rails' | 'vault'>

const sendOf = (deps: SendParts, { payment, beneficiary, payer }: Pick<DuePayment, 'payment' | 'beneficiary' | 'payer'>) => {
  const { amountMinor, currency, accountReference, narrative, rail: name } = payment
  const { bankCode, legalName, displayName, destinationCiphertext, destinationKeyId } = beneficiary
  return async (sending: OrderToSend) => {
    const rail = deps.rails.payout[name]
    if (!rail) return notSent('provider_not_configured')
    const sealed = { ciphertext: destinationCiphertext, keyId: destinationKeyId }
    const destination = tryOpen(deps, sealed, destinationContext(beneficiary.id, beneficiary.workspaceId))
    if (destination === undefined) return notSent('destination_unreadable')
    const beneficiaryName = legalName ?? displayName
    return rail.pay({
      ...sending,
      rail: name,
      amountMinor,
      currency,
      destination,
      bankCode,
      beneficiaryName,
      accountReference,
      narrative,
      payer: formatId('account', payer),
    })
  }
}

const outgoingOf = (deps: SendParts, due: DuePayment): Outgoing => {
  const { payment, batchKey, earlier } = due
  const { id: subjectId, accountId, amountMinor, traceparent } = payment
  const seed = seedOf({ ...payment, batchKey })
  return { subjectId, accountId, amountMinor, traceparent, seed, earlier, send: sendOf(deps, due) }
}

/** Whether the payment keeps waiting for a chain to answer. After `longestChainWaitSeconds` it fails instead. */
const waitsForChain = ({ kind }: Obstacle, { updatedAt }: PaymentRecord, at: Date): boolean =>
  kind === 'unconfirmed' && at < secondsAfter(updatedAt, longestChainWaitSeconds)

const dispatchActor = { accountId: null, origin: null, way: 'dispatch' } as const

/** Returns payments that are safe to send. Others become unknown, because they may have been sent before writes were lost. */
const markPossiblySent = async (tx: Tx, rails: Rails, due: readonly DuePayment[]): Promise<DuePayment[]> => {
  const older = due.flatMap(({ payment: { id }, predatesLoss }) => (predatesLoss ? [id] : []))
  const paidTwice = older.length === 0 ? new Set<Uuid>() : await paymentsThatMayBePaidTwice(tx, rails, older, tx.at)
  const evidenceOfEarlierSend = ({ payment, matchesUnexplainedPayout }: DuePayment): Evidence | undefined => {
    if (paidTwice.has(payment.id)) return sentBeforeLoss
    return matchesUnexplainedPayout ? unexplainedPayout : undefined
  }
  const lost = due.flatMap((each) => {
    const evidence = evidenceOfEarlierSend(each)
    const payment = { ...each.payment, dispatchDueAt: null }
    return evidence ? [{ payment, evidence, source: { kind: 'operator', actor: dispatchActor } as const }] : []
  })
  await settlePayments(tx, lost)
  return due.filter((each) => evidenceOfEarlierSend(each) === undefined)
}

/** Schedules the payment to be sent at `due`, if it is `processing`. The caller has locked the payment. */
export const sendPaymentAt = (tx: Tx, payment: PaymentRecord, due: Date): void => {
  if (payment.status === 'processing') updateRow(tx, payments, payment, { dispatchDueAt: due })
}

/**
 * Takes due payments out of the queue and rechecks everything that allowed them. A payment that no longer passes fails here,
 * unsent. The caller has locked the owning accounts. `answers`: the chains' answers, read before the transaction.
 */
export const preparePayments = async (
  tx: Tx,
  deps: SendParts,
  ids: readonly Uuid[],
  answers: ChainAnswers,
): Promise<Outgoing[]> => {
  const { at } = tx
  // The queries run in this order, so the rows are locked and read before they leave the queue.
  const [locked] = await Promise.all([
    tx.run(lockDue, { ids, at }),
    tx.run(leaveQueue, { ids, now: at }),
    voidRefusedDecisions(tx, answers),
  ])
  const due = await markPossiblySent(tx, deps.rails, locked)
  const rechecked = due.map(({ payment }) => payment)
  const obstacles = rechecked.length === 0 ? [] : await recheckPayments(tx, rechecked, answers)
  const outgoing: Outgoing[] = []
  for (const [index, each] of due.entries()) {
    const { payment } = each
    const obstacle = obstacles[index]
    if (obstacle && waitsForChain(obstacle, payment, at)) {
      sendPaymentAt(tx, payment, secondsAfter(at, secondsToNextChainQuery))
      deps.logger.warn({ payment: payment.id }, 'a payment waits: the chain of an approving wallet did not answer')
    } else if (obstacle) {
      const dequeued = { ...payment, dispatchDueAt: null }
      await releasePayment(tx, dequeued, { to: 'failed', actor: dispatchActor, failure: obstacle.failure })
    } else outgoing.push(outgoingOf(deps, each))
  }
  return outgoing
}

/** Sends the order of an attempt again, whose answer was lost. Undefined if it may not be sent. */
export const repeatPayment = async (
  tx: Tx,
  deps: SendParts,
  id: Uuid,
  answers: ChainAnswers,
): Promise<Outgoing['send'] | undefined> => {
  const payment = await lockPaymentWithAccount(tx, id)
  if (payment.status !== 'unknown') return undefined
  const beneficiary = await findBeneficiary(tx, payment.workspaceId, payment.beneficiaryId)
  const [obstacle] = await recheckPayments(tx, [payment], answers)
  if (!beneficiary || obstacle) return undefined
  const payer = (await nameBalances(tx, [payment.accountId]))(payment.accountId).accountId
  return sendOf(deps, { payment, beneficiary, payer })
}
