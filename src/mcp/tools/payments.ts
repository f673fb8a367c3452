import { z } from 'zod'
import { paymentStatuses } from '../../db/transitions.ts'
import { Payment } from '../../modules/payments/schema.ts'
import { amountInput, chargedFee, conflictingAmount, feeText, inSentWords, withMinor, withOneAmount } from '../amount.ts'
import {
  ApprovalLink,
  afterDenial,
  isUnderWay,
  limitAddress,
  openApprovalLink,
  PaymentOutcome,
  paymentOutcome,
  ToolDecision,
  toToolDecision,
  WireDecision,
  WirePayment,
} from '../outcome.ts'
import {
  CardPayee,
  findMistake,
  otherNameText,
  payeeText,
  paymentTitle,
  RegisteredName,
  readPayee,
  readPayees,
  WirePayee,
} from '../payee.ts'
import { existingOutcome, findEarlier, mistakeOutcome, orderTitle, refusedOutcome } from '../payment-refusal.ts'
import {
  type Caller,
  createRecord,
  defineTool,
  guide,
  isKeyUsed,
  nextCursor,
  pageInput,
  parseAnswer,
  pick,
  readHints,
  readPage,
  readRoute,
  refusalFields,
  waitForEnd,
  waitInput,
} from '../tool.ts'

const simulationText = ({ outcome, required_approvals }: ToolDecision, explanation: string, at: string | undefined): string => {
  if (outcome === 'allow')
    return at === undefined
      ? 'it would be paid now. Call create_payment.'
      : `it would be paid at ${at}, if the limits and the balance allow it then. Call create_payment.`
  if (outcome === 'deny') return `it would be refused. ${explanation}`
  const needed = required_approvals === 1 ? '1 person' : `${required_approvals} people`
  return `${needed} must approve it after create_payment. ${explanation}`
}

const Key = z.string().min(1).max(255).describe('One per intended payment. Repeating it is safe and pays once.')
const PurposeCode = z.string().max(4).optional().describe('ISO 20022 external purpose code, such as SALA.')
const orderInput = {
  beneficiary_id: z.string().describe('From list_beneficiaries.'),
  ...amountInput,
  payment_type: z.string().optional().describe('Defaults to the rail of the beneficiary.'),
  purpose_code: PurposeCode,
  account_reference: z.string().max(20).optional(),
  mandate_id: z.string().optional(),
}

const ExecuteAt = z.string().optional().describe('When to send it: RFC 3339 with a zone. Defaults to now.')
const Narrative = z.string().max(140).optional().describe('The purpose, which the approver reads.')

const readPayment = (caller: Caller, id: string): Promise<WirePayment> =>
  readRoute(caller, WirePayment, `/v1/payments/${encodeURIComponent(id)}`)

const WireSimulation = WireDecision.extend({ fee_minor: z.string().default('0') })

const simulate = defineTool({
  name: 'simulate_payment',
  title: 'Simulate a payment',
  description:
    'Returns whether a payment would be allowed now, need an approval, or be denied, and why. Moves no money. Use it before create_payment.',
  operation: 'policies.simulate',
  hints: readHints,
  input: withOneAmount(z.strictObject({ ...orderInput, narrative: Narrative, execute_at: ExecuteAt, ...waitInput })),
  // `done`: nothing was paid, and create_payment would accept the same order.
  output: ToolDecision.extend({
    ...guide,
    fee_minor: z.string().optional(),
    payee: CardPayee.optional(),
    ...refusalFields,
    approval: ApprovalLink.optional(),
  }),
  run: async ({ wait_seconds, ...input }, caller) => {
    const order = withMinor(input)
    const body = { ...order, on_duplicate: 'confirm' }
    const decide = async () =>
      parseAnswer(WireSimulation, await caller.call({ method: 'POST', path: '/v1/spending-policies/simulate', body }))
    const answer = await waitForEnd(caller, wait_seconds, {
      first: await decide(),
      isOpen: (one) => one.outcome === 'deny' && afterDenial(one) === 'wait',
      again: decide,
    })
    const decision = toToolDecision(answer)
    const duplicated = answer.outcome === 'deny' ? await findEarlier(caller, answer) : undefined
    const payee = await readPayee(caller, order.beneficiary_id)
    const mistake = await findMistake(caller, order, payee)
    const other = conflictingAmount(order.narrative, order.amount_minor, caller.currency)
    const denied = decision.outcome === 'deny'
    const address = mistake?.address ?? (denied ? limitAddress(caller, answer) : undefined)
    if (duplicated) {
      const { message, ...made } = await existingOutcome(caller, duplicated)
      return { ...decision, payee, ...made, message: `${message} create_payment would not create one either.` }
    }
    const explanation = inSentWords(answer.explanation, input)
    const sentences = mistake
      ? [`create_payment would not send it. ${mistake.message}`, denied && `It would also be refused: ${explanation}`]
      : [
          simulationText(decision, explanation, order.execute_at),
          feeText(answer.fee_minor, caller.currency),
          other && `${other.sentence}: tell the person.`,
        ]
    const sentence = sentences.filter(Boolean).join(' ')
    return {
      ...decision,
      fee_minor: chargedFee(answer.fee_minor),
      next: mistake ? 'ask_a_person' : denied ? afterDenial(answer) : 'done',
      message: [`${orderTitle(order, payee, caller.currency)}: ${sentence}`, otherNameText(payee)].filter(Boolean).join(' '),
      payee,
      address,
    }
  },
})

