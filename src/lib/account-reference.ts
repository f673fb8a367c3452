import { hasAccounts, type RailName } from './rail-names.ts'

/** The reference without case and spaces, which owners of paybills ignore, so that two spellings of an account are equal. */
export const referenceKey = (reference: string): string => reference.replaceAll(' ', '').toUpperCase()

export const referenceKeySql = (reference: string): string => `upper(replace(${reference}, ' ', ''))`

/** One number for amount and reference, to find similar payments among thousands to one payee. Others may share the hash. */
export const lookalikeHashSql = (amount: string, reference: string): string =>
  `hashtextextended(coalesce(${referenceKeySql(reference)}, ''), ${amount})`

type Open = { paymentRail: RailName; accountReferenceRequired: boolean; accountReference: string | null }

/** Whether each payment names its own account at the paybill, so that the beneficiary alone does not determine who is paid. */
export const takesAnyReference = ({ paymentRail, accountReferenceRequired, accountReference }: Open): boolean =>
  hasAccounts(paymentRail) && accountReferenceRequired && accountReference === null
