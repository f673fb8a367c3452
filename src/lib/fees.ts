import { z } from 'zod'
import { type Minor, minorPattern } from './money.ts'
import { type RailName, railNames } from './rail-names.ts'
import { repeatedName } from './repeated-name.ts'

/** A payment of at most `upToMinor` costs `feeMinor`. `upToMinor` null: any amount. */
type Band = { upToMinor: Minor | null; feeMinor: Minor }
/** Each rail's bands in ascending order. The last band covers any amount. A rail without bands is free. */
export type Tariff = Partial<Readonly<Record<RailName, readonly Band[]>>>

/** The service's fee for a payment, in addition to its amount. */
export const feeOf = (tariff: Tariff, rail: RailName, amountMinor: Minor): Minor =>
  tariff[rail]?.find(({ upToMinor }) => upToMinor === null || amountMinor <= upToMinor)?.feeMinor ?? 0n

const amountForm = 'must be a whole number of minor units, such as "2500"'
const Amount = z
  .union([z.string(), z.int()], amountForm)
  .transform(String)
  .pipe(z.string().regex(minorPattern, amountForm))
  .transform(BigInt)

const band = z
  .strictObject({ up_to_minor: Amount.nullable(), fee_minor: Amount }, 'must be {"up_to_minor": …, "fee_minor": …}')
  .transform(({ up_to_minor: upToMinor, fee_minor: feeMinor }): Band => ({ upToMinor, feeMinor }))

const bands = z.array(band, 'must be an array of bands').superRefine((all, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message })
  if (all.at(-1)?.upToMinor !== null) return refuse('must end with a band that has up_to_minor null, for all larger amounts')
  const limits = all.slice(0, -1).map(({ upToMinor }) => upToMinor)
  if (limits.includes(null)) return refuse('must have up_to_minor null only in its last band')
  const last = limits.findIndex((limit, index) => (limit ?? 0n) <= (limits[index - 1] ?? 0n))
  if (last >= 0) refuse(`must have ascending bands: up_to_minor ${limits[last]} is not above ${limits[last - 1] ?? 0n}`)
})

const known = z.strictObject(Object.fromEntries(railNames.map((rail) => [rail, bands.optional()])), {
  error: ({ code, keys }) =>
    code === 'unrecognized_keys'
      ? `unknown rail ${(keys as string[]).map((key) => `"${key}"`).join(', ')}. Valid rails: ${railNames.join(', ')}`
      : undefined,
})

const form = `must be JSON such as {"${railNames[1]}": [{"up_to_minor": "100000", "fee_minor": "1500"}, {"up_to_minor": null, "fee_minor": "3000"}]}`

/** @throws Error with a sentence that describes the problem */
export const parseTariff = (text: string): Tariff => {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw new Error(form)
  }
  const repeated = repeatedName(text)
  if (repeated !== undefined) throw new Error(`names ${repeated} twice`)
  const parsed = known.safeParse(given)
  if (parsed.success) return parsed.data as Tariff
  const [issue] = parsed.error.issues
  if (!issue || (issue.path.length === 0 && issue.code !== 'unrecognized_keys')) throw new Error(form)
  throw new Error(issue.path.length === 0 ? issue.message : `${issue.path.join('.')} ${issue.message}`)
}
