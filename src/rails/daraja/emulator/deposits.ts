import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { gatewayError } from '../../../dev/sandbox/answer.ts'
import type { Render } from '../../../dev/sandbox/emulator.ts'
import { decimalShillings } from '../../fields.ts'
import { nairobiTimestamp } from '../../nairobi-time.ts'
import { endpoint, organisation, url } from './credentials.ts'

/** The portal refuses addresses with these words, in either case. */
const forbidden = /exe|cmd|sql|query|m-?pesa|safaricom/i

const Registration = z.object({
  ShortCode: organisation,
  ResponseType: z.enum(['Completed', 'Cancelled']),
  ConfirmationURL: url.refine((text) => !forbidden.test(text)),
  ValidationURL: url.refine((text) => !forbidden.test(text)),
})

export const registerUrl = endpoint(Registration, (provider, { ShortCode, ResponseType, ConfirmationURL, ValidationURL }) => {
  if (ShortCode !== provider.credentials.options.deposits.shortcode) return gatewayError(400, '400.003.02', 'Invalid ShortCode')
  provider.addresses.register('MPESA_PAYBILL', {
    confirmation: ConfirmationURL,
    validation: ValidationURL,
    unanswered: ResponseType,
  })
  const ids = { OriginatorCoversationID: randomBytes(8).toString('hex') }
  return { status: 200, body: { ...ids, ResponseCode: '0', ResponseDescription: 'Success' } }
})

const namesOf = (payer: string | null): { FirstName: string; MiddleName: string; LastName: string } => {
  const [FirstName = '', ...others] = (payer ?? '').split(' ')
  return { FirstName, MiddleName: others.slice(0, -1).join(' '), LastName: others.at(-1) ?? '' }
}

/** C2B's confirmation, and its validation: the number is masked, the names are not. */
export const renderConfirmation: Render = (order, settled) => ({
  TransactionType: 'Pay Bill',
  TransID: settled.receipt,
  TransTime: nairobiTimestamp(order.at),
  TransAmount: decimalShillings(settled.amountMinor),
  BusinessShortCode: order.account,
  BillRefNumber: order.reference,
  InvoiceNumber: '',
  OrgAccountBalance: '',
  ThirdPartyTransID: '',
  MSISDN: `${order.party.slice(0, 4)} ***** ${order.party.slice(-3)}`,
  ...namesOf(order.payer),
})
