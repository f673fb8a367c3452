import { z } from 'zod'
import { paymentStatuses } from '../db/transitions.ts'
import type { Refusal } from '../lib/errors.ts'
import { displayAmount } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'
import { amountText, withMinor } from './amount.ts'
import {
  afterDenial,
  approvalOf,
  limitAddress,
  type PaymentOutcome,
  paymentSteps,
  pollSeconds,
  toToolDecision,
  WireDecision,
  WirePayment,
} from './outcome.ts'
import { type CardPayee, type Mistake, type Order, payeeText, paymentTitle, readPayee } from './payee.ts'
import { type Arguments, type Caller, isKeyConflict, isOthersKey, type RefusedAnswer, refusedAnswer, statusText } from './tool.ts'

/** `title`: undefined if the call contains neither amount nor payee. */
const refusedPayment = (
  caller: Caller,
  title: string | undefined,
  payee: CardPayee | undefined,
  answer: RefusedAnswer,
): PaymentOutcome => ({
  payment_id: null,
  currency: caller.currency,
  payee,
  decision: null,
  receipt: null,
  ...answer,
  message: `${title === undefined ? 'Nothing was paid.' : `${title}: nothing was paid.`} ${answer.message}`,
})

const alreadyByStatus: Readonly<Record<WirePayment['status'], string>> = {
  scheduled: 'Already scheduled',
  pending_approval: 'Already requested',
  processing: 'Already being paid',
  unknown: 'Already sent',
  succeeded: 'Already paid',
  returned: 'Already paid, and returned',
  failed: 'Already tried',
  rejected: 'Already rejected',
  cancelled: 'Already cancelled',
  expired: 'Already expired',
}

/** `Already paid: pay_…, KES 44.00, succeeded at 2026-11-22T…. No second payment was made.` */
const alreadyText = (payment: WirePayment): string =>
  `${alreadyByStatus[payment.status]}: ${payment.id}, ${displayAmount(BigInt(payment.amount_minor), payment.currency)}, ${statusText(payment)}. No second payment was made.`

/** Reports an existing payment with its status and next step, because an agent that missed a response must not pay again. */
export const existingOutcome = async (caller: Caller, payment: WirePayment) => {
  const [next, message] = paymentSteps[payment.status]
  return {
    next,
    message: next === 'done' ? alreadyText(payment) : `${alreadyText(payment)} ${message}`,
    existing: { payment_id: payment.id, status: payment.status, receipt: payment.provider_receipt },
    approval: await approvalOf(caller, payment),
    ...(next === 'wait' && { retry_after_seconds: pollSeconds }),
  }
}

const findPayment = async (caller: Caller, id: string): Promise<WirePayment | undefined> => {
  const { status, body } = await caller.call({ method: 'GET', path: `/v1/payments/${encodeURIComponent(id)}` })
  return status === 200 ? WirePayment.parse(body) : undefined
}

/** The arguments of a call, as parsed by the routes. */
type SentArguments = {
  [Name in 'amount' | 'amount_minor' | 'beneficiary_id' | 'account_reference' | 'duplicate_of']?: string | undefined
}

const isSame = (payment: WirePayment, { beneficiary_id, account_reference, ...asked }: SentArguments): boolean =>
  payment.beneficiary_id === beneficiary_id &&
  payment.amount_minor === withMinor(asked).amount_minor &&
  payment.account_reference === (account_reference ?? null)

const mayHavePaid = (status: WirePayment['status']): boolean => !['failed', 'rejected', 'cancelled', 'expired'].includes(status)

/** Finds the same payment in the last hour, because some refusals come before the duplicate check. */
const findSamePayment = async (caller: Caller, asked: SentArguments): Promise<WirePayment | undefined> => {
  const { amount_minor: amount } = withMinor(asked)
  const since = new Date(caller.now().getTime() - 3_600_000).toISOString()
  const query = { beneficiary_id: asked.beneficiary_id, created_after: since, amount_min_minor: amount, amount_max_minor: amount }
  const { status, body } = await caller.call({ method: 'GET', path: '/v1/payments', query })
  if (status !== 200) return undefined
  const { data } = z.object({ data: z.array(z.object({ id: z.string(), status: z.enum(paymentStatuses) })) }).parse(body)
  for (const { id } of data.filter((one) => mayHavePaid(one.status))) {
    const payment = await findPayment(caller, id)
    if (payment && isSame(payment, asked)) return payment
  }
  return undefined
}

