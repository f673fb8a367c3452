import { closest } from './closest.ts'
import { columnOfTitle } from './list-columns.ts'

const snakeCase = (text: string): string =>
  text
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
    .replace(/[\s-]+/g, '_')
    .toLowerCase()

/** Names that other services use for our fields. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  cursor: ['page', 'offset', 'after', 'starting_after', 'page_token', 'next', 'next_cursor', 'before'],
  limit: ['per_page', 'page_size', 'size', 'count', 'max_results'],
  q: ['query', 'search', 'name', 'filter', 'term'],
  created_after: ['from', 'since', 'start', 'start_date', 'created_gte'],
  created_before: ['to', 'until', 'end', 'end_date', 'created_lte'],
  from: ['since', 'start', 'start_date', 'created_after'],
  to: ['until', 'end', 'end_date', 'created_before'],
  narrative: ['description', 'note', 'memo', 'remarks', 'reason', 'message'],
  account_reference: ['reference', 'ref', 'invoice', 'account', 'account_number'],
  beneficiary_id: ['payee', 'recipient', 'payee_id', 'recipient_id', 'to', 'destination'],
  destination: ['phone', 'phone_number', 'account_number', 'number', 'msisdn', 'till', 'paybill'],
  phone_number: ['phone', 'msisdn', 'mobile', 'number', 'destination'],
  display_name: ['name', 'title', 'full_name'],
  name: ['display_name', 'title', 'label'],
  payment_rail: ['rail', 'method', 'channel', 'payment_method'],
  spending_controls: ['limits', 'controls'],
  execute_at: ['scheduled_at', 'scheduled_for', 'date', 'send_at'],
  permissions: ['scopes', 'scope'],
  items: ['payments', 'payouts', 'transfers', 'recipients', 'rows', 'lines', 'entries', 'list', 'data'],
}

/**
 * The name that was probably meant: `amount_minor` for `amount`, `daily_limit_minor` for `dailyLimit`, `cursor` for `page`,
 * `destination` for `msisdn` (the title of a batch column), `status` for `statuss`.
 */
export const meantName = (input: string, known: readonly string[]): string | undefined => {
  const text = snakeCase(input.slice(0, 40))
  if (text.length === 0) return undefined
  return (
    known.find((name) => name === text) ??
    known.find((name) => name.startsWith(`${text}_`)) ??
    known.find((name) => otherNames[name]?.includes(text)) ??
    known.find((name) => name === columnOfTitle(text)) ??
    closest(text, known)
  )
}

export const didYouMean = (input: string, known: readonly string[]): string => {
  const name = meantName(input, known)
  return name === undefined ? '' : `; did you mean "${name}"?`
}
