import type { Principal } from '../../../auth/principal.ts'
import type { ErrorCode } from '../../../errors/catalogue.ts'
import { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import type { CreatePaymentBatch } from '../batch/schema.ts'

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

const classOf = ({ refusal }: Fault): 400 | 402 | 403 => (refusal.status === 402 ? 402 : refusal.status === 403 ? 403 : 400)

const paramOf = ({ details }: Refusal): string | undefined => {
  const fields = details?.fields as { path: string }[] | undefined
  return fields?.[0]?.path ?? (details?.param as string | undefined) ?? (details?.field as string | undefined)
}

const messageOf = ({ message, details }: Refusal): string => {
  const fields = details?.fields as { path: string; message: string }[] | undefined
  return fields?.map((field) => `${field.path} ${field.message}`).join('; ') ?? message
}

const presentFault = ({ index, refusal }: Fault) => {
  const param = paramOf(refusal)
  return { index, error: refusal.code, message: messageOf(refusal), ...(param !== undefined && { param }) }
}

const codes = { 400: 'invalid_request', 402: 'insufficient_funds', 403: 'policy_denied' } as const

/** 400 before 403 before 402: what is wrong with the request comes before what is allowed, and that before what there is money for. */
const order = [400, 403, 402] as const

/** One refusal for all items that cannot be paid: nothing was created. */
export const refusalForItems = (
  faults: readonly Fault[],
  { principal, input, balances }: { principal: Principal; input: CreatePaymentBatch; balances: ReadonlyMap<Uuid, Minor> },
): Refusal => {
  const whole = faults.find(({ refusal }) => ofTheWhole.has(refusal.code))
  if (whole) return whole.refusal
  const status = order.find((one) => faults.some((fault) => classOf(fault) === one)) ?? 400
  const { accountId, permissions, workspace } = principal
  const maySee = accountId === workspace.owningAccountId && permissions.has('account.read')
  const total = input.items.reduce((sum, item) => sum + item.amount_minor, 0n)
  const available = balances.get(workspace.owningAccountId) ?? 0n
  const funds = status === 402 && { total_minor: formatMinor(total), ...(maySee && { available_minor: formatMinor(available) }) }
  // Several kinds of refusal have this status: the first item's is the answer's, unless a rule decided.
  const own = faults.filter((fault) => classOf(fault) === status)
  const code =
    status === 403 && !own.some(({ refusal }) => refusal.code === 'policy_denied') ? own[0]?.refusal.code : codes[status]
  return new Refusal(code ?? codes[status], {
    message: `${faults.length} of ${input.items.length} items cannot be paid, so nothing was created. details.items names each.`,
    details: { ...funds, items: faults.map(presentFault) },
  })
}