const create = defineTool({
  name: 'create_payment',
  title: 'Create a payment',
  description:
    'Pays a beneficiary: money leaves the account. Follow `next`. ask_a_person: show approval.url or address. change_request: correct what message names. stop: do not try another way.',
  operation: 'payments.create',
  hints: { ...readHints, readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  input: withOneAmount(
    z.strictObject({
      idempotency_key: Key,
      ...orderInput,
      narrative: Narrative,
      metadata: z
        .object({ invoice: z.string().optional() })
        .catchall(z.string())
        .optional()
        .describe('Your own references, as text values under any names.'),
      execute_at: ExecuteAt,
      duplicate_of: z
        .string()
        .optional()
        .describe('The earlier payment named in an error, if the person wants to pay twice. A person must then approve it.'),
      ...waitInput,
    }),
  ),
  output: PaymentOutcome,
  run: async ({ idempotency_key: idempotencyKey, wait_seconds, ...input }, caller) => {
    const body = withMinor(input)
    const payee = await readPayee(caller, body.beneficiary_id)
    const mistake = await findMistake(caller, body, payee)
    // A used key returns its payment again, even if it would now be asked about.
    if (mistake && !(await isKeyUsed(caller, '/v1/payments', idempotencyKey))) return mistakeOutcome(caller, body, payee, mistake)
    // A model repeats calls, naming the earlier payment itself, so an intended second payment requires a person's approval.
    const on_duplicate = body.duplicate_of === undefined ? 'confirm' : 'require_approval'
    const request = { path: '/v1/payments', body: { ...body, on_duplicate }, idempotencyKey }
    const { first, again } = await createRecord(caller, WirePayment, request)
    return paymentOutcome(caller, await waitForEnd(caller, wait_seconds, { first, isOpen: isUnderWay, again }))
  },
  refused: refusedOutcome,
})

const get = defineTool({
  name: 'get_payment',
  title: 'Get or wait for a payment',
  description:
    'Returns the status of a payment and the next step. With wait_seconds, waits for the end: call it again while `next` is wait or ask_a_person.',
  operation: 'payments.get',
  hints: readHints,
  input: z.strictObject({ payment_id: z.string(), ...waitInput }),
  output: PaymentOutcome,
  run: async ({ payment_id, wait_seconds }, caller) => {
    const again = () => readPayment(caller, payment_id)
    return paymentOutcome(caller, await waitForEnd(caller, wait_seconds, { first: await again(), isOpen: isUnderWay, again }))
  },
})

const Listed = pick(
  Payment,
  ...(['id', 'status', 'amount_minor', 'currency', 'beneficiary_id', 'beneficiary', 'purpose_code'] as const),
  ...(['account_reference', 'narrative', 'approval_id', 'provider_receipt', 'failure_code', 'created_at'] as const),
).extend({ beneficiary: WirePayee, failure_code: z.string().nullable() })

const list = defineTool({
  name: 'list_payments',
  title: 'List payments',
  description: 'Lists payments of the workspace, newest first. Use it to check whether something was already paid.',
  operation: 'payments.list',
  hints: readHints,
  input: z.strictObject({
    status: z.enum(paymentStatuses).optional(),
    batch_id: z.string().optional(),
    beneficiary_id: z.string().optional(),
    purpose_code: PurposeCode,
    account_reference: z.string().max(20).optional().describe('The whole reference, such as the account at a paybill.'),
    created_after: z.string().optional().describe('RFC 3339.'),
    created_before: z.string().optional().describe('RFC 3339.'),
    ...pageInput,
  }),
  output: z.object({
    ...guide,
    payments: z.array(
      Listed.omit({ approval_id: true }).extend({
        summary: z.string(),
        approval: ApprovalLink.optional(),
        payee_verification: RegisteredName.optional(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  run: async (query, caller) => {
    const page = await readPage(caller, Listed, '/v1/payments', query)
    const payees = await readPayees(
      caller,
      page.data.map(({ beneficiary_id }) => beneficiary_id),
    )
    const payments = page.data.map(({ approval_id, ...payment }) => ({
      summary: paymentTitle(payment.amount_minor, payment.currency, payeeText(payment.beneficiary)),
      ...payment,
      approval: openApprovalLink(caller, { ...payment, approval_id }),
      payee_verification: payees.get(payment.beneficiary_id)?.verification,
    }))
    const message = 'Check a payment with get_payment before you conclude whether it was paid.'
    return { next: 'done' as const, message, payments, next_cursor: page.next_cursor }
  },
})

const cancel = defineTool({
  name: 'cancel_payment',
  title: 'Cancel a payment',
  description: 'Cancels a payment that is scheduled or waits for approval. A payment that was sent cannot be cancelled.',
  operation: 'payments.cancel',
  hints: { ...readHints, readOnlyHint: false, destructiveHint: true },
  input: z.strictObject({ payment_id: z.string() }),
  output: PaymentOutcome,
  run: async ({ payment_id }, caller) => {
    const path = `/v1/payments/${encodeURIComponent(payment_id)}/cancel`
    return paymentOutcome(caller, parseAnswer(WirePayment, await caller.call({ method: 'POST', path })))
  },
})

export const paymentTools = [simulate, create, get, list, cancel]
