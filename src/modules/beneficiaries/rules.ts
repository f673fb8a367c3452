import { invalidFields } from '../../lib/errors.ts'
import type { RailName } from '../../lib/rail-names.ts'
import type { Destination } from '../../rails/definition.ts'
import { payouts } from '../../rails/definitions.ts'

/** A destination in the one form in which it is stored and compared. Throws a 400 that names the field, never the value. */
export const normaliseDestination = (rail: RailName, destination: string, bankCode: string | null): Destination => {
  const read = payouts[rail].readDestination(destination, bankCode)
  if ('problem' in read) throw invalidFields(read.problem)
  return read
}

/** Equal for two beneficiaries with the same payee; hashed with a key, so that the stored value reveals nothing. */
export const fingerprintText = (workspaceId: string, rail: RailName, { destination, bankCode }: Destination): string =>
  JSON.stringify([workspaceId, rail, bankCode, destination])
