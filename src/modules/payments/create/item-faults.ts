import type { Principal } from '../../../auth/principal.ts'
import { type ErrorCode, errorRow } from '../../../errors/catalogue.ts'
import { fitting } from '../../../http/pagination.ts'
import { namedFaults, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../../lib/money.ts'
import type { BatchRequest } from '../request.ts'

/** Why an item of a batch cannot be paid. */
export type Fault = { index: number; refusal: Refusal }

export const faultOf = (index: number, refusal: Refusal): Fault => ({ index, refusal })

/** What stops the whole request, whatever its items are. */
const ofTheWhole: ReadonlySet<ErrorCode> = new Set([
  'workspace_frozen',
  'account_frozen',
  'grant_frozen',
  'capability_disabled',
  'invalid_token',
  'provider_not_configured',
])

const isShort = ({ refusal }: Fault): boolean => refusal.code === 'insufficient_funds'

const isDuplicate = ({ details }: Refusal): boolean => details?.reason === 'possible_duplicate'

type Class = 400 | 402 | 403 | 409

const classOf = ({ refusal }: Fault): Class =>
  isDuplicate(refusal) ? 409 : refusal.status === 402 || refusal.status === 403 ? refusal.status : 400

const fieldsOf = ({ details, message }: Refusal): { path?: string; message: string }[] => {
  const fields = details?.fields as { path: string; message: string }[] | undefined
  if (fields && fields.length > 0) return fields
  const path = (details?.param ?? details?.field) as string | undefined
  return [{ ...(path !== undefined && { path }), message }]
}

const fixOf = (refusal: Refusal): string =>
  isDuplicate(refusal)
    ? 'Leave the item out, or send `duplicates_intended: true` if a second payment is meant.'
    : fixOfCode(refusal)

const fixOfCode = ({ code }: Refusal): string =>
  code === 'invalid_request' ? 'Correct this field of this row, and send the whole list again.' : errorRow(code).fix

/** The payment, or the earlier row of the list, that an item looks like. */
const earlierOf = ({ details }: Refusal) =>
  Object.fromEntries(
    ['existing_payment_id', 'same_as_index', 'same_as_row'].flatMap((name) =>
      details?.[name] === undefined ? [] : [[name, details[name]]],
    ),
  )

/** `row`: of a list in CSV, as a spreadsheet numbers it. One entry for each field that is wrong. */
const presentFault = ({ index, refusal }: Fault, rows: readonly number[] | null) =>
  fieldsOf(refusal).map(({ path, message }) => ({
    index,
    ...(rows && { row: rows[index] }),
    error: refusal.code,
    message,
    ...(path !== undefined && { param: path }),
    ...earlierOf(refusal),
    fix: fixOf(refusal),
  }))

const codes = { 400: 'invalid_request', 402: 'insufficient_funds', 403: 'policy_denied', 409: 'conflict' } as const

/** 400 before 403 before 402 before 409: what is wrong with the request comes before what is allowed, that before what there is money for, and what only
 * has to be confirmed comes last. */
const order = [400, 403, 402, 409] as const

type Payer = { principal: Principal; balances: ReadonlyMap<Uuid, Minor>; currency: string }

/** Whether the list needs more than there is: with both sums for a principal that may read the balance. A scheduled list needs nothing yet. */
const shortOf = (total: Minor, { input, principal, balances, currency }: Payer & Pick<BatchRequest, 'input'>) => {
  const { accountId, permissions, workspace } = principal
  const available = balances.get(workspace.owningAccountId) ?? 0n
  if (input.execute_at || total <= available) return { funds: {}, sentence: null }
  const maySee = accountId === workspace.owningAccountId && permissions.has('account.read')
  return {
    funds: { total_minor: formatMinor(total), ...(maySee && { available_minor: formatMinor(available) }) },
    sentence: maySee
      ? `The balance does not suffice: the list needs ${displayAmount(total, currency)}, and ${displayAmount(available, currency)} is available.`
      : `The balance does not suffice for ${displayAmount(total, currency)}.`,
  }
}

/** One refusal for all items that cannot be paid: nothing was created. */
export const refusalForItems = (
  faults: readonly Fault[],
  { input, rows }: Pick<BatchRequest, 'input' | 'rows'>,
  payer: Payer,
): Refusal => {
  const whole = faults.find(({ refusal }) => ofTheWhole.has(refusal.code))
  if (whole) return whole.refusal
  const status = order.find((one) => faults.some((fault) => classOf(fault) === one)) ?? 400
  const total = input.items.reduce((sum, entry) => sum + ('item' in entry ? entry.item.amount_minor : 0n), 0n)
  const { funds, sentence } = shortOf(total, { input, ...payer })
  // Several kinds of refusal have this status: the first item's is the answer's, unless a rule decided.
  const own = faults.filter((fault) => classOf(fault) === status)
  const code =
    status === 403 && !own.some(({ refusal }) => refusal.code === 'policy_denied') ? own[0]?.refusal.code : codes[status]
  // A balance that does not suffice is said once: each row would be said to be wrong, and none is.
  const ofItems = faults.filter((fault) => !isShort(fault))
  const items = ofItems.toSorted((one, other) => one.index - other.index).flatMap((fault) => presentFault(fault, rows))
  const named = items.slice(0, Math.min(fitting(items), namedFaults))
  const affected = new Set(ofItems.map(({ index }) => index)).size
  const which = named.length === items.length ? 'each' : 'the first of them'
  const sentences = [
    ...(affected > 0 ? [`${affected} of ${input.items.length} items cannot be paid. details.items names ${which}.`] : []),
    ...(sentence === null ? [] : [sentence]),
    'Nothing was created.',
  ]
  return new Refusal(code ?? codes[status], {
    message: sentences.join(' '),
    details: {
      ...funds,
      ...(status === 409 && { reason: 'possible_duplicate' }),
      ...(named.length < items.length && { more: items.length - named.length }),
      items: named,
    },
  })
}
