import { z } from 'zod'
import { displayAmount } from '../../lib/money.ts'
import { amountInput, minorOf } from '../amount.ts'
import { guide, type Next } from '../next.ts'
import { answered, defineTool, reads } from '../tool.ts'

const Topup = z.object({
  id: z.string(),
  status: z.string().describe('pending until the provider answers; expired may still succeed later.'),
  amount_minor: z.string().nullable().describe('Asked for; null for a deposit of any amount.'),
  received_minor: z.string().nullable().describe('What arrived.'),
  currency: z.string(),
  phone_number_mask: z.string().nullable(),
  instructions: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Of a deposit: where a person pays in, and under which number.'),
  provider_receipt: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
})

const GuidedTopup = Topup.extend(guide)

const nextOf: Readonly<Record<string, readonly [Next, string]>> = {
  pending: ['wait', 'the owner of the phone enters the PIN there. Call get_topup until it has ended.'],
  succeeded: ['done', 'the money is in the account.'],
  failed: ['ask_a_person', 'it failed. Ask the owner of the phone before you send another prompt.'],
  expired: [
    'ask_a_person',
    'nothing arrived in time; it may still arrive. Ask the owner of the phone before you send another prompt.',
  ],
}

const withGuide = (topup: z.output<typeof Topup>): z.output<typeof GuidedTopup> => {
  const { status, amount_minor, received_minor, currency, phone_number_mask: phone } = topup
  const [next, sentence] = nextOf[status] ?? ['done' as const, status]
  const sum = received_minor ?? amount_minor
  const from = phone === null ? '' : ` from ${phone}`
  return { ...topup, next, message: `${sum === null ? currency : displayAmount(BigInt(sum), currency)}${from}: ${sentence}` }
}

const request = defineTool({
  name: 'request_topup',
  title: 'Request a top-up',
  description: 'Sends an M-PESA prompt to a phone. Its owner enters the PIN there, and the money arrives in the account.',
  operation: 'topups.initiate',
  hints: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  input: z.strictObject({
    idempotency_key: z.string().min(1).max(255).describe('One per intended top-up.'),
    ...amountInput,
    phone_number: z.string().describe('A Kenyan mobile number.'),
  }),
  output: GuidedTopup,
  run: async ({ idempotency_key: idempotencyKey, amount, amount_minor, phone_number }, caller) => {
    const body = { phone_number, amount_minor: minorOf({ amount, amount_minor }) }
    return withGuide(answered(Topup, await caller.call({ method: 'POST', path: '/v1/topups/initiate', body, idempotencyKey })))
  },
})

const get = defineTool({
  name: 'get_topup',
  title: 'Read a top-up',
  description: 'Whether a top-up has arrived.',
  operation: 'topups.get',
  hints: reads,
  input: z.strictObject({ topup_id: z.string() }),
  output: GuidedTopup,
  run: async ({ topup_id }, caller) =>
    withGuide(answered(Topup, await caller.call({ method: 'GET', path: `/v1/topups/${encodeURIComponent(topup_id)}` }))),
})

export const topupTools = [request, get]
