import { z } from 'zod'
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

const request = defineTool({
  name: 'request_topup',
  title: 'Request a top-up',
  description: 'Sends an M-PESA prompt to a phone. Its owner enters the PIN there, and the money arrives in the account.',
  operation: 'topups.initiate',
  hints: { readOnly: false, destructive: false, idempotent: true, openWorld: true },
  input: z.strictObject({
    idempotency_key: z.string().min(1).max(255).describe('One per intended top-up.'),
    amount_minor: z
      .string()
      .regex(/^[1-9]\d{0,17}$/)
      .describe('Minor units, whole shillings: "100000" is KES 1,000.00.'),
    phone_number: z.string().describe('A Kenyan mobile number.'),
  }),
  output: Topup,
  run: async ({ idempotency_key: idempotencyKey, ...body }, caller) =>
    answered(Topup, await caller.call({ method: 'POST', path: '/v1/topups/initiate', body, idempotencyKey })),
})

const get = defineTool({
  name: 'get_topup',
  title: 'Read a top-up',
  description: 'Whether a top-up has arrived.',
  operation: 'topups.get',
  hints: reads,
  input: z.strictObject({ topup_id: z.string() }),
  output: Topup,
  run: async ({ topup_id }, caller) =>
    answered(Topup, await caller.call({ method: 'GET', path: `/v1/topups/${encodeURIComponent(topup_id)}` })),
})

export const topupTools = [request, get]
