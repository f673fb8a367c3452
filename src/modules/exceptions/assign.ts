import type { Config } from '../../config.ts'
import type { Tx } from '../../db/client.ts'
import { isPaid } from '../../db/transitions.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { lockBalance, type Reference, transfer } from '../../ledger/ledger.ts'
import { conflict, found, invalidFields, notFound, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { displayAmount, formatMinor, type Minor } from '../../lib/money.ts'
import { isSameReceipt } from '../../lib/text.ts'
import { resolveAttempts } from '../attempts/attempt.ts'
import { endDeposit, lockDepositOfSuspense } from '../deposits/deposit.ts'
import { getAccount, getHolderOf } from '../identity/accounts/queries.ts'
import { balanceUpdated } from '../identity/accounts/service.ts'
import { type Operator, refuseOwnAccount } from '../operators.ts'
import { lockPaymentWithAccount, type PaymentRecord } from '../payments/queries.ts'
import { settlePayments } from '../payments/settle.ts'
import { balanceNamed, mayDecideAlone, refuseClosed } from '../suspense/adjustment-service.ts'
import { bookItem, endAssigned, leaveSuspense, type SuspenseRecord } from '../suspense/items-service.ts'
import { findHolders, receiptOfItem, receiptTaken, writeClaims } from '../suspense/receipts-service.ts'
import type { AssignSuspense, EnterAmount } from '../suspense/schema.ts'
import { findSuspense, getSuspense, lockOpenItem, type SuspenseView } from '../suspense/service.ts'
import { credit } from '../topups/outcome.ts'
import { findTopupById, lockTopupWithAccount, type TopupRecord } from '../topups/queries.ts'

/** One limit for all ways in which an administrator moves value. `request`: the end of "a second administrator must …". */
const requireWithinDailyLimit = async (tx: Tx, config: Config, operator: Operator, amountMinor: Minor, request: string) => {
  if (await mayDecideAlone(tx, config, operator, amountMinor)) return
  const limit = displayAmount(config.ADJUSTMENT_CONFIRM_MINOR, config.CURRENCY)
  throw new Refusal('separation_of_duties', {
    message: `You would move more than ${limit} alone within a day, so a second administrator must ${request}`,
  })
}

/**
 * Returns the item's amount if this administrator may assign it to the account. Administrators cannot assign money to themselves.
 * Above the daily limit for one person, they have to propose an adjustment.
 */
const assignableAmount = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  accountId: Uuid,
  { direction, transferId, amountMinor }: SuspenseRecord,
): Promise<Minor> => {
  await refuseOwnAccount(tx, operator, accountId)
  await refuseClosed(tx, accountId)
  if (direction !== 'in' || transferId === null || amountMinor === null)
    throw conflict('Only money that came in and is booked on the suspense account can be assigned.', 'not_assignable')
  const request = 'agree: propose an adjustment, and resolve this item as adjusted.'
  await requireWithinDailyLimit(tx, config, operator, amountMinor, request)
  return amountMinor
}

/** The source of the money: a deposit with the top-up's number, or another amount for a prompt, which is credited once. */
const ledgerReferenceOf = (
  topup: TopupRecord,
  item: SuspenseRecord,
  deposit: { id: Uuid; rail: string } | undefined,
): Reference | undefined => {
  if (deposit) return topup.method === deposit.rail ? { type: 'deposit', id: deposit.id } : undefined
  return item.subjectId === topup.id && topup.status !== 'succeeded' ? { type: 'topup', id: topup.id } : undefined
}

const creditTopup = async (
  tx: Tx,
  operator: Operator,
  item: SuspenseRecord,
  amountMinor: Minor,
  { topup, reference, deposit }: { topup: TopupRecord; reference: Reference; deposit: { id: Uuid } | undefined },
): Promise<void> => {
  // A prompt is credited from its clearing account, so the money leaves suspense first.
  if (!deposit) await leaveSuspense(tx, item, 'assigned')
  const from = deposit ? 'suspense' : 'topup_clearing'
  await credit(tx, { topup, actor: operator }, { receipt: item.providerReceipt, amountMinor, reference, from })
  if (!deposit) await resolveAttempts(tx, [topup.id])
  else endDeposit(tx, deposit.id, { state: 'credited', topupId: topup.id })
}

