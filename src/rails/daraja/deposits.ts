import { readShillings } from '../amounts.ts'
import { textField } from '../json.ts'
import { nairobiInstant } from '../nairobi-time.ts'
import type { DepositAdapter, DepositNotice } from '../rail.ts'
import { personName, receiptOf } from '../text.ts'
import type { Post } from './gateway.ts'
import type { DarajaOptions } from './options.ts'
import { readSubmission } from './submission.ts'

const readNotice =
  (shortcode: string) =>
  (body: unknown): DepositNotice | undefined => {
    const receipt = receiptOf(textField(body, 'TransID'))
    const amountMinor = readShillings(textField(body, 'TransAmount'))
    const at = nairobiInstant(textField(body, 'TransTime') ?? '')
    // A paybill of another organisation is no account of ours.
    const isOurs = textField(body, 'BusinessShortCode') === shortcode
    if (receipt === undefined || !amountMinor || at === undefined || !isOurs) return undefined
    const names = ['FirstName', 'MiddleName', 'LastName'].flatMap((name) => textField(body, name) ?? [])
    return {
      receipt,
      at,
      amountMinor,
      reference: (textField(body, 'BillRefNumber') ?? '').slice(0, 40),
      payer: { name: personName(names.join(' ')), phone: textField(body, 'MSISDN') ?? null },
    }
  }

/** C2B: a person pays to our paybill under an account number of ours, and M-PESA posts what was paid. */
export const createPaybillDeposits = (options: DarajaOptions, post: Post): DepositAdapter | null => {
  const { deposits } = options
  if (!deposits) return null
  const { shortcode, unanswered } = deposits
  return {
    instructions: (code) => ({ paybill: shortcode, account_number: code }),
    register: async ({ confirmation, validation }) =>
      readSubmission(
        await post('/mpesa/c2b/v2/registerurl', {
          ShortCode: shortcode,
          ResponseType: unanswered,
          ConfirmationURL: confirmation,
          ValidationURL: validation,
        }),
        () => ({ request: null, conversation: null }),
      ),
    readNotice: readNotice(shortcode),
  }
}
