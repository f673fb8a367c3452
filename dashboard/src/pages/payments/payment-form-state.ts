import { parseMajor } from '../../lib/money.ts'
import type { Draft } from './dry-run.tsx'

export type PaymentFields = {
  beneficiary: string
  amount: string
  reference: string
  narrative: string
  type: string
  mandate: string
}

export const emptyPayment: PaymentFields = { beneficiary: '', amount: '', reference: '', narrative: '', type: '', mandate: '' }

/** The body of the dry run; null while the beneficiary or the amount is missing. */
export const draftOf = ({ beneficiary, amount, type, mandate }: PaymentFields): Draft | null => {
  const minor = parseMajor(amount)
  if (beneficiary === '' || minor === null || minor === '0') return null
  return {
    beneficiary_id: beneficiary,
    amount_minor: minor,
    ...(type.trim() && { payment_type: type.trim() }),
    ...(mandate && { mandate_id: mandate }),
  }
}

/** The body of the payment. */
export const bodyOf = (draft: Draft, { reference, narrative }: PaymentFields) => ({
  ...draft,
  ...(reference.trim() && { account_reference: reference.trim() }),
  ...(narrative.trim() && { narrative: narrative.trim() }),
})