export const assignSuspense = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  { account_id, workspace_id, topup_id, note }: AssignSuspense,
): Promise<SuspenseView> => {
  if (topup_id !== undefined && !(await findTopupById(tx, { id: topup_id }))) throw notFound('topup_id')
  const topup = topup_id === undefined ? null : await lockTopupWithAccount(tx, topup_id)
  const accountId = topup ? (await getHolderOf(tx, topup.workspaceId)).id : await balanceNamed(tx, { account_id, workspace_id })
  if (!topup) await lockBalance(tx, accountId)
  const deposit = await lockDepositOfSuspense(tx, { suspenseId: id })
  const item = await lockOpenItem(tx, id)
  const amountMinor = await assignableAmount(tx, config, operator, accountId, item)
  const reference = topup && ledgerReferenceOf(topup, item, deposit)
  if (topup && !reference)
    throw conflict('This top-up does not wait for such a deposit: name the account or the workspace instead.', 'not_assignable')
  if (topup && reference) await creditTopup(tx, operator, item, amountMinor, { topup, reference, deposit })
  else {
    const paid = await transfer(tx, { ownerId: accountId, amountMinor, against: 'suspense', reference: { type: 'suspense', id } })
    await appendEvents(tx, await balanceUpdated(tx, accountId, paid.balance))
  }
  const name = receiptOfItem(item)
  const owner = topup && (deposit ? { kind: 'deposit' as const, id: deposit.id } : { kind: 'topup' as const, id: topup.id })
  if (name && owner) writeClaims(tx, [{ ...name, owner, amountMinor }])
  await endAssigned(tx, operator, item, { accountId, topupId: topup?.id ?? null, note })
  return getSuspense(tx, id)
}

/** The successful payment whose money came back as this item. Undefined for other items. */
const paymentOf = async (tx: Tx, { subjectKind, subjectId, direction }: SuspenseView): Promise<PaymentRecord | undefined> => {
  if (subjectKind !== 'payment' || subjectId === null || direction !== 'in') return undefined
  const payment = await lockPaymentWithAccount(tx, subjectId)
  if (!isPaid(payment.status))
    throw conflict('Resolve the payment first: until then its hold covers this money.', 'status', { status: payment.status })
  return payment
}

/** Money of no payment or top-up is booked only under its receipt, under which the provider may list it too. */
const receiptToBook = ({ providerReceipt, reason, subjectKind }: SuspenseRecord, given: string | undefined): string | null => {
  // Release 0.4.0 stored a digest of the notification, which the database keeps as the item's receipt.
  if (reason === 'unbookable_delivery' && /^notice [0-9a-f]{12}$/.test(providerReceipt ?? ''))
    throw conflict(
      "This item was recorded without its receipt. The provider's list or statement books the money under its receipt: compare it, then resolve this item as explained.",
      'not_assignable',
    )
  if (given === undefined && providerReceipt === null && subjectKind === null)
    throw invalidFields({ path: 'provider_receipt', message: 'is required: the notification has no readable receipt' })
  if (given !== undefined && providerReceipt !== null && !isSameReceipt(given, providerReceipt))
    throw invalidFields({ path: 'provider_receipt', message: `is not the receipt of the item, ${providerReceipt}` })
  return providerReceipt ?? given ?? null
}

/**
 * Books an item whose amount the provider stated in an unreadable form. If it is the payment's whole amount, the payment is
 * returned. Any other amount, or the money of a closed account, waits in suspense.
 */
export const enterAmount = async (
  tx: Tx,
  config: Config,
  operator: Operator,
  id: Uuid,
  { amount_minor: amountMinor, provider_receipt: given, note }: EnterAmount,
): Promise<SuspenseView> => {
  const payment = await paymentOf(tx, found(await findSuspense(tx, id)))
  const item = await lockOpenItem(tx, id, { allowTakenReceipt: true })
  if (item.amountMinor !== null) throw conflict('This item has its amount already.', 'already_recorded')
  const isOpen = payment && (await getAccount(tx, payment.accountId)).status !== 'closed'
  const isWhole = isOpen && payment.status === 'succeeded' && payment.amountMinor === amountMinor
  const booked = { ...item, amountMinor, transferId: newId(), providerReceipt: receiptToBook(item, given) }
  const name = receiptOfItem(booked)
  if (payment && isWhole) {
    await refuseOwnAccount(tx, operator, payment.accountId)
    await requireWithinDailyLimit(tx, config, operator, amountMinor, 'do this.')
    const evidence = { kind: 'returned', receipt: booked.providerReceipt, amountMinor, message: note } as const
    const { verdict, holder } = only(
      await settlePayments(tx, [{ payment, evidence, source: { kind: 'operator', actor: operator } }]),
    )
    if (verdict !== 'applied')
      throw holder
        ? receiptTaken(booked.providerReceipt, holder)
        : conflict('The payment is not returned.', 'status', { status: payment.status })
  } else if (name) {
    const [holder] = await findHolders(tx, [{ ...name, except: id }])
    if (holder) throw receiptTaken(booked.providerReceipt, holder)
    writeClaims(tx, [{ ...name, owner: { kind: 'suspense', id }, amountMinor }])
  }
  await bookItem(tx, booked)
  const after = {
    amount_minor: formatMinor(amountMinor),
    ...(given !== undefined && { provider_receipt: booked.providerReceipt }),
    note,
  }
  audit(tx, operator, 'admin.enter_suspense_amount', { subject: id, after })
  if (payment && isWhole) {
    await leaveSuspense(tx, booked, 'assigned')
    await endAssigned(tx, operator, item, { accountId: payment.accountId, topupId: null, note })
  }
  return getSuspense(tx, id)
}
