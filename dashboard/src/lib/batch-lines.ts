import { isolatedText } from '../api/isolate.ts'
import type { Schemas } from '../api/types.ts'
import { compareMinor } from './money.ts'

type Line = Schemas['PaymentBatchLines']['lines'][number]

/** A line as a person reads it: everything but the last payment is read from the leaf, so what is shown is what is approved. */
export type BatchLine = {
  paymentId: string
  index: number
  payee: string
  rail: string
  mask: string
  amountMinor: string
  reference: string | null
  lastMinor: string | null
  /** Why it needs a second look, the weightiest first. */
  deviations: string[]
}

const textOf = (leaf: Record<string, unknown>, name: string): string => {
  const value = leaf[name]
  return typeof value === 'string' ? value : ''
}

const deviationsOf = (amountMinor: string, { verification, last_amount_minor: last }: Line): string[] => [
  ...(verification === 'no_match' ? ['The payment method reports another name'] : []),
  ...amountDeviations(amountMinor, last),
]

const amountDeviations = (amountMinor: string, lastMinor: string | null): string[] => {
  if (lastMinor === null) return ['Never paid before']
  const [amount, last] = [BigInt(amountMinor), BigInt(lastMinor)]
  if (amount > last * 2n) return ['More than twice the last payment']
  return amount * 2n < last ? ['Less than half of the last payment'] : []
}

export const readLine = (line: Line): BatchLine => {
  const { payment_id: paymentId, leaf, last_amount_minor: lastMinor } = line
  const bound = JSON.parse(leaf) as Record<string, unknown>
  const amountMinor = textOf(bound, 'amount_minor')
  const reference = textOf(bound, 'account_reference')
  return {
    paymentId,
    index: Number(bound.index),
    payee: isolatedText(textOf(bound, 'payee')),
    rail: textOf(bound, 'rail'),
    mask: textOf(bound, 'destination_mask'),
    amountMinor,
    reference: reference === '' ? null : isolatedText(reference),
    lastMinor,
    deviations: deviationsOf(amountMinor, line),
  }
}

/** Those that deviate first, and of each kind the largest first. */
export const byDeviation = (lines: readonly BatchLine[]): BatchLine[] =>
  lines.toSorted(
    (one, other) =>
      Number(other.deviations.length > 0) - Number(one.deviations.length > 0) || compareMinor(other.amountMinor, one.amountMinor),
  )
