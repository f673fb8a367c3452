import { z } from 'zod'
import { mandateStatuses } from '../../db/transitions.ts'
import { displayAmount } from '../../lib/money.ts'
import { guide } from '../next.ts'
import { answered, defineTool, nextCursor, pageInput, pageQuery, reads } from '../tool.ts'

const Wire = z.object({
  id: z.string(),
  status: z.enum(mandateStatuses),
  description: z.string(),
  max_total_minor: z.string(),
  max_per_payment_minor: z.string().nullable(),
  max_payments: z.int().nullable(),
  spent_minor: z.string(),
  payments_made: z.int(),
  beneficiary_ids: z.array(z.string()),
  payment_types: z.array(z.string()),
  expires_at: z.string(),
})

const Mandate = Wire.extend({
  left_minor: z.string().describe('What may still be paid under it.'),
  payments_left: z.int().nullable(),
  summary: z.string(),
})

const list = defineTool({
  name: 'list_mandates',
  title: 'List mandates',
  description: 'What a wallet has approved in advance, and how much of it is left. Name one in create_payment by mandate_id.',
  operation: 'mandates.list',
  hints: reads,
  input: z.strictObject({ status: z.enum(mandateStatuses).default('active'), ...pageInput }),
  output: z.object({ ...guide, mandates: z.array(Mandate), next_cursor: nextCursor }),
  run: async ({ status, ...page }, caller) => {
    const { data, next_cursor } = answered(
      z.object({ data: z.array(Wire), next_cursor: nextCursor }),
      await caller.call({ method: 'GET', path: '/v1/intent-mandates', query: { status, ...pageQuery(page) } }),
    )
    const mandates = data.map((mandate) => {
      const left = BigInt(mandate.max_total_minor) - BigInt(mandate.spent_minor)
      return {
        ...mandate,
        left_minor: left.toString(),
        payments_left: mandate.max_payments === null ? null : mandate.max_payments - mandate.payments_made,
        summary: `${displayAmount(left, caller.currency)} left until ${mandate.expires_at}`,
      }
    })
    const none = mandates.length === 0
    const message = none
      ? 'There is none: a payment that needs an approval asks a person.'
      : 'A payment that one covers needs one approval less. Name it only for what its description says.'
    return { next: 'done' as const, message, mandates, next_cursor }
  },
})

export const mandateTools = [list]
