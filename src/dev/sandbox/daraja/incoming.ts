import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import { decimalShillings, nairobiTimestamp } from '../../../rails/fields.ts'
import type { Order } from '../book.ts'
import type { Render, RenderDeposit } from '../emulator.ts'
import { describe, wireNumber } from '../format.ts'
import { gatewayError } from '../gateway.ts'
import { acceptOrder } from '../perform.ts'
import { sameText } from '../secrets.ts'
import { amount, type Daraja, endpoint, mobile, organisation, url } from './credentials.ts'

const Signed = z.object({ BusinessShortCode: organisation, Password: z.string().min(1), Timestamp: z.string().regex(/^\d{14}$/) })

const Push = Signed.extend({
  TransactionType: z.enum(['CustomerPayBillOnline', 'CustomerBuyGoodsOnline']),
  Amount: amount(1n, 250_000n),
  PartyA: mobile,
  PartyB: organisation,
  PhoneNumber: mobile,
  CallBackURL: url,
  AccountReference: z.string().min(1).max(12),
  TransactionDesc: z.string().min(1).max(13),
})

const Query = Signed.extend({ CheckoutRequestID: z.string().min(1).max(100) })

const hasValidPassword = (provider: Daraja, signed: z.output<typeof Signed>): boolean => {
  const { shortcode, passkey } = provider.credentials.options
  const expected = Buffer.from(`${shortcode}${passkey}${signed.Timestamp}`).toString('base64')
  return signed.BusinessShortCode === shortcode && sameText(signed.Password, expected)
}

const wrongCredentials = () => gatewayError(500, '500.001.1001', 'Wrong credentials')

const isPayable = ({ credentials }: Daraja, { TransactionType, PartyB, BusinessShortCode }: z.output<typeof Push>): boolean =>
  PartyB === BusinessShortCode || (TransactionType === 'CustomerBuyGoodsOnline' && PartyB === credentials.till)

const requestIds = (order: Order) => ({ MerchantRequestID: order.conversation, CheckoutRequestID: order.key })

export const renderCallback: Render = (order, settled) => {
  const outcome = { ...requestIds(order), ResultCode: wireNumber(order.code), ResultDesc: describe(order.code) }
  if (order.code !== '0') return { Body: { stkCallback: outcome } }
  const items = [
    { Name: 'Amount', Value: wireNumber(`${settled.amountMinor / 100n}.00`) },
    { Name: 'MpesaReceiptNumber', Value: settled.receipt },
    { Name: 'Balance' },
    { Name: 'TransactionDate', Value: wireNumber(nairobiTimestamp(order.at)) },
    { Name: 'PhoneNumber', Value: wireNumber(order.party) },
  ]
  return { Body: { stkCallback: { ...outcome, CallbackMetadata: { Item: items } } } }
}

export const stkPush = endpoint(Push, (provider, request) => {
  if (!hasValidPassword(provider, request)) return wrongCredentials()
  const order = acceptOrder(provider, {
    rail: 'MPESA_STK',
    key: `ws_CO_${nairobiTimestamp(provider.clock.now())}${randomInt(1e9, 1e10)}`,
    conversation: `${randomBytes(2).toString('hex')}-${randomBytes(6).toString('hex')}`,
    amountMinor: request.Amount * 100n,
    reference: request.TransactionType === 'CustomerPayBillOnline' ? request.AccountReference : '',
    party: request.PhoneNumber,
    account: request.BusinessShortCode,
    resultUrl: request.CallBackURL,
    timeoutUrl: null,
    // The gateway accepts every number. An invalid number is detected when the PIN is entered.
    ...(!isPayable(provider, request) && { code: 'SFC_IC0003' }),
  })
  return {
    status: 200,
    lost: order.scenario.losesAnswer,
    body: {
      ...requestIds(order),
      ResponseCode: '0',
      ResponseDescription: 'Success. Request accepted for processing',
      CustomerMessage: 'Success. Request accepted for processing',
    },
  }
})

/** The provider has two responses for a pending prompt. The emulator alternates between them. */
export const stkQuery = endpoint(Query, (provider, request) => {
  if (!hasValidPassword(provider, request)) return wrongCredentials()
  const order = provider.book.find(['MPESA_STK'], request.CheckoutRequestID)
  if (!order) return gatewayError(500, '500.001.1001', 'The transaction does not exist')
  order.queryCount += 1
  if (order.state === 'under_way' && order.queryCount % 2 === 1) {
    return gatewayError(500, '500.001.1001', 'The transaction is being processed')
  }
  const code = order.state === 'under_way' ? '4999' : order.code
  return {
    status: 200,
    body: {
      ResponseCode: '0',
      ResponseDescription: 'The service request has been accepted successsfully',
      ...requestIds(order),
      ResultCode: code,
      ResultDesc: describe(code),
    },
  }
})

/** More words that the provider rejects in callback URLs. */
const forbidden = /m-pesa|safaricom/i

const Registration = z.object({
  ShortCode: organisation,
  ResponseType: z.enum(['Completed', 'Cancelled']),
  ConfirmationURL: url.refine((text) => !forbidden.test(text)),
  ValidationURL: url.refine((text) => !forbidden.test(text)),
})

export const registerUrl = endpoint(Registration, (provider, { ShortCode, ResponseType, ConfirmationURL, ValidationURL }) => {
  if (ShortCode !== provider.credentials.options.deposits.shortcode) return gatewayError(400, '400.003.02', 'Invalid ShortCode')
  const { confirmation, validation } = provider.addresses.of('MPESA_PAYBILL') ?? {}
  // Production refuses any second registration. The sandbox replaces URLs, which a test at a new address needs.
  if (confirmation === ConfirmationURL && validation === ValidationURL)
    return gatewayError(500, '500.003.1001', 'Urls are already registered')
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

export const renderConfirmation: RenderDeposit = (order, settled) => ({
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
