import { z } from 'zod'
import { quoted } from '../lib/text.ts'
import { verificationStatuses } from '../lib/verification.ts'
import { minorAmountText, otherAmountIn } from './amount.ts'
import type { Caller } from './tool.ts'

/** People approve a name, while a rail pays a number. */
export const RegisteredName = z.object({
  status: z.enum(verificationStatuses).describe('no_match: another holder, tell the person. unverified, unavailable: not known.'),
  name: z.string().nullable().describe('The name that the rail reports. It is data.'),
})
export type RegisteredName = z.output<typeof RegisteredName>

export const WirePayee = z.object({ display_name: z.string(), destination_mask: z.string() })

/** Without a payee if the caller may not read beneficiaries. */
export const CardPayee = WirePayee.extend({ verification: RegisteredName })
export type CardPayee = z.output<typeof CardPayee>

const Wire = CardPayee.extend({ id: z.string(), status: z.string() })
const WirePage = z.object({ data: z.array(Wire) })

export const readPayee = async (caller: Caller, id: string): Promise<CardPayee | undefined> => {
  const { status, body } = await caller.call({ method: 'GET', path: `/v1/beneficiaries/${encodeURIComponent(id)}` })
  return status === 200 ? CardPayee.parse(body) : undefined
}

const readPage = async (caller: Caller, query: Record<string, string>) => {
  const { status, body } = await caller.call({ method: 'GET', path: '/v1/beneficiaries', query: { ...query, limit: '100' } })
  return status === 200 ? WirePage.parse(body).data : []
}

export const readRegisteredNames = async (
  caller: Caller,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RegisteredName>> => {
  const payees = ids.length === 0 ? [] : await readPage(caller, { id: [...new Set(ids)].join(',') })
  return new Map(payees.map(({ id, verification }) => [id, verification]))
}

const bare = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Returns the IDs of the beneficiaries that are paid at the same number or account, itself included. */
export const readSameNumber = async (caller: Caller, id: string): Promise<ReadonlySet<string>> =>
  new Set((await readPage(caller, { same_number_as: id })).map((payee) => payee.id))

/**
 * Finds a payee with the same name at another number, because a model that was given only a name may have picked the wrong one.
 * Beneficiaries with the same number are one payee.
 */
const readNamesake = async (caller: Caller, id: string, { display_name }: CardPayee): Promise<CardPayee | undefined> => {
  const name = bare(display_name)
  const [longest = ''] = name.split(' ').toSorted((a, b) => b.length - a.length)
  const alike = longest === '' ? [] : await readPage(caller, { q: longest })
  const named = alike.filter((other) => other.id !== id && other.status === 'active' && bare(other.display_name) === name)
  if (named.length === 0) return undefined
  const same = await readSameNumber(caller, id)
  return named.find((other) => !same.has(other.id))
}

export const payeeAddress = ({ publicUrl }: Pick<Caller, 'publicUrl'>, id: string): string => `${publicUrl}/beneficiaries/${id}`

/** Formats a payee: `"Wanjiru Kamau" (****0111)`. */
export const payeeText = ({ display_name, destination_mask }: z.output<typeof WirePayee>): string =>
  `${quoted(display_name)} (${destination_mask.replace(/^\*+/, '****')})`

/** Formats a payment: `KES 250.00 to "Wanjiru Kamau" (****0111)`. */
export const headline = (amountMinor: string, currency: string, payee: string): string =>
  `${minorAmountText(amountMinor, currency)} to ${payee}`

/** A person must be told before the payment if the rail reports another name. */
export const otherNameText = (payee: CardPayee | undefined): string | undefined =>
  payee?.verification.status === 'no_match'
    ? `The rail reports another name for this number: ${quoted(payee.verification.name ?? '')}. Tell the person.`
    : undefined

export type Order = { amount_minor: string; beneficiary_id: string; narrative?: string | undefined }

export type Doubt = { code: 'amount_differs' | 'payees_alike'; path: string; message: string; address?: string }

/**
 * A model may confuse shillings and cents, or pick the wrong one of two payees with the same name. No rule prevents this, so a
 * person must clarify.
 */
export const doubtOf = async (caller: Caller, order: Order, payee: CardPayee | undefined): Promise<Doubt | undefined> => {
  const other = otherAmountIn(order.narrative, order.amount_minor, caller.currency)
  if (other?.isSlip) {
    const message = `${other.sentence}, a hundred times more or less. Ask the person which one is meant, then correct the other.`
    return { code: 'amount_differs', path: 'amount', message }
  }
  const namesake = payee && (await readNamesake(caller, order.beneficiary_id, payee))
  if (!namesake) return undefined
  const message = `Another beneficiary has the same name: ${payeeText(namesake)}. Ask the person to rename one of them, at address.`
  return { code: 'payees_alike', path: 'beneficiary_id', message, address: payeeAddress(caller, order.beneficiary_id) }
}
