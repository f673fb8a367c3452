import { z } from 'zod'
import { displayAmount } from '../../lib/money.ts'
import { guide } from '../next.ts'
import { answered, defineTool, reads } from '../tool.ts'

const Amount = z.string().nullable()

const Credential = z.object({
  account_id: z.string(),
  workspace_id: z.string(),
  permissions: z.array(z.string()),
  headroom: z
    .object({ per_payment_minor: Amount, today_minor: Amount, month_minor: Amount, approval_from_minor: Amount })
    .describe(
      'What may still be paid, by the strictest limits; null is no limit. At or above approval_from_minor a person must approve.',
    ),
  expires_at: z.string().nullable(),
})

const whoami = defineTool({
  name: 'get_credential',
  title: 'Who am I',
  description: 'What this credential may do, and how much it may still pay today and this month. Call it first.',
  operation: null,
  hints: reads,
  input: z.strictObject({}),
  output: Credential.extend(guide),
  run: async (_input, caller) => {
    const credential = answered(Credential, await caller.call({ method: 'GET', path: '/v1/credentials/current' }))
    const { permissions } = credential
    const message = permissions.includes('payment.create')
      ? 'Find the payee with list_beneficiaries, then call simulate_payment.'
      : 'This credential cannot pay: a person would have to give it payment.create.'
    return { ...credential, next: 'done' as const, message }
  },
})

const Balance = z.object({ currency: z.string(), available_minor: z.string(), held_minor: z.string() })

const balance = defineTool({
  name: 'get_balance',
  title: 'Read the balance',
  description: 'What can be spent, and what is held for payments under way.',
  operation: 'accounts.get',
  hints: reads,
  input: z.strictObject({}),
  output: Balance.extend(guide),
  run: async (_input, caller) => {
    const { balance: read } = answered(
      z.object({ balance: Balance }),
      await caller.call({ method: 'GET', path: '/v1/accounts/me' }),
    )
    const [available, held] = [read.available_minor, read.held_minor].map((text) => displayAmount(BigInt(text), read.currency))
    const message = `${available} can be spent; ${held} is held for payments under way. request_topup brings more in.`
    return { ...read, next: 'done' as const, message }
  },
})

export const accountTools = [whoami, balance]
