import { z } from 'zod'
import { chunksOf } from '../lib/lists.ts'
import { quoted } from '../lib/text.ts'
import { verificationStatuses } from '../lib/verification.ts'
import { conflictingAmount, minorAmountText } from './amount.ts'
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

const WireBeneficiary = CardPayee.extend({ id: z.string(), status: z.string() })
const WireBeneficiaries = z.object({ data: z.array(WireBeneficiary), next_cursor: z.string().nullable() })

export const readPayee = async (caller: Caller, id: string): Promise<CardPayee | undefined> => {
  const { status, body } = await caller.call({ method: 'GET', path: `/v1/beneficiaries/${encodeURIComponent(id)}` })
  return status === 200 ? CardPayee.parse(body) : undefined
}

const pageSize = 100
/** Code points. The list accepts a search of 100 UTF-16 units, and a display name may be longer. */
const maxSearch = 50
const maxPages = 10

/** Up to 1,000 beneficiaries, newest first. Empty if the caller may not read them. */
const findBeneficiaries = async (caller: Caller, query: Record<string, string>): Promise<z.output<typeof WireBeneficiary>[]> => {
  const all: z.output<typeof WireBeneficiary>[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const pageQuery = { ...query, limit: String(pageSize), ...(cursor !== undefined && { cursor }) }
    const { status, body } = await caller.call({ method: 'GET', path: '/v1/beneficiaries', query: pageQuery })
    if (status !== 200) break
    const { data, next_cursor } = WireBeneficiaries.parse(body)
    all.push(...data)
    if (next_cursor === null) break
    cursor = next_cursor
  }
  return all
}

export const readPayees = async (caller: Caller, ids: readonly string[]): Promise<ReadonlyMap<string, CardPayee>> => {
  const pages = chunksOf([...new Set(ids)], pageSize).map((chunk) => findBeneficiaries(caller, { id: chunk.join(',') }))
  return new Map((await Promise.all(pages)).flat().map((payee) => [payee.id, payee]))
}

const nameKey = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The IDs of all beneficiaries that are paid at the same number or account as beneficiary `id`, including `id`. */
export const readSameNumber = async (caller: Caller, id: string): Promise<ReadonlySet<string>> =>
  new Set((await findBeneficiaries(caller, { same_number_as: id })).map((payee) => payee.id))

const longestWord = (name: string): string =>
  nameKey(name)
    .split(' ')
    .toSorted((a, b) => b.length - a.length)[0] ?? ''

/**
 * Finds a payee with the same name at another number, because a model that was given only a name may have picked the wrong one.
 * Beneficiaries with the same number are one payee.
 */
export const readNamesake = async (
  caller: Caller,
  id: string,
  { display_name }: CardPayee,
  // The whole name finds the same spelling among any number of beneficiaries, and its longest word other spellings.
  searches: readonly string[] = [display_name, longestWord(display_name)],
): Promise<CardPayee | undefined> => {
  const name = nameKey(display_name)
  if (name === '') return undefined
  const alike = (
    await Promise.all(searches.map((q) => findBeneficiaries(caller, { q: [...q].slice(0, maxSearch).join('') })))
  ).flat()
  const named = alike.filter((other) => other.id !== id && other.status === 'active' && nameKey(other.display_name) === name)
  if (named.length === 0) return undefined
  const same = await readSameNumber(caller, id)
  return named.find((other) => !same.has(other.id))
}

export const payeeAddress = ({ publicUrl }: Pick<Caller, 'publicUrl'>, id: string): string => `${publicUrl}/beneficiaries/${id}`

/** Formats a payee: `"Wanjiru Kamau" (****0111)`. */
export const payeeText = ({ display_name, destination_mask }: z.output<typeof WirePayee>): string =>
  `${quoted(display_name)} (${destination_mask.replace(/^\*+/, '****')})`

/** Formats a payment: `KES 250.00 to "Wanjiru Kamau" (****0111)`. */
export const paymentTitle = (amountMinor: string, currency: string, payee: string): string =>
  `${minorAmountText(amountMinor, currency)} to ${payee}`

/** A person must be told before the payment if the rail reports another name. */
export const otherNameText = (payee: CardPayee | undefined): string | undefined =>
  payee?.verification.status === 'no_match'
    ? `The rail reports another name for this number: ${quoted(payee.verification.name ?? '')}. Tell the person.`
    : undefined

export const namesakeText = (namesake: CardPayee): string =>
  `Another beneficiary has the same name: ${payeeText(namesake)}. Ask the person to rename one of them, at address.`

export type Order = { amount_minor: string; beneficiary_id: string; narrative?: string | undefined }

export type Mistake = { code: 'amount_differs' | 'payees_alike'; path: string; message: string; address?: string }

/**
 * A model may confuse shillings and cents, or pick the wrong one of two payees with the same name. No rule prevents this, so a
 * person must clarify.
 */
export const findMistake = async (caller: Caller, order: Order, payee: CardPayee | undefined): Promise<Mistake | undefined> => {
  const other = conflictingAmount(order.narrative, order.amount_minor, caller.currency)
  if (other?.isHundredfold) {
    const message = `${other.sentence}, a hundred times more or less. Ask the person which one is meant, then correct the other.`
    return { code: 'amount_differs', path: 'amount', message }
  }
  const namesake = payee && (await readNamesake(caller, order.beneficiary_id, payee))
  if (!namesake) return undefined
  return {
    code: 'payees_alike',
    path: 'beneficiary_id',
    message: namesakeText(namesake),
    address: payeeAddress(caller, order.beneficiary_id),
  }
}
