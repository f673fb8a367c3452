import { referenceKey } from '../../lib/account-reference.ts'
import { invalidFields } from '../../lib/errors.ts'
import type { RailName } from '../../lib/rail-names.ts'
import type { Destination } from '../../rails/definition.ts'
import { payouts } from '../../rails/definitions.ts'

/** Who is paid: a destination, and the account behind it where the rail has accounts and the beneficiary fixes one. */
export type Payee = Destination & { accountReference: string | null }

const accountProblem = (rail: RailName, accountReference: string | null): string | undefined => {
  if (accountReference === null) return undefined
  const { accountReference: account } = payouts[rail]
  if (account === null) return `is not part of who is paid by ${rail}: name it with each payment`
  return account.form.test(accountReference) ? undefined : account.problem
}

/** A payee in the one form in which it is stored and compared. Throws a 400 that names the field, never the destination. */
export const normalisePayee = (
  rail: RailName,
  { destination, bankCode, accountReference }: { destination: string; bankCode: string | null; accountReference: string | null },
): Payee => {
  const read = payouts[rail].readDestination(destination, bankCode)
  if ('problem' in read) throw invalidFields(read.problem)
  const problem = accountProblem(rail, accountReference)
  if (problem !== undefined) throw invalidFields({ path: 'account_reference', message: problem })
  return { ...read, accountReference }
}

/**
 * Equal for two beneficiaries with the same payee; hashed with a key, so that the stored value reveals nothing. A fixed account reference is
 * part of it: behind the paybill of a bank every account of that bank can be paid.
 */
export const fingerprintText = (
  workspaceId: string,
  rail: RailName,
  { destination, bankCode, accountReference }: Payee,
): string =>
  JSON.stringify([
    workspaceId,
    rail,
    bankCode,
    destination,
    ...(accountReference === null ? [] : [referenceKey(accountReference)]),
  ])

/** Behind the slash stands the account: a payee is shown as what it is. */
export const maskOf = (rail: RailName, { destination, accountReference }: Payee): string =>
  payouts[rail].mask(destination) + (accountReference === null ? '' : `/${accountReference}`)
