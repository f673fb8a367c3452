import { hasAccounts, type RailName } from './rail-names.ts'

/** A paybill's owner reads it without regard to case and spaces. */
export const referenceKey = (reference: string): string => reference.replaceAll(' ', '').toUpperCase()

/** The same in SQL. */
export const referenceKeySql = (reference: string): string => `upper(replace(${reference}, ' ', ''))`

/** Of a thousand payments of one amount to one payee, an index finds the one that looks the same. Others may have the same number. */
export const lookalikeHashSql = (amount: string, reference: string): string =>
  `hashtextextended(coalesce(${referenceKeySql(reference)}, ''), ${amount})`

type Open = { paymentRail: RailName; accountReferenceRequired: boolean; accountReference: string | null }

/** Then the beneficiary does not say who is paid. */
export const takesAnyReference = ({ paymentRail, accountReferenceRequired, accountReference }: Open): boolean =>
  hasAccounts(paymentRail) && accountReferenceRequired && accountReference === null
