import { isolatedText } from '../api/isolate.ts'
import type { Schemas } from '../api/types.ts'
import { compareMinor } from './money.ts'

type Line = Schemas['PaymentBatchLines']['lines'][number]

/** A line as a person reads it: everything but the last payment is read from the leaf, so what is shown is what is approved. */
export type BatchLine = {
  paymentId: string
  index: number
  /** Of a list in CSV, as a spreadsheet numbers it. */
  row: number | null
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

const deviationsOf = (amountMinor: string, { verification, given_name: given, last_amount_minor: last }: Line): string[] => [
  ...(given === null ? [] : [`The list says “${given}”`]),
  ...(verification === 'no_match' ? ['The payment method reports another name'] : []),
  ...amountDeviations(amountMinor, last),
]

const amountDeviations = (amountMinor: string, lastMinor: string | null): string[] => {
  if (lastMinor === null) return ['Never paid before']
  const [amount, last] = [BigInt(amountMinor), BigInt(lastMinor)]
  if (amount > last * 2n) return ['More than twice the last payment']
  return amount * 2n < last ? ['Less than half of the last payment'] : []
}

const readLine = (line: Line): BatchLine => {
  const { payment_id: paymentId, leaf, row, last_amount_minor: lastMinor } = line
  const bound = JSON.parse(leaf) as Record<string, unknown>
  const amountMinor = textOf(bound, 'amount_minor')
  const reference = textOf(bound, 'account_reference')
  return {
    paymentId,
    index: Number(bound.index),
    row,
    payee: isolatedText(textOf(bound, 'payee')),
    rail: textOf(bound, 'rail'),
    mask: textOf(bound, 'destination_mask'),
    amountMinor,
    reference: reference === '' ? null : isolatedText(reference),
    lastMinor,
    deviations: deviationsOf(amountMinor, line),
  }
}

/** All lines in their order. Those to one number under several names say so: one of the names is another person's, or the number is. */
export const readLines = (lines: readonly Line[]): BatchLine[] => {
  const read = lines.map((line) => {
    const own = readLine(line)
    return { own, name: line.given_name ?? own.payee, digest: textOf(JSON.parse(line.leaf), 'destination_digest') }
  })
  const namesOf = new Map(
    [...Map.groupBy(read, ({ digest }) => digest)].map(([digest, all]) => [digest, new Set(all.map(({ name }) => name))]),
  )
  return read.map(({ own, name, digest }) => {
    const others = [...(namesOf.get(digest) ?? [])].filter((other) => other !== name).slice(0, 3)
    const shared = others.map((other) => `This number is also “${other}” in the list`)
    return { ...own, deviations: [...shared, ...own.deviations] }
  })
}

/** Those that deviate first, and of each kind the largest first. */
export const byDeviation = (lines: readonly BatchLine[]): BatchLine[] =>
  lines.toSorted(
    (one, other) =>
      Number(other.deviations.length > 0) - Number(one.deviations.length > 0) || compareMinor(other.amountMinor, one.amountMinor),
  )
