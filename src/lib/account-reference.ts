import { hasAccounts, type RailName } from './rail-names.ts'

/** The reference without case and spaces, which a paybill's owner ignores: equal for two spellings of one account. */
export const referenceKey = (reference: string): string => reference.replaceAll(' ', '').toUpperCase()

export const referenceKeySql = (reference: string): string => `upper(replace(${reference}, ' ', ''))`

/**
 * The amount and the reference as one number. Among a thousand payments of one amount to one payee, an index then finds those
 * with the same reference. Other payments may have the same number.
 */
export const lookalikeHashSql = (amount: string, reference: string): string =>
  `hashtextextended(coalesce(${referenceKeySql(reference)}, ''), ${amount})`

type Open = { paymentRail: RailName; accountReferenceRequired: boolean; accountReference: string | null }

/** Whether each payment names its account at the paybill. The beneficiary alone then does not say who is paid. */
export const takesAnyReference = ({ paymentRail, accountReferenceRequired, accountReference }: Open): boolean =>
  hasAccounts(paymentRail) && accountReferenceRequired && accountReference === null
