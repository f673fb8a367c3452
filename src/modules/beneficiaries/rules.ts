import { invalidFields } from '../../lib/errors.ts'
import { mobileProblem, parseKenyanMobile } from '../../lib/phone.ts'
import type { RailName } from '../../lib/rail-names.ts'

export type Destination = { destination: string; bankCode: string | null }

const refuse = (path: string, message: string): never => {
  throw invalidFields({ path, message })
}

const mobile = (text: string): string => parseKenyanMobile(text) ?? refuse('destination', mobileProblem(text))

const bankAccount = (text: string): string => {
  const compact = text.replace(/[\s-]/g, '').toUpperCase()
  return /^[0-9A-Z]{5,20}$/.test(compact)
    ? compact
    : refuse('destination', 'must be a bank account number of 5 to 20 letters and digits')
}

const shortcode = (text: string): string =>
  /^\d{5,7}$/.test(text.trim()) ? text.trim() : refuse('destination', 'must be a paybill or till number of 5 to 7 digits')

const refuseBank = (rail: RailName, bankCode: string | null): void => {
  if (bankCode !== null) refuse('bank_code', `does not go with ${rail}`)
}

/** A destination in the one form in which it is stored and compared. Throws a 400 that names the field, never the value. */
export const normaliseDestination = (rail: RailName, destination: string, bankCode: string | null): Destination => {
  switch (rail) {
    case 'MPESA_B2C':
      refuseBank(rail, bankCode)
      return { destination: mobile(destination), bankCode: null }
    case 'MPESA_B2B':
      refuseBank(rail, bankCode)
      return { destination: shortcode(destination), bankCode: null }
    case 'PESALINK': {
      if (bankCode !== null) return { destination: bankAccount(destination), bankCode }
      const number = parseKenyanMobile(destination)
      return { destination: number ?? refuse('bank_code', 'is required for a bank account'), bankCode: null }
    }
  }
}

/** Equal for two beneficiaries with the same payee; hashed with a key, so that the stored value reveals nothing. */
export const fingerprintText = (workspaceId: string, rail: RailName, { destination, bankCode }: Destination): string =>
  JSON.stringify([workspaceId, rail, bankCode, destination])
