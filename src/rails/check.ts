import { randomInt, randomUUID } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { PayoutAdapter, PayoutInstruction, RailCheck } from './rail.ts'

const maxSkewSeconds = 120

/** Checks the clock, because the provider rejects passwords with a timestamp from another minute. */
export const checkClock = async (baseUrl: string, clock: Clock, timeoutMs: number): Promise<RailCheck> => {
  const requirement = `the clock agrees with ${new URL(baseUrl).host}`
  const answer = await fetch(baseUrl, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }).catch(
    () => undefined,
  )
  const providerTime = Date.parse(answer?.headers.get('date') ?? '')
  if (Number.isNaN(providerTime)) return { requirement, problem: 'the provider is unreachable, or its answer has no time' }
  const skewSeconds = Math.abs(providerTime - clock.now().getTime()) / 1000
  const problem = skewSeconds <= maxSkewSeconds ? null : `it differs by ${Math.round(skewSeconds)} s: set this machine's clock`
  return { requirement, problem }
}

export const checkCallbackUrl = (url: string, isLoopback: boolean): RailCheck => {
  const requirement = `callbacks are delivered to ${url}`
  if (isLoopback) return { requirement, problem: 'providers cannot reach an address on this machine: set OPERATOR_URL' }
  const isHttps = url.startsWith('https://')
  return { requirement, problem: isHttps ? null : 'providers deliver to https:// addresses only: set OPERATOR_URL' }
}

const testAmountMinor = 1_000n

const reference = (): string => Array.from({ length: 12 }, () => randomInt(10)).join('')

/** Sends an order twice to the operator's own phone. A provider that accepts both pays twice. */
export const checkDuplicate = async (
  rail: Pick<PayoutAdapter, 'pay'>,
  order: Pick<PayoutInstruction, 'rail' | 'destination' | 'currency' | 'at'> & { operatorUrl: string },
): Promise<RailCheck> => {
  const orderId = randomUUID()
  // No attempt has this URL, so callbacks to it are rejected.
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
  const result = (problem: string | null): RailCheck => ({ requirement: `${order.rail} rejects a duplicate order`, problem })
  const first = await rail.pay(instruction)
  if (first.kind !== 'accepted') return result(`the provider did not accept the first order (${first.kind}): nothing was tested`)
  const second = await rail.pay(instruction)
  if (second.kind === 'accepted')
    return result('the provider accepted the order twice: leave the setting off, and check the statement for a second payment')
  const isRefused = second.kind === 'lost' && second.duplicate === true
  return result(isRefused ? null : `the answer to the second order proves nothing (${second.kind}): try again`)
}
