import { randomInt, randomUUID } from 'node:crypto'
import type { RailName } from '../lib/rail-names.ts'
import type { RailCheck } from './check.ts'
import type { PayoutAdapter, PayoutInstruction } from './rail.ts'

/** The least that both rails pay. */
const testAmountMinor = 1_000n

const reference = (): string => Array.from({ length: 12 }, () => randomInt(10)).join('')

/**
 * Sends the same order twice to a phone of the operator's own. The provider must take the first, and refuse the second as a duplicate: what it
 * takes twice it pays twice.
 */
export const checkDuplicate = async (
  rail: Pick<PayoutAdapter, 'pay'>,
  order: Pick<PayoutInstruction, 'rail' | 'destination' | 'currency' | 'at'> & { operatorUrl: string },
): Promise<RailCheck & { rail: RailName }> => {
  const orderId = randomUUID()
  // No attempt has this address: what is delivered to it is refused.
  const url = `${order.operatorUrl}/callbacks/${orderId}/test`
  const instruction: PayoutInstruction = {
    ...order,
    orderId,
    amountMinor: testAmountMinor,
    bankCode: null,
    beneficiaryName: 'Test of duplicates',
    accountReference: null,
    narrative: 'Test of duplicates',
    payer: 'test',
    reference: reference(),
    callbacks: { result: `${url}/result`, timeout: `${url}/timeout` },
  }
  const requirement = `${order.rail} refuses the same order when it comes again`
  const first = await rail.pay(instruction)
  if (first.kind !== 'accepted')
    return { rail: order.rail, requirement, problem: `the first order was not taken (${first.kind}): nothing was tested` }
  const second = await rail.pay(instruction)
  const isRefused = second.kind === 'lost' && second.duplicate === true
  const problem =
    second.kind === 'accepted'
      ? 'it took the order twice: leave the setting off, and look at the statement whether it paid twice'
      : `the answer to the second order proves nothing (${second.kind}): try again`
  return { rail: order.rail, requirement, problem: isRefused ? null : problem }
}
