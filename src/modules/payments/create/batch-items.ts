import { maySeeBalance, type Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { type ErrorCode, errorRow } from '../../../errors/catalogue.ts'
import { countThatFits } from '../../../http/pagination.ts'
import { type ErrorDetails, maxNamedFaults, Refusal, refuseFields } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../../lib/money.ts'
import { hasAccounts, phoneRail } from '../../../lib/rail-names.ts'
import type { Rails } from '../../../rails/rail.ts'
import { ensureBeneficiaries, refusalOfDestination } from '../../beneficiaries/payee-service.ts'
import type { CreateBeneficiary } from '../../beneficiaries/schema.ts'
import type { CreationDeps } from '../../beneficiaries/service.ts'
import type { BatchItem } from '../batch/schema.ts'
import type { BatchRequest, Fault } from '../request.ts'
import type { CreatePayment } from '../schema.ts'
import { confirmDuplicates, type ItemContext } from './preconditions.ts'

/** Errors that concern the whole request, regardless of its items. */
const wholeRequestCodes: ReadonlySet<ErrorCode> = new Set([
  'workspace_frozen',
  'account_frozen',
  'grant_frozen',
  'capability_disabled',
  'invalid_token',
  'provider_not_configured',
])

const isDuplicate = ({ details }: Refusal): boolean => details?.reason === 'possible_duplicate'

/** The first class with a fault determines the answer: invalid request, denial, insufficient funds, duplicate to confirm. */
const precedence = [
  [400, 'invalid_request'],
  [403, 'policy_denied'],
  [402, 'insufficient_funds'],
  [409, 'conflict'],
] as const

const statusOf = ({ refusal }: Fault): number =>
  isDuplicate(refusal) ? 409 : refusal.status === 402 || refusal.status === 403 ? refusal.status : 400

const fieldsOf = ({ details, message }: Refusal): { path?: string; message: string }[] => {
  const fields = details?.fields as { path: string; message: string }[] | undefined
  if (fields && fields.length > 0) return fields
  const path = details?.field as string | undefined
  return [{ ...(path !== undefined && { path }), message }]
}

const fixOf = (refusal: Refusal, rows: readonly number[] | null): string => {
  if (isDuplicate(refusal)) return `Leave the item out. If a second payment is meant, ${confirmDuplicates(rows)}.`
  if (refusal.code === 'policy_denied')
    return 'Change what the rule in `message` refuses, such as the amount of this row, or leave the row out.'
  if (refusal.code === 'invalid_request') return 'Correct this field of this row, and send the whole list again.'
  return errorRow(refusal.code).fix
}

const earlierOf = ({ details = {} }: Refusal) =>
  Object.fromEntries(
    (['existing_payment_id', 'same_as_index', 'same_as_row'] as const).flatMap((name) =>
      details[name] === undefined ? [] : [[name, details[name]]],
    ),
  )

/** One entry for each wrong field. `row`: spreadsheet row of a CSV batch. */
const presentFault = ({ index, refusal }: Fault, rows: readonly number[] | null) =>
  fieldsOf(refusal).map(({ path, message }) => ({
    index,
    ...(rows && { row: rows[index] }),
    error: refusal.code,
    message,
    ...(path !== undefined && { param: path }),
    ...earlierOf(refusal),
    fix: fixOf(refusal, rows),
  }))

/** An amount that is mistyped or above a limit says nothing about the money needed. A row with another fault needs it once corrected. */
const refusesAmount = (fault: Fault): boolean =>
  fault.refusal.code === 'policy_denied' ||
  (statusOf(fault) === 400 && fieldsOf(fault.refusal).some(({ path }) => path === 'amount' || path === 'amount_minor'))

/** `fees`: by index, of the items whose beneficiaries are known. */
type BatchFunds = { principal: Principal; available: Minor; fees: ReadonlyMap<number, Minor>; currency: string }

/** Error details for a batch above the balance. The available amount needs a permission. A scheduled batch holds nothing yet. */
const shortOf = (
  faults: readonly Fault[],
  { input, principal, available, fees, currency }: BatchFunds & Pick<BatchRequest, 'input'>,
): { funds: ErrorDetails; sentence: string | null } => {
  const refused = new Set(faults.filter(refusesAmount).map(({ index }) => index))
  const counted = input.items.flatMap((entry, index) =>
    'item' in entry && !refused.has(index) ? [{ ...entry.item, index }] : [],
  )
  const total = counted.reduce((sum, { amount_minor: amount }) => sum + amount, 0n)
  const feesMinor = counted.reduce((sum, { index }) => sum + (fees.get(index) ?? 0n), 0n)
  const required = total + feesMinor
  if (input.execute_at || required <= available) return { funds: {}, sentence: null }
  const maySee = maySeeBalance(principal)
  const feeText = feesMinor === 0n ? '' : ` and fees of ${displayAmount(feesMinor, currency)}`
  const needed = `${displayAmount(total, currency)}${feeText}${refused.size === 0 ? '' : ' without the refused amounts'}`
  return {
    funds: {
      total_minor: formatMinor(total),
      fees_minor: formatMinor(feesMinor),
      required_minor: formatMinor(required),
      ...(maySee && { available_minor: formatMinor(available) }),
    },
    sentence: maySee
      ? `Insufficient balance: the batch needs ${needed}, and ${displayAmount(available, currency)} is available.`
      : `Insufficient balance for ${needed}.`,
  }
}

/** One error for all items that cannot be paid; nothing was created. `available`: the balance before the first item. */
export const refusalForItems = (
  faults: readonly Fault[],
  { input, rows }: Pick<BatchRequest, 'input' | 'rows'>,
  payer: BatchFunds,
): Refusal => {
  const requestFault = faults.find(({ refusal }) => wholeRequestCodes.has(refusal.code))
  if (requestFault) return requestFault.refusal
  const [status, defaultCode] = precedence.find(([one]) => faults.some((fault) => statusOf(fault) === one)) ?? precedence[0]
  const { funds, sentence } = shortOf(faults, { input, ...payer })
  // Several codes have status 403: the answer has `policy_denied` if a rule decided, otherwise the first item's code.
  const codes = faults.filter((fault) => statusOf(fault) === status).map(({ refusal }) => refusal.code)
  const code = status !== 403 || codes.includes(defaultCode) ? defaultCode : codes[0]
  // Insufficient funds are reported once, not for each row, because no single row is wrong.
  const itemFaults = faults.filter(({ refusal }) => refusal.code !== 'insufficient_funds')
  const items = itemFaults.toSorted((one, other) => one.index - other.index).flatMap((fault) => presentFault(fault, rows))
  const named = items.slice(0, Math.min(countThatFits(items), maxNamedFaults))
  /** A policy or a duplicate refuses a row whose fields are valid. */
  const isInvalid = ({ error, param }: { error: ErrorCode; param?: string }) =>
    param !== undefined || errorRow(error).status === 400
  // The items of an earlier batch are not in the request.
  const pathOf = ({ index, param }: { index: number; param?: string }) =>
    input.againOf ? 'again' : ['items', index, ...(param === undefined ? [] : [param])].join('.')
  const affected = new Set(itemFaults.map(({ index }) => index)).size
  const which = named.length === items.length ? 'each' : 'the first of them'
  const sentences = [
    ...(affected > 0 ? [`${affected} of ${input.items.length} items cannot be paid. details.items names ${which}.`] : []),
    ...(sentence === null ? [] : [sentence]),
    'Nothing was created.',
  ]
  return new Refusal(code ?? defaultCode, {
    cause: itemFaults,
    message: sentences.join(' '),
    details: {
      ...funds,
      ...(status === 409 && { reason: 'possible_duplicate' }),
      ...(named.length < items.length && { more: items.length - named.length }),
      items: named,
      ...(status === 400 && { fields: named.filter(isInvalid).map((item) => ({ path: pathOf(item), message: item.message })) }),
    },
  })
}

/** `index`: position in the request. `isNew`: the item creates its beneficiary. `otherName`: the item's own name for it. */
export type KnownItem = { index: number; input: CreatePayment; isNew: boolean } & Pick<ItemContext, 'otherName'>

const wellFormed = ({ input }: BatchRequest): { index: number; item: BatchItem }[] =>
  input.items.flatMap((entry, index) => ('item' in entry ? [{ index, item: entry.item }] : []))

export const formFaults = (rails: Rails, { input }: BatchRequest): Fault[] =>
  input.items.flatMap((entry, index) => {
    if (!('faults' in entry)) return []
    const { faults, to } = entry
    const destination =
      to?.destination === undefined
        ? null
        : refusalOfDestination(rails, { ...to, payment_rail: to.payment_rail ?? phoneRail, destination: to.destination })
    return [refuseFields(faults), destination].flatMap((refusal) => refusal ?? []).map((refusal) => ({ index, refusal }))
  })

export const namesPayees = (request: BatchRequest): boolean =>
  wellFormed(request).some(({ item }) => item.beneficiary_id === undefined)

/** An item's payment fields, without the fields that describe its beneficiary. */
const inputOf = (
  { display_name, payment_rail, destination, bank_code, legal_name, type, ...payment }: BatchItem,
  beneficiaryId: Uuid,
  { input }: BatchRequest,
): CreatePayment => ({ ...payment, beneficiary_id: beneficiaryId, execute_at: input.execute_at })

export const itemsById = (request: BatchRequest): KnownItem[] =>
  wellFormed(request).flatMap(({ index, item }) =>
    item.beneficiary_id === undefined ? [] : [{ index, input: inputOf(item, item.beneficiary_id, request), isNew: false }],
  )

/** The item's beneficiary. On a rail with accounts under a destination, it includes the account reference. */
const payeeOf = ({
  display_name = '',
  destination = '',
  payment_rail = phoneRail,
  type = 'individual',
  legal_name,
  bank_code,
  account_reference,
}: BatchItem): CreateBeneficiary => ({
  ...{ display_name, destination, payment_rail, type, legal_name, bank_code },
  account_reference: hasAccounts(payment_rail) ? account_reference : null,
})

/** In characters. Bounds the comparison of names: longer ones are refused. */
const longestName = 120

/** Names are equal if they differ only in case and spaces: "ACHIENG  OTIENO" equals "Achieng Otieno". */
const plainName = (name: string): string => name.slice(0, longestName).normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()

/** All items with their beneficiaries. Creates missing beneficiaries. */
export const resolveItems = async (
  tx: Tx,
  deps: CreationDeps,
  principal: Principal,
  request: BatchRequest,
): Promise<{ items: KnownItem[]; faults: Fault[] }> => {
  const withoutId = wellFormed(request).filter(({ item }) => item.beneficiary_id === undefined)
  const asked = withoutId.map(({ item }) => ({ ...payeeOf(item), namesRail: item.payment_rail !== undefined }))
  const payees = await ensureBeneficiaries(tx, deps, principal, asked)
  const faults: Fault[] = []
  const resolved = withoutId.flatMap(({ index, item }, position): KnownItem[] => {
    const payee = payees[position]
    if (payee instanceof Refusal) faults.push({ index, refusal: payee })
    if (!payee || payee instanceof Refusal) return []
    const known = { index, input: inputOf(item, payee.id, request), isNew: payee.isNew }
    const givenName = item.display_name ?? ''
    const hasOtherName = payee.names.every((name) => plainName(name) !== plainName(givenName))
    return [hasOtherName ? { ...known, otherName: { name: payee.names[0] ?? '', givenName } } : known]
  })
  return { items: [...itemsById(request), ...resolved].sort((one, other) => one.index - other.index), faults }
}
