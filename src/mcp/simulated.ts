import { z } from 'zod'
import { otherAmountIn } from './amount.ts'
import { afterDenial, ToolDecision, toToolDecision, WireDecision } from './decision.ts'
import { askedFor } from './headline.ts'
import { guide } from './next.ts'
import { CardPayee, otherNameText, readPayee } from './payee.ts'
import { answered, type Caller } from './tool.ts'

/** `done`: nothing was paid, and create_payment with the same order would be accepted. */
export const Simulated = ToolDecision.extend({ ...guide, payee: CardPayee.optional() })

const WireSimulation = WireDecision.extend({ explanation: z.string() })

const sentenceOf = ({ outcome, required_approvals }: ToolDecision, explanation: string, at: string | undefined): string => {
  if (outcome === 'allow')
    return at === undefined
      ? 'it would be paid now. Call create_payment.'
      : `it would be paid at ${at}, if the limits and the balance allow it then. Call create_payment.`
  if (outcome === 'deny') return `it would be refused. ${explanation}`
  const needed = required_approvals === 1 ? '1 person' : `${required_approvals} people`
  return `${needed} would have to approve it after create_payment. ${explanation}`
}

export const simulated = async (
  caller: Caller,
  order: { amount_minor: string; beneficiary_id: string; execute_at?: string | undefined },
  narrative: string | undefined,
): Promise<z.output<typeof Simulated>> => {
  const body = { ...order, on_duplicate: 'confirm' }
  const answer = answered(WireSimulation, await caller.call({ method: 'POST', path: '/v1/spending-policies/simulate', body }))
  const decision = toToolDecision(answer)
  const other = otherAmountIn(narrative, BigInt(order.amount_minor), caller.currency)
  const payee = await readPayee(caller, order.beneficiary_id)
  const sentence = `${askedFor(order, payee, caller.currency)}: ${sentenceOf(decision, answer.explanation, order.execute_at)}`
  return {
    ...decision,
    next: decision.outcome === 'deny' ? afterDenial(decision) : 'done',
    message: [sentence, otherNameText(payee), other].filter(Boolean).join(' '),
    ...(payee && { payee }),
  }
}
