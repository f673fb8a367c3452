import { readShillings } from '../amounts.ts'
import { asList, field, textField } from '../json.ts'
import { nairobiDateTime } from '../nairobi-time.ts'
import type { Attempt, Evidence } from '../rail.ts'
import { receiptOf } from '../text.ts'
import type { Post } from './gateway.ts'

const unknown = (code: string, message: string): Evidence => ({ kind: 'unknown', code, message })

const pageSize = 100
const mostPages = 10
/** Our clock and the provider's need not agree to the second. */
const marginMs = 300_000

/**
 * What was paid in under an attempt's reference, from the provider's list of payments: for a prompt whose answer was lost, so that there
 * is no id to ask by. Not being listed proves nothing. Two payments under one reference are for a person.
 */
export const findPaidIn = async (post: Post, shortcode: string, attempt: Attempt, now: Date): Promise<Evidence> => {
  const period = {
    ShortCode: shortcode,
    StartDate: nairobiDateTime(new Date(attempt.at.getTime() - marginMs)),
    EndDate: nairobiDateTime(new Date(now.getTime() + marginMs)),
  }
  const payments: unknown[] = []
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await post('/pulltransactions/v1/query', { ...period, OffSetValue: String(page * pageSize) })
    if (answer.kind !== 'answer' || textField(answer.body, 'ResponseCode') !== '1000')
      return unknown('not_listed', 'The provider did not list what was paid in.')
    const listed = asList(field(answer.body, 'Response')).flatMap(asList)
    payments.push(...listed.filter((each) => textField(each, 'billreference') === attempt.reference))
    if (listed.length < pageSize) break
  }
  const [only] = payments
  if (payments.length !== 1)
    return unknown(payments.length === 0 ? 'not_listed' : 'listed_twice', 'The list of payments does not decide it.')
  const receipt = receiptOf(textField(only, 'transactionId'))
  const amountMinor = readShillings(textField(only, 'amount'))
  if (receipt === undefined || amountMinor === undefined)
    return unknown('unreadable', 'The list of payments could not be understood.')
  return { kind: 'succeeded', receipt, amountMinor }
}
