import { z } from 'zod'
import { paymentStatuses } from '../db/transitions.ts'
import { failureActors, failureRow, isFailureCode } from '../errors/failures.ts'
import { displayAmount } from '../lib/money.ts'
import { quoted } from '../lib/text.ts'
import { otherAmountIn } from './amount.ts'
import { afterDenial, ToolDecision, toToolDecision, WireDecision } from './decision.ts'
import { askedFor, headline, payeeText, WirePayee } from './headline.ts'
import { addressOf, agentStep, guided, type Next, nextSteps } from './next.ts'
import { CardPayee, otherNameText, readPayee } from './payee.ts'
import { type Caller, type ToolRefusal, toolRefusalOf } from './tool.ts'

/** The same answer about a payment for every status. */
export const PaymentOutcome = z.object({
  status: z.enum([...paymentStatuses, 'refused']).describe('`refused`: no payment was made.'),
  payment_id: z.string().nullable(),
  next: z
    .enum(nextSteps)
    .describe(
      'done; wait: call wait_for_payment; ask_a_person: show `approval` or `message`; change_request: see `decision.change`; stop.',
    ),
  message: z.string().describe('Begins with the amount and the payee.'),
  amount_minor: z.string().optional(),
  currency: z.string(),
  payee: CardPayee.optional(),
  address: z.string().optional().describe('Where a person does something about a refusal.'),
  approval: z
    .object({
      id: z.string(),
      url: z.string().describe('Where a person decides. Give it to the person as it is.'),
      expires_at: z.string(),
      summary: z.object({ amount: z.string(), payee: z.string(), purpose: z.string(), why: z.string() }),
    })
    .optional(),
  retry_after_seconds: z.int().optional(),
  decision: ToolDecision.nullable(),
  refusal: z
    .object({
      code: z.string(),
      existing_payment_id: z.string().optional().describe('The payment that this one repeats. Read it with get_payment.'),
      fields: z.array(z.looseObject({ path: z.string(), message: z.string() })).optional(),
    })
    .optional(),
  receipt: z.string().nullable(),
})
export type PaymentOutcome = z.output<typeof PaymentOutcome>

/** The fields of the API's Payment that the tools use. */
export const WirePayment = z.object({
  id: z.string(),
  status: z.enum(paymentStatuses),
  amount_minor: z.string(),
  currency: z.string(),
  beneficiary_id: z.string(),
  beneficiary: WirePayee,
  purpose_code: z.string().nullable(),
  account_reference: z.string().nullable(),
  narrative: z.string().nullable(),
  approval_id: z.string().nullable(),
  decision: WireDecision,
  provider_receipt: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  created_at: z.string(),
})
export type WirePayment = z.output<typeof WirePayment>

const steps: Readonly<Record<WirePayment['status'], readonly [next: Next, message: string]>> = {
  scheduled: [
    'wait',
    'It is decided and sent at its time, which is when its money is taken. If approval.url is given, a person must approve it there before. Call get_payment after that time.',
  ],
  pending_approval: ['ask_a_person', 'A person has to approve this payment. Show them approval.url, then call wait_for_payment.'],
  processing: ['wait', 'The payment was sent to the provider. Call wait_for_payment.'],
  unknown: ['wait', 'The outcome is not known yet. Do not send it again: that would pay twice. Call wait_for_payment later.'],
  succeeded: ['done', 'The money has arrived.'],
  failed: ['stop', 'The payment failed and the money is back. Tell the person; a new attempt needs a new idempotency_key.'],
  rejected: ['stop', 'A person rejected this payment. Do not try to pay it in another way.'],
  cancelled: ['stop', 'The payment was cancelled and the money is back.'],
  expired: ['stop', 'It was not decided in time, and the money is back. Ask the person whether it is still wanted.'],
  returned: ['stop', 'The payment was made and came back. Tell the person.'],
}

/** It may still end in more than one way. */
export const isUnderWay = ({ status }: Pick<WirePayment, 'status'>): boolean =>
  ['wait', 'ask_a_person'].includes(steps[status][0])

const pollSeconds = 5

const SigningMessage = z.object({ expires_at: z.string() })

const reasonsText = ({ required_approvals, reasons }: ToolDecision, currency: string): string => {
  const rules = reasons.map(({ of, limit_minor }) =>
    limit_minor === undefined ? of : `${of} asks from ${displayAmount(BigInt(limit_minor), currency)} on`,
  )
  const needed = required_approvals === 1 ? '1 approval is needed' : `${required_approvals} approvals are needed`
  return rules.length === 0 ? needed : `${needed}: ${[...new Set(rules)].join('; ')}`
}

