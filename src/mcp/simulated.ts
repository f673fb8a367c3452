import type { z } from 'zod'
import { otherAmountIn } from './amount.ts'
import { afterDenial, limitAddress, ToolDecision, toToolDecision, WireDecision } from './decision.ts'
import { doubtOf, type Order } from './doubt.ts'
import { guide, refusalFields } from './next.ts'
import { askedFor } from './outcome.ts'
import { CardPayee, otherNameText, readPayee } from './payee.ts'
import { answered, type Caller } from './tool.ts'

/** `done`: nothing was paid, and create_payment with the same order would be accepted. */
export const Simulated = ToolDecision.extend({ ...guide, payee: CardPayee.optional(), address: refusalFields.address })

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
  { narrative, ...order }: Order & { execute_at?: string | undefined },
): Promise<z.output<typeof Simulated>> => {
  const body = { ...order, on_duplicate: 'confirm' }
  const answer = answered(WireDecision, await caller.call({ method: 'POST', path: '/v1/spending-policies/simulate', body }))
  const decision = toToolDecision(answer)
  const payee = await readPayee(caller, order.beneficiary_id)
  const doubt = await doubtOf(caller, { ...order, narrative }, payee)
  const other = otherAmountIn(narrative, order.amount_minor, caller.currency)
  const denied = decision.outcome === 'deny'
  const address = doubt?.address ?? (denied ? limitAddress(caller, answer) : undefined)
  const sentence = doubt
    ? `create_payment would not send it. ${doubt.message}`
    : [sentenceOf(decision, answer.explanation, order.execute_at), other && `${other.sentence}: tell the person.`]
        .filter(Boolean)
        .join(' ')
  return {
    ...decision,
    next: doubt ? 'ask_a_person' : denied ? afterDenial(decision) : 'done',
    message: [`${askedFor(order, payee, caller.currency)}: ${sentence}`, otherNameText(payee)].filter(Boolean).join(' '),
    ...(payee && { payee }),
    ...(address !== undefined && { address }),
  }
}
