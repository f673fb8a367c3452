import { hasAccounts, type RailName } from './rail-names.ts'

/** The reference without case and spaces, which owners of paybills ignore, so that two spellings of an account are equal. */
export const referenceKey = (reference: string): string => reference.replaceAll(' ', '').toUpperCase()

export const referenceKeySql = (reference: string): string => `upper(replace(${reference}, ' ', ''))`

/**
 * Hashes amount and reference to one number, with which an index finds payments of the same amount and reference among thousands
 * to one payee. Other payments may have the same hash.
 */
export const lookalikeHashSql = (amount: string, reference: string): string =>
  `hashtextextended(coalesce(${referenceKeySql(reference)}, ''), ${amount})`

type Open = { paymentRail: RailName; accountReferenceRequired: boolean; accountReference: string | null }

/** Whether each payment names its own account at the paybill, so that the beneficiary alone does not determine who is paid. */
export const takesAnyReference = ({ paymentRail, accountReferenceRequired, accountReference }: Open): boolean =>
  hasAccounts(paymentRail) && accountReferenceRequired && accountReference === null
