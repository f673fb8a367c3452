import { hasAccounts, type RailName } from './rail-names.ts'

/** Equal for two spellings of one account: a paybill's owner reads it without regard to case and spaces. */
export const referenceKey = (reference: string): string => reference.replaceAll(' ', '').toUpperCase()

export const referenceKeySql = (reference: string): string => `upper(replace(${reference}, ' ', ''))`

/**
 * The amount and the reference as one number: of a thousand payments of one amount to one payee, each with a reference of its own, an index finds
 * the one that looks the same. Other payments may have the same number.
 */
export const lookalikeHashSql = (amount: string, reference: string): string =>
  `hashtextextended(coalesce(${referenceKeySql(reference)}, ''), ${amount})`

type Open = { paymentRail: RailName; accountReferenceRequired: boolean; accountReference: string | null }

/** Whether each payment names the account at the paybill: then the beneficiary does not say who is paid. */
export const takesAnyReference = ({ paymentRail, accountReferenceRequired, accountReference }: Open): boolean =>
  hasAccounts(paymentRail) && accountReferenceRequired && accountReference === null
