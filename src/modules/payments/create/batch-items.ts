import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { Refusal, refuseFields } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { hasAccounts, phoneRail } from '../../../lib/rail-names.ts'
import type { Rails } from '../../../rails/rail.ts'
import { ensureBeneficiaries, refusalOfDestination } from '../../beneficiaries/payee-service.ts'
import type { CreateBeneficiary } from '../../beneficiaries/schema.ts'
import type { BatchItem, Destination } from '../batch/schema.ts'
import type { Deps } from '../deps.ts'
import type { BatchRequest } from '../request.ts'
import type { CreatePayment } from '../schema.ts'
import type { OfBatch } from './denial.ts'
import { type Fault, faultOf } from './item-faults.ts'

/** An item whose beneficiary is known, and its place in the request. `isNew`: the beneficiary was created with it. `otherName`: the item calls it otherwise. */
export type KnownItem = { index: number; input: CreatePayment; isNew: boolean } & Pick<OfBatch, 'otherName'>

type WellFormed = { index: number; item: BatchItem }

const wellFormed = ({ input }: BatchRequest): WellFormed[] =>
  input.items.flatMap((entry, index) => ('item' in entry ? [{ index, item: entry.item }] : []))

const destinationRefusal = (rails: Rails, to: Destination | null): Refusal | null =>
  to?.destination === undefined
    ? null
    : refusalOfDestination(rails, { ...to, payment_rail: to.payment_rail ?? phoneRail, destination: to.destination })

/** The items whose form is wrong, each with what is wrong with its destination too. */
export const formFaults = (rails: Rails, { input }: BatchRequest): Fault[] =>
  input.items.flatMap((entry, index) => {
    if (!('faults' in entry)) return []
    const destination = destinationRefusal(rails, entry.to)
    return [faultOf(index, refuseFields(entry.faults)), ...(destination ? [faultOf(index, destination)] : [])]
  })

/** Whether an item names its payee by a destination, so that a beneficiary may have to be created. */
export const namesPayees = (request: BatchRequest): boolean =>
  wellFormed(request).some(({ item }) => item.beneficiary_id === undefined)

/** Everything that an item says of its payment: what it says of its payee is in the beneficiary. */
const inputOf = (
  { display_name, payment_rail, destination, bank_code, legal_name, type, ...payment }: BatchItem,
  beneficiaryId: Uuid,
  { input }: BatchRequest,
): CreatePayment => ({ ...payment, beneficiary_id: beneficiaryId, execute_at: input.execute_at })

/** The items of a request that names beneficiaries by their ids alone. */
export const itemsById = (request: BatchRequest): KnownItem[] =>
  wellFormed(request).flatMap(({ index, item }) =>
    item.beneficiary_id === undefined ? [] : [{ index, input: inputOf(item, item.beneficiary_id, request), isNew: false }],
  )

/** Where there are accounts behind a destination, the reference is part of who is paid. */
const payeeOf = (item: BatchItem): CreateBeneficiary => {
  const rail = item.payment_rail ?? phoneRail
  return {
    display_name: item.display_name ?? '',
    destination: item.destination ?? '',
    payment_rail: rail,
    type: item.type ?? 'individual',
    legal_name: item.legal_name,
    bank_code: item.bank_code,
    account_reference: hasAccounts(rail) ? item.account_reference : null,
  }
}

/** In characters: longer ones are refused. */
const longestName = 120

/** Names that differ in their capitals and spaces alone: "ACHIENG  OTIENO" is "Achieng Otieno". */
const plainName = (name: string): string => name.slice(0, longestName).normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()

/** All items with their beneficiaries; those that are not known yet are created. */
export const nameItems = async (
  tx: Tx,
  deps: Pick<Deps, 'derivations' | 'rails' | 'vault'>,
  principal: Principal,
  request: BatchRequest,
): Promise<{ items: KnownItem[]; faults: Fault[] }> => {
  const unnamed = wellFormed(request).filter(({ item }) => item.beneficiary_id === undefined)
  const payees = await ensureBeneficiaries(
    tx,
    deps,
    principal,
    unnamed.map(({ item }) => payeeOf(item)),
  )
  const faults: Fault[] = []
  const named = unnamed.flatMap(({ index, item }, place): KnownItem[] => {
    const payee = payees[place]
    if (payee instanceof Refusal) faults.push(faultOf(index, payee))
    if (!payee || payee instanceof Refusal) return []
    const known = { index, input: inputOf(item, payee.id, request), isNew: payee.isNew }
    const givenName = item.display_name ?? ''
    const isOther = payee.names.every((name) => plainName(name) !== plainName(givenName))
    return [isOther ? { ...known, otherName: { name: payee.names[0] ?? '', givenName } } : known]
  })
  return { items: [...itemsById(request), ...named].sort((one, other) => one.index - other.index), faults }
}
