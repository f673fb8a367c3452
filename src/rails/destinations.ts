import { readDepositCode } from '../lib/deposit-code.ts'
import { mobileProblem, parseKenyanMobile } from '../lib/phone.ts'
import { compactNumber } from '../lib/text.ts'
import type { DestinationProblem, ReadDestination } from './definition.ts'

export const problem = (path: DestinationProblem['path'], message: string): { problem: DestinationProblem } => ({
  problem: { path, message },
})

/** Rejects a bank code instead of ignoring it. */
export const withoutBank =
  (rail: string, read: (destination: string) => string | { problem: DestinationProblem }): ReadDestination =>
  (destination, bankCode) => {
    if (bankCode !== null) return problem('bank_code', `does not go with ${rail}`)
    const result = read(destination)
    return typeof result === 'string' ? { destination: result, bankCode: null } : result
  }

export const readMobile = (text: string) => parseKenyanMobile(text) ?? problem('destination', mobileProblem(text))

/** A paybill or a till. */
export const shortcodeForm = /^\d{5,7}$/

export const readShortcode = (text: string) => {
  const compact = compactNumber(text)
  return shortcodeForm.test(compact) ? compact : problem('destination', 'must be a paybill or till number of 5 to 7 digits')
}

export const readBankAccount = (text: string) => {
  const compact = compactNumber(text)
    .replace(/\p{Pd}/gu, '')
    .toUpperCase()
  return /^[0-9A-Z]{5,20}$/.test(compact)
    ? compact
    : problem('destination', 'must be a bank account number of 5 to 20 letters and digits')
}

/** Our references: twelve digits, or the account numbers of deposits, which have a check digit. */
export const ourReferences = (texts: readonly string[]): readonly string[] => [
  ...new Set([
    ...texts.flatMap((text) => text.match(/\b\d{12}\b/g) ?? []),
    ...texts.flatMap((text) => text.split(/[^0-9A-Za-z -]+|\s{2,}/).flatMap((part) => readDepositCode(part) ?? [])),
    ...texts.flatMap((text) => (text.match(/\b\d{9}\b/g) ?? []).flatMap((word) => readDepositCode(word) ?? [])),
  ]),
]

/** Order ids in a statement's text for payouts to phones: "… via API. Original conversation ID is <ours>.". */
export const orderIds = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => text.toLowerCase().match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g) ?? [])
