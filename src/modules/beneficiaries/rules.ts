import { referenceKey } from '../../lib/account-reference.ts'
import { type Bank, bankHint, plainCode } from '../../lib/banks.ts'
import { invalidFields } from '../../lib/errors.ts'
import { parseKenyanMobile } from '../../lib/phone.ts'
import type { RailName } from '../../lib/rail-names.ts'
import { mask, quotedUnlessAccount } from '../../lib/text.ts'
import type { Destination } from '../../rails/definition.ts'
import { payouts } from '../../rails/definitions.ts'
import type { Rails } from '../../rails/rail.ts'
import type { CreateBeneficiary } from './schema.ts'

/** A destination, and the account under it if the beneficiary has a fixed one. */
export type Payee = Destination & { accountReference: string | null }

const accountProblem = (rail: RailName, accountReference: string | null): string | undefined => {
  if (accountReference === null) return undefined
  const { accountReference: account } = payouts[rail]
  if (account === null) return `is not part of who is paid by ${rail}: name it with each payment`
  return account.form.test(accountReference) ? undefined : account.problem
}

/** Returns the bank's code in its one spelling. A second spelling would create a second payee with limits of its own. */
const bankOf = (code: string | null, banks: readonly Bank[] | null): string | null => {
  if (code === null || banks === null) return code
  const bank = banks.find((each) => plainCode(each.code) === plainCode(code))
  if (bank) return bank.code
  const message = `${quotedUnlessAccount(code)}is not the code of a bank that can be paid; GET /v1/banks lists them.${bankHint(code, banks)}`
  throw invalidFields({ path: 'bank_code', message })
}

type DestinationInput = Pick<CreateBeneficiary, 'account_reference' | 'bank_code' | 'destination' | 'payment_rail'>

/** Returns the payee in the form in which it is stored and compared. A 400 names the invalid field, never the destination. */
export const normalisePayee = (
  { payout }: Pick<Rails, 'payout'>,
  { payment_rail: rail, destination, bank_code: bankCode = null, account_reference: accountReference = null }: DestinationInput,
): Payee => {
  const read = payouts[rail].readDestination(destination, bankCode)
  if ('problem' in read) throw invalidFields(read.problem)
  const problem = accountProblem(rail, accountReference)
  if (problem !== undefined) throw invalidFields({ path: 'account_reference', message: problem })
  return { ...read, bankCode: bankOf(read.bankCode, payout[rail]?.banks ?? null), accountReference }
}

/** A phone number is the same payee on every rail, so freezes, limits and allow lists apply to all of them. */
const isPhone = ({ destination, bankCode }: Destination): boolean =>
  bankCode === null && parseKenyanMobile(destination) === destination

/** Input of a payee's fingerprint, a keyed hash that reveals nothing. Includes the account, because accounts share a paybill. */
export const fingerprintText = (workspaceId: string, rail: RailName, { destination, bankCode, accountReference }: Payee) =>
  JSON.stringify([
    workspaceId,
    isPhone({ destination, bankCode }) ? 'PHONE' : rail,
    bankCode,
    destination,
    ...(accountReference === null ? [] : [referenceKey(accountReference)]),
  ])

export const maskOf = ({ destination, accountReference }: Payee): string =>
  mask(destination) + (accountReference === null ? '' : `/${accountReference}`)