/** The earlier payment that this payment would duplicate, if any. */
export const findEarlier = async (caller: Caller, decision: z.output<typeof WireDecision>): Promise<WirePayment | undefined> => {
  const id = decision.warnings.find(({ code }) => code === 'possible_duplicate')?.payment_id
  return id === undefined ? undefined : findPayment(caller, id)
}

const existingPayment = async (caller: Caller, refusal: Refusal, asked: SentArguments): Promise<WirePayment | undefined> => {
  const { existing_payment_id: named } = refusal.details ?? {}
  if (asked.duplicate_of !== undefined && !isKeyConflict(refusal)) return undefined
  if (typeof named === 'string') return findPayment(caller, named)
  return [402, 403, 409].includes(refusal.status) && asked.beneficiary_id !== undefined
    ? findSamePayment(caller, asked)
    : undefined
}

/** A caller that may not read beneficiaries sees only the payee's id. */
const nameOfPayee = (payee: CardPayee | undefined, id: string): string => (payee ? payeeText(payee) : quoted(id))

export const orderTitle = (order: Order, payee: CardPayee | undefined, currency: string): string =>
  paymentTitle(order.amount_minor, currency, nameOfPayee(payee, order.beneficiary_id))

export const mistakeOutcome = async (
  caller: Caller,
  order: Order & SentArguments,
  payee: CardPayee | undefined,
  mistake: Mistake,
): Promise<PaymentOutcome> => {
  const { code, path, message, address } = mistake
  const refusal = { code, fields: [{ path, message }] }
  const title = orderTitle(order, payee, caller.currency)
  const answer = { status: 'refused' as const, next: 'ask_a_person' as const, message, address, refusal }
  const made = order.duplicate_of === undefined ? await findSamePayment(caller, order) : undefined
  return { ...refusedPayment(caller, title, payee, answer), ...(made && (await existingOutcome(caller, made))) }
}

/** Returns the same shape for refusals by rules and for invalid arguments, which may have any form. */
export const refusedOutcome = async (refusal: Refusal, input: Arguments, caller: Caller): Promise<PaymentOutcome> => {
  const id = input.beneficiary_id === undefined ? undefined : String(input.beneficiary_id)
  const payee = id === undefined ? undefined : await readPayee(caller, id)
  const amount = amountText(input, caller.currency)
  const title = id === undefined ? amount : `${amount ?? 'A payment'} to ${nameOfPayee(payee, id)}`
  const answer = refusedAnswer(caller, refusal)
  const refused = refusedPayment(caller, title, payee, answer)
  const made = await existingPayment(caller, refusal, input)
  if (made) {
    const isOfOtherOrder = isKeyConflict(refusal) && !isOthersKey(refusal) && !isSame(made, input)
    return isOfOtherOrder ? refused : { ...refused, ...(await existingOutcome(caller, made)) }
  }
  const denied = refusal.code === 'policy_denied' ? z.object({ decision: WireDecision }).safeParse(refusal.details) : undefined
  if (!denied?.success) return refused
  const decision = toToolDecision(denied.data.decision)
  const next = afterDenial(denied.data.decision)
  const passesAt = next === 'wait' ? decision.change?.passes_at : undefined
  const waitMs = passesAt ? Date.parse(passesAt) - caller.now().getTime() : undefined
  const address = limitAddress(caller, denied.data.decision)
  const raise = address === undefined ? '' : ` A person can change this at ${address}`
  return {
    ...refused,
    next,
    message: `${refused.message}${raise}`,
    address: address ?? answer.address,
    retry_after_seconds: waitMs === undefined ? answer.retry_after_seconds : Math.max(1, Math.ceil(waitMs / 1000)),
    decision,
  }
}
