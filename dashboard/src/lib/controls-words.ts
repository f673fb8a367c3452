import type { Schemas } from '../api/queries.ts'
import { moneyText } from './money.ts'
import { typeLabel } from './rails.ts'
import { listWords } from './words.ts'

const newPayeeWords = {
  allow: 'new beneficiaries without asking',
  require_approval: 'asks about new beneficiaries',
  deny: 'no new beneficiaries',
} as const

/** Limits in one line: "KES 500.00 per payment, KES 2,000.00 a day". */
export const controlsWords = (
  controls: Schemas['SpendingControls'],
  currency: string,
  nameOf: (id: string) => string,
): string => {
  const money = (minor: string) => moneyText(minor, currency)
  const parts = [
    ...(controls.per_payment_limit_minor !== undefined ? [`${money(controls.per_payment_limit_minor)} per payment`] : []),
    ...(controls.daily_limit_minor !== undefined ? [`${money(controls.daily_limit_minor)} a day`] : []),
    ...(controls.monthly_limit_minor !== undefined ? [`${money(controls.monthly_limit_minor)} a month`] : []),
    ...(controls.approval_threshold_minor !== undefined
      ? [`approval at or above ${money(controls.approval_threshold_minor)}`]
      : []),
    ...(controls.payment_types ? [`only ${listWords(controls.payment_types.map(typeLabel), 'or')}`] : []),
    ...(controls.new_payees ? [newPayeeWords[controls.new_payees]] : []),
    ...(controls.beneficiary_ids ? [`only to ${listWords(controls.beneficiary_ids.map(nameOf), 'or')}`] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : 'No limits'
}
