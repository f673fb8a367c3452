import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { paymentStatuses } from '../../db/transitions.ts'
import { amountInput, minorOf } from '../amount.ts'
import { headline, payeeText } from '../headline.ts'
import { guide } from '../next.ts'
import { isUnderWay, outcomeOf, PaymentOutcome, refusalOutcome, WirePayment } from '../outcome.ts'
import { NameAtRail, readNamesAtRail } from '../payee.ts'
import { Simulated, simulated } from '../simulated.ts'
import { answered, type Caller, defineTool, nextCursor, pageInput, pageQuery, reads } from '../tool.ts'

const Key = z.string().min(1).max(255).describe('One per intended payment. Sending the same again is safe and pays once.')
const PurposeCode = z.string().max(4).optional().describe('ISO 20022 external purpose code, four capitals such as SALA.')
const order = {
  beneficiary_id: z.string().describe('From list_beneficiaries.'),
  ...amountInput,
  payment_type: z.string().optional().describe("Defaults to the beneficiary's rail."),
  purpose_code: PurposeCode,
  account_reference: z.string().max(20).optional(),
  mandate_id: z.string().optional(),
}

const ExecuteAt = z.string().optional().describe('When it is sent, RFC 3339 with a zone; left out: at once.')
const Narrative = z.string().max(140).optional().describe('What it is for. The person who approves reads it.')

/** The order as the API takes it. */
const withMinor = <In extends { amount?: string | undefined; amount_minor?: string | undefined }>({
  amount,
  amount_minor,
  ...rest
}: In) => ({
  ...rest,
  amount_minor: minorOf({ amount, amount_minor }),
})

const read = async (caller: Caller, id: string): Promise<WirePayment> =>
  answered(WirePayment, await caller.call({ method: 'GET', path: `/v1/payments/${encodeURIComponent(id)}` }))

const simulate = defineTool({
  name: 'simulate_payment',
  title: 'Simulate a payment',
  description:
    'Says whether a payment would be allowed now, need an approval, or be denied, and why. Moves nothing. Use it before create_payment.',
  operation: 'policies.simulate',
  hints: reads,
  input: z.strictObject({ ...order, narrative: Narrative, execute_at: ExecuteAt }),
  output: Simulated,
  run: async ({ narrative, ...input }, caller) => simulated(caller, withMinor(input), narrative),
})

const create = defineTool({
  name: 'create_payment',
  title: 'Create a payment',
  description:
    'Pays a beneficiary. Money leaves the account. Follow `next` in the answer: ask_a_person means that a person must approve at approval.url; change_request means that decision.change would pass; after stop, do not try another way.',
  operation: 'payments.create',
  hints: { readOnly: false, destructive: true, idempotent: true, openWorld: true },
  input: z.strictObject({
    idempotency_key: Key,
    ...order,
    narrative: Narrative,
    metadata: z.record(z.string(), z.string()).optional().describe('Your own references, such as an invoice number.'),
    execute_at: ExecuteAt,
    duplicate_of: z
      .string()
      .optional()
      .describe('Only after a refusal that names an earlier payment, and only if the person wants to pay twice: its id.'),
  }),
  output: PaymentOutcome,
  run: async ({ idempotency_key: idempotencyKey, ...input }, caller) => {
    const body = withMinor(input)
    try {
      // A model repeats calls: a payment that looks like an earlier one is refused until `duplicate_of` names that one.
      const order = { ...body, on_duplicate: 'confirm' }
      const answer = await caller.call({ method: 'POST', path: '/v1/payments', body: order, idempotencyKey })
      const payment = answered(WirePayment, answer)
      // A replay shows the payment as it was at first; its status may have changed since.
      const mayRead = answer.replayed ? await caller.call({ method: 'GET', path: `/v1/payments/${payment.id}` }) : undefined
      return await outcomeOf(caller, mayRead?.status === 200 ? WirePayment.parse(mayRead.body) : payment)
    } catch (error) {
      return await refusalOutcome(caller, body, error)
    }
  },
})

const get = defineTool({
  name: 'get_payment',
  title: 'Read a payment',
  description: 'The status of a payment, and what to do next.',
  operation: 'payments.get',
  hints: reads,
  input: z.strictObject({ payment_id: z.string() }),
  output: PaymentOutcome,
  run: async ({ payment_id }, caller) => outcomeOf(caller, await read(caller, payment_id)),
})

const firstPauseMs = 250
const longestPauseMs = 2_000

const wait = defineTool({
  name: 'wait_for_payment',
  title: 'Wait for a payment',
  description:
    'Waits until a payment has ended, at most timeout_seconds, and returns its status. Call it again while `next` is wait or ask_a_person.',
  operation: 'payments.get',
  hints: reads,
  waits: true,
  input: z.strictObject({ payment_id: z.string(), timeout_seconds: z.int().min(1).max(50).default(25) }),
  output: PaymentOutcome,
  run: async ({ payment_id, timeout_seconds }, caller) => {
    let payment = await read(caller, payment_id)
    let left = timeout_seconds * 1000
    for (let ms = firstPauseMs; isUnderWay(payment) && left > 0; ms = Math.min(longestPauseMs, ms * 2)) {
      const turn = Math.min(ms, left)
      await pause(turn, undefined, { signal: caller.signal })
      left -= turn
      payment = await read(caller, payment_id)
    }
    return outcomeOf(caller, payment)
  },
})

const Listed = WirePayment.pick({
  id: true,
  status: true,
  amount_minor: true,
  currency: true,
  beneficiary_id: true,
  beneficiary: true,
  purpose_code: true,
  account_reference: true,
  narrative: true,
  approval_id: true,
  provider_receipt: true,
  failure_code: true,
  created_at: true,
})

const list = defineTool({
  name: 'list_payments',
  title: 'List payments',
  description: 'Payments of the workspace, newest first. Use it to see whether something was already paid.',
  operation: 'payments.list',
  hints: reads,
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
    payments: z.array(Listed.extend({ summary: z.string(), payee_verification: NameAtRail.optional() })),
    next_cursor: nextCursor,
  }),
  run: async ({ limit, cursor, ...filters }, caller) => {
    const query = { ...filters, ...pageQuery({ limit, cursor }) }
    const page = answered(
      z.object({ data: z.array(Listed), next_cursor: nextCursor }),
      await caller.call({ method: 'GET', path: '/v1/payments', query }),
    )
    const names = await readNamesAtRail(
      caller,
      page.data.map(({ beneficiary_id }) => beneficiary_id),
    )
    const payments = page.data.map((payment) => {
      const verification = names.get(payment.beneficiary_id)
      return {
        summary: headline(payment.amount_minor, payment.currency, payeeText(payment.beneficiary)),
        ...payment,
        ...(verification && { payee_verification: verification }),
      }
    })
    const message = 'Read one with get_payment before you decide that it was paid or not.'
    return { next: 'done' as const, message, payments, next_cursor: page.next_cursor }
  },
})

const cancel = defineTool({
  name: 'cancel_payment',
  title: 'Cancel a payment',
  description: 'Cancels a payment that waits for its approval or its time. A payment that was sent cannot be cancelled.',
  operation: 'payments.cancel',
  hints: { readOnly: false, destructive: true, idempotent: true, openWorld: false },
  input: z.strictObject({ payment_id: z.string() }),
  output: PaymentOutcome,
  run: async ({ payment_id }, caller) => {
    const path = `/v1/payments/${encodeURIComponent(payment_id)}/cancel`
    return outcomeOf(caller, answered(WirePayment, await caller.call({ method: 'POST', path })))
  },
})

export const paymentTools = [simulate, create, get, wait, list, cancel]
