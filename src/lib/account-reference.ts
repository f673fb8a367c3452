import { hasAccounts, type RailName } from './rail-names.ts'

/** Equal for two spellings of one account: a paybill's owner reads it without regard to case and spaces. */
export const referenceKey = (reference: string): string => reference.replaceAll(' ', '').toUpperCase()

/** The same in SQL. */
export const referenceKeySql = (reference: string): string => `upper(replace(${reference}, ' ', ''))`

type Open = { paymentRail: RailName; accountReferenceRequired: boolean; accountReference: string | null }

/** Whether each payment itself names the account at the paybill: then the beneficiary does not say who is paid. */
export const takesAnyReference = ({ paymentRail, accountReferenceRequired, accountReference }: Open): boolean =>
  hasAccounts(paymentRail) && accountReferenceRequired && accountReference === null
