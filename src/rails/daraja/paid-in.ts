import { readShillings } from '../amounts.ts'
import { asList, field, textField } from '../json.ts'
import { nairobiDateTime, providerInstant } from '../nairobi-time.ts'
import type { Attempt, Evidence, Movement } from '../rail.ts'
import { receiptOf } from '../text.ts'
import type { Post } from './gateway.ts'

const unknown = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message })

const nothing = '1001'
/** A hundred thousand payments: a longer list is treated as an error. */
const mostPages = 1_000
/** Our clock and the provider's may differ by some seconds. */
const marginMs = 300_000
/** A prompt is answered within minutes: a payment that came in an hour later was not made by it. */
const promptMs = 3_600_000

type Period = { start: Date; end: Date }

/** The provider's list of payments to the shortcode, page by page. Undefined when it does not answer, or does not finish. */
const readList = async (post: Post, shortcode: string, { start, end }: Period): Promise<unknown[] | undefined> => {
  const period = { ShortCode: shortcode, StartDate: nairobiDateTime(start), EndDate: nairobiDateTime(end) }
  const payments: unknown[] = []
  const seen = new Set<string>()
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await post('/pulltransactions/v1/query', { ...period, OffSetValue: String(payments.length) })
    const code = answer.kind === 'answer' ? textField(answer.body, 'ResponseCode') : undefined
    // Nothing in the period, or a shortcode that is not registered for this list: what is known of that time is then a difference.
    if (code === nothing) return payments
    if (answer.kind !== 'answer' || code !== '1000') return undefined
    const listed = asList(field(answer.body, 'Response')).flatMap(asList)
    // A page may be shorter than another provider's; one that brings nothing new is past the end.
    const found = listed.filter((each) => !seen.has(JSON.stringify(each)))
    if (found.length === 0) return payments
    for (const each of found) seen.add(JSON.stringify(each))
    payments.push(...found)
  }
  return undefined
}

const movementOf = (payment: unknown): Movement | undefined => {
  const receipt = receiptOf(textField(payment, 'transactionId'))
  const amountMinor = readShillings(textField(payment, 'amount'))
  const at = providerInstant(textField(payment, 'trxDate') ?? '')
  const reference = textField(payment, 'billreference')
  if (receipt === undefined || amountMinor === undefined || at === undefined) return undefined
  return { receipt, at, amountMinor, references: reference ? [reference] : [] }
}

/** A line that cannot be read makes the list useless: an incomplete list would show differences that do not exist. */
export const listPaidIn = async (post: Post, shortcode: string, { start, end }: Period): Promise<Movement[] | undefined> => {
  const payments = await readList(post, shortcode, { start, end })
  const movements = payments?.map(movementOf) ?? []
  const read = movements.flatMap((movement) => movement ?? [])
  if (payments === undefined || read.length < payments.length) return undefined
  return read.filter(({ at }) => at >= start && at < end)
}

/**
 * What was paid in under an attempt's reference, from the provider's list of payments: for a prompt whose answer was lost, so that there is
 * no id to query by. A missing entry proves nothing. Two payments under one reference are left for a person.
 */
export const findPaidIn = async (post: Post, shortcode: string, attempt: Attempt, now: Date): Promise<Evidence> => {
  const end = Math.min(now.getTime(), attempt.at.getTime() + promptMs)
  const around = { start: new Date(attempt.at.getTime() - marginMs), end: new Date(end + marginMs) }
  const listed = await readList(post, shortcode, around)
  if (listed === undefined) return unknown('not_listed', 'The provider did not list what was paid in.')
  const payments = listed.filter((each) => textField(each, 'billreference') === attempt.reference)
  const [only] = payments
  if (payments.length !== 1)
    return unknown(payments.length === 0 ? 'not_listed' : 'listed_twice', 'The list of payments does not decide it.')
  const receipt = receiptOf(textField(only, 'transactionId'))
  const amountMinor = readShillings(textField(only, 'amount'))
  if (receipt === undefined || amountMinor === undefined)
    return unknown('unreadable', 'The list of payments could not be understood.')
  return { kind: 'succeeded', receipt, amountMinor }
}
