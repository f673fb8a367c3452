import type { Minor } from '../lib/money.ts'
import { railNames } from '../lib/rail-names.ts'
import type { Evaluation, PaymentFacts, Unapproved } from './types.ts'

/** A list of payment types may name the payment's own type or its rail. */
export const namesType = (list: readonly string[], payment: Pick<PaymentFacts, 'paymentType' | 'rail'>): boolean =>
  list.includes(payment.paymentType) || list.includes(payment.rail)

/** Any beneficiary with the same destination, and the paybill of an account: re-creating a payee does not avoid a policy. */
export const namesPayee = (list: readonly string[], payment: PaymentFacts): boolean =>
  [...payment.payeeBeneficiaryIds, ...payment.paybillBeneficiaryIds].some((id) => list.includes(id))

/** No list can name the payee of a payment that itself names the account at a paybill. */
export const allowsPayee = (list: readonly string[], payment: PaymentFacts): boolean =>
  payment.payeeIsFixed && payment.payeeBeneficiaryIds.some((id) => list.includes(id))

/** Everyone, or only a grant and its descendants. */
export const bindsPayer = (
  { bindsGrantId }: { bindsGrantId: string | null },
  { grantLineage }: { grantLineage: readonly string[] },
): boolean => bindsGrantId === null || grantLineage.includes(bindsGrantId)

/** By code unit: a locale's order would differ between machines. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Types that initiators choose: by naming another type they can avoid the rule. */
export const namesCustomTypesOnly = (types: readonly string[]): boolean =>
  types.length > 0 && !types.some((type) => railNames.some((rail) => rail === type))

const isAlike = (a: Unapproved, b: Unapproved): boolean =>
  a.approvals === b.approvals &&
  a.paymentType === b.paymentType &&
  a.rail === b.rail &&
  a.grantLineage.length === b.grantLineage.length &&
  a.grantLineage.every((id, index) => id === b.grantLineage[index])

/** Payments that no rule tells apart become one row: a thousand a day to one payee stay few. */
export const withUnapproved = (rows: readonly Unapproved[], row: Unapproved): readonly Unapproved[] => {
  const index = rows.findIndex((other) => isAlike(other, row))
  const alike = rows[index]
  return alike ? rows.with(index, { ...alike, amountMinor: alike.amountMinor + row.amountMinor }) : [...rows, row]
}

const sum = (rows: readonly Unapproved[]): Minor => rows.reduce((total, { amountMinor }) => total + amountMinor, 0n)

// A rule that asks for several people counts payments that fewer have approved. If a sum is split, one part always needs as many
// people as the whole: otherwise all parts would count, and together they reach the threshold.

export const unapprovedUnderPolicy = (
  { unapproved }: Evaluation,
  policy: { paymentTypes: readonly string[]; bindsGrantId: string | null },
  asked: number,
): Minor =>
  sum(
    unapproved.filter(
      (row) =>
        row.approvals < asked &&
        bindsPayer(policy, row) &&
        (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, row)),
    ),
  )

/** A grant asks for one approval. */
export const unapprovedUnderGrant = ({ unapproved }: Evaluation, grantId: string): Minor =>
  sum(unapproved.filter(({ approvals, grantLineage }) => approvals < 1 && grantLineage.includes(grantId)))

/** The larger of two: paid today without enough approvals, or the batch's other items: many small items ask for their total. */
export const towardsThreshold = ({ listTotals, payment }: Evaluation, ruleId: string, usedMinor: Minor): Minor => {
  const others = (listTotals?.[ruleId] ?? 0n) - payment.amountMinor
  return others > usedMinor ? others : usedMinor
}
