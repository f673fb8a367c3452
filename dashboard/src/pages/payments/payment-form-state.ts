import { parseMajor } from '../../lib/money.ts'
import { readSendTime, type SendTime, sendNow } from '../../ui/send-later.tsx'
import type { Draft } from './dry-run.tsx'

export type PaymentFields = {
  beneficiary: string
  amount: string
  reference: string
  narrative: string
  type: string
  purposeCode: string
  mandate: string
  time: SendTime
}

export const emptyPayment: PaymentFields = {
  beneficiary: '',
  amount: '',
  reference: '',
  narrative: '',
  type: '',
  purposeCode: '',
  mandate: '',
  time: sendNow,
}

/** The body of the dry run; null while the beneficiary, the amount or the time is missing. */
export const draftOf = ({ beneficiary, amount, type, mandate, time }: PaymentFields): Draft | null => {
  const minor = parseMajor(amount)
  if (beneficiary === '' || minor === null || minor === '0') return null
  const read = readSendTime(time)
  if ('problem' in read) return null
  return {
    beneficiary_id: beneficiary,
    amount_minor: minor,
    ...(type.trim() && { payment_type: type.trim() }),
    ...(mandate && { mandate_id: mandate }),
    ...(read.at !== null && { execute_at: read.at }),
  }
}

/** The body of the payment. */
export const bodyOf = (draft: Draft, { reference, narrative, purposeCode }: PaymentFields) => ({
  ...draft,
  ...(reference.trim() && { account_reference: reference.trim() }),
  ...(narrative.trim() && { narrative: narrative.trim() }),
  ...(purposeCode.trim() && { purpose_code: purposeCode.trim().toUpperCase() }),
})