const approvalOf = async (caller: Caller, payment: WirePayment, decision: ToolDecision): Promise<PaymentOutcome['approval']> => {
  const { approval_id: id } = payment
  if (id === null || (payment.status !== 'pending_approval' && payment.status !== 'scheduled')) return undefined
  const { status, body } = await caller.call({ method: 'GET', path: `/v1/approvals/${id}/message` })
  if (status !== 200) return undefined
  return {
    id,
    url: `${caller.publicUrl}/approve/${id}`,
    expires_at: SigningMessage.parse(body).expires_at,
    summary: {
      amount: displayAmount(BigInt(payment.amount_minor), payment.currency),
      payee: quoted(payment.beneficiary.display_name),
      purpose:
        [payment.narrative, payment.account_reference].flatMap((text) => (text ? quoted(text) : [])).join(' · ') ||
        'none was given',
      why: reasonsText(decision, payment.currency),
    },
  }
}

export const outcomeOf = async (caller: Caller, payment: WirePayment): Promise<PaymentOutcome> => {
  const [next, message] = steps[payment.status]
  const decision = toToolDecision(payment.decision)
  const [approval, payee] = await Promise.all([approvalOf(caller, payment, decision), readPayee(caller, payment.beneficiary_id)])
  const otherName = isUnderWay(payment) ? otherNameText(payee) : undefined
  const failure = payment.failure_message ?? payment.failure_code
  const { failure_code: code } = payment
  const remedy = code !== null && isFailureCode(code) ? failureRow(code) : undefined
  const narrative = otherAmountIn(payment.narrative, BigInt(payment.amount_minor), payment.currency)
  const twin = decision.warnings.find((warning) => warning.code === 'possible_duplicate')?.payment_id
  const notes = [
    ...(payment.status === 'failed' && failure !== null ? [`Reason: ${failure}`] : []),
    ...(remedy ? [`What ${failureActors[remedy.actor]} can do: ${remedy.fix}`] : []),
    ...(otherName === undefined ? [] : [otherName]),
    ...(narrative === undefined ? [] : [narrative]),
    ...(twin === undefined
      ? []
      : [`It looks like ${twin}, which was made shortly before: tell the person if this was not meant.`]),
  ]
  return {
    status: payment.status,
    payment_id: payment.id,
    next,
    message: [`${headline(payment.amount_minor, payment.currency, payeeText(payment.beneficiary))}: ${message}`, ...notes].join(
      ' ',
    ),
    amount_minor: payment.amount_minor,
    currency: payment.currency,
    ...(payee && { payee }),
    ...(approval && { approval }),
    ...(next === 'wait' && { retry_after_seconds: pollSeconds }),
    decision,
    receipt: payment.provider_receipt,
  }
}

const Denied = z.object({ decision: WireDecision })
/** Only a person says whether a second payment like this one is meant. */
const Earlier = z.object({ existing_payment_id: z.string() })
const Fields = z.array(z.looseObject({ path: z.string(), message: z.string() }))

const secondsUntil = (caller: Caller, time: string): number =>
  Math.max(1, Math.ceil((Date.parse(time) - caller.now().getTime()) / 1000))

type Refused = Pick<ToolRefusal, 'envelope' | 'retryAfterSeconds'>
/** What was asked for, as the tool understood it. */
export type Order = { amount_minor: string; beneficiary_id: string; narrative?: string | undefined }

const refusedWith = async (caller: Caller, order: Order, { envelope, retryAfterSeconds }: Refused): Promise<PaymentOutcome> => {
  const { error, details } = envelope
  const { next: step, message, address } = guided(caller, envelope)
  const denied = error === 'policy_denied' ? Denied.safeParse(details) : undefined
  const decision = denied?.success ? toToolDecision(denied.data.decision) : null
  const fields = Fields.safeParse(details.fields)
  const earlier = Earlier.safeParse(details)
  const next = decision ? afterDenial(decision) : step
  const passesAt = decision?.change?.passes_at
  const wait = retryAfterSeconds ?? (next === 'wait' && passesAt ? secondsUntil(caller, passesAt) : undefined)
  const where = next === 'ask_a_person' ? (address ?? addressOf(caller, error)) : address
  const again = next === 'wait' && !decision ? ' Send the same call again, with the same idempotency_key.' : ''
  const payee = await readPayee(caller, order.beneficiary_id)
  return {
    status: 'refused',
    payment_id: null,
    next,
    message: `${askedFor(order, payee, caller.currency)}: nothing was paid. ${message}${again}`,
    currency: caller.currency,
    ...(payee && { payee }),
    ...(where !== undefined && { address: where }),
    ...(wait !== undefined && { retry_after_seconds: wait }),
    decision,
    refusal: {
      code: error,
      ...(earlier.success && { existing_payment_id: earlier.data.existing_payment_id }),
      ...(fields.success && { fields: fields.data }),
    },
    receipt: null,
  }
}

/** What only another credential solves is not an outcome of a payment: it stays an error, so that a client can ask for more scopes. */
export const refusalOutcome = async (caller: Caller, order: Order, error: unknown): Promise<PaymentOutcome> => {
  const refusal = toolRefusalOf(error)
  if (!refusal || agentStep(refusal.envelope.error) === 'new_credential') throw error
  return refusedWith(caller, order, refusal)
}
