import { type Minor, sumOf } from '../lib/money.ts'
import { railNames } from '../lib/rail-names.ts'
import type { Evaluation, PaymentFacts, UnapprovedAmount } from './types.ts'

/** A list of payment types may name the payment's own type or its rail. */
export const namesType = (list: readonly string[], payment: Pick<PaymentFacts, 'paymentType' | 'rail'>): boolean =>
  list.includes(payment.paymentType) || list.includes(payment.rail)

/** Any beneficiary with the same destination, or the paybill of an account, so recreating a payee does not evade a policy. */
export const namesPayee = (list: readonly string[], payment: PaymentFacts): boolean =>
  [...payment.payeeBeneficiaryIds, ...payment.paybillBeneficiaryIds].some((id) => list.includes(id))

/** False if the payment itself names the account at a paybill, because no list can name such a payee. */
export const allowsPayee = (list: readonly string[], payment: PaymentFacts): boolean =>
  payment.payeeIsFixed && payment.payeeBeneficiaryIds.some((id) => list.includes(id))

/** Whether the policy binds the payer: everyone, or only a grant and its descendants. */
export const bindsPayer = (
  { bindsGrantId }: { bindsGrantId: string | null },
  { grantLineage }: { grantLineage: readonly string[] },
): boolean => bindsGrantId === null || grantLineage.includes(bindsGrantId)

/** Compares by code unit, because a locale's order would differ between machines. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Whether a list has only custom types. Initiators choose these, so they can avoid the rule with another type. */
export const namesCustomTypesOnly = (types: readonly string[]): boolean =>
  types.length > 0 && !types.some((type) => railNames.some((rail) => rail === type))

const isAlike = (a: UnapprovedAmount, b: UnapprovedAmount): boolean =>
  a.approvals === b.approvals &&
  a.paymentType === b.paymentType &&
  a.rail === b.rail &&
  a.grantLineage.length === b.grantLineage.length &&
  a.grantLineage.every((id, index) => id === b.grantLineage[index])

/** Merges payments that no rule distinguishes, so that a thousand a day to one payee remain a few rows. */
export const addUnapproved = (rows: readonly UnapprovedAmount[], row: UnapprovedAmount): readonly UnapprovedAmount[] => {
  const index = rows.findIndex((other) => isAlike(other, row))
  const alike = rows[index]
  return alike ? rows.with(index, { ...alike, amountMinor: alike.amountMinor + row.amountMinor }) : [...rows, row]
}

// A rule that requires several approvals counts earlier payments with fewer approvals toward its threshold. Parts of a split
// amount thus add up to the threshold, and one part needs as many approvals as the whole.

export const unapprovedUnderPolicy = (
  { unapproved }: Evaluation,
  policy: { paymentTypes: readonly string[]; bindsGrantId: string | null },
  asked: number,
): Minor =>
  sumOf(
    unapproved.filter(
      (row) =>
        row.approvals < asked &&
        bindsPayer(policy, row) &&
        (policy.paymentTypes.length === 0 || namesType(policy.paymentTypes, row)),
    ),
  )

/** Counts payments without an approval, because a grant's threshold requires one. */
export const unapprovedUnderGrant = ({ unapproved }: Evaluation, grantId: string): Minor =>
  sumOf(unapproved.filter(({ approvals, grantLineage }) => approvals < 1 && grantLineage.includes(grantId)))

/** The larger of two: paid today with too few approvals, or the batch's other items, so that many small items count as one. */
export const towardsThreshold = ({ listTotals, payment }: Evaluation, ruleId: string, usedMinor: Minor): Minor => {
  const others = (listTotals?.[ruleId] ?? 0n) - payment.amountMinor
  return others > usedMinor ? others : usedMinor
}
