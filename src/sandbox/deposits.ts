import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type DepositRail, depositRails } from '../lib/rail-names.ts'
import { field } from '../rails/json.ts'
import { type EmulatedAnswer, gatewayError } from './answer.ts'
import { isIncoming, type Order } from './book.ts'
import type { Credentials } from './credentials.ts'
import { invalidField, organisation, url } from './daraja-fields.ts'
import { localTime, shillings } from './format.ts'
import type { Render } from './perform.ts'
import type { Provider } from './provider.ts'
import { scenarioFor } from './scenario.ts'
import { take } from './take.ts'

/** The portal refuses addresses with these words, in either case. */
const forbidden = /exe|cmd|sql|query|m-?pesa|safaricom/i

const Registration = z.object({
  ShortCode: organisation,
  ResponseType: z.enum(['Completed', 'Cancelled']),
  ConfirmationURL: url.refine((text) => !forbidden.test(text)),
  ValidationURL: url.refine((text) => !forbidden.test(text)),
})

export const registerUrl = (provider: Provider, body: unknown): EmulatedAnswer => {
  const parsed = Registration.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const { ShortCode, ResponseType, ConfirmationURL, ValidationURL } = parsed.data
  if (ShortCode !== provider.credentials.daraja.deposits.shortcode) return gatewayError(400, '400.003.02', 'Invalid ShortCode')
  provider.addresses.register('MPESA_PAYBILL', {
    confirmation: ConfirmationURL,
    validation: ValidationURL,
    unanswered: ResponseType,
  })
  const ids = { OriginatorCoversationID: randomBytes(8).toString('hex') }
  return { status: 200, body: { ...ids, ResponseCode: '0', ResponseDescription: 'Success' } }
}

const Notices = z.object({ accountNumber: z.string(), url })

/** The bank's registration of the address for notices of deposits. */
export const registerNotices = (provider: Provider, body: unknown): EmulatedAnswer => {
  const parsed = Notices.safeParse(body)
  if (!parsed.success || parsed.data.accountNumber !== provider.credentials.pesalink.source.accountNumber)
    return { status: 400, body: { status: false, code: 400_201, message: 'Invalid registration' } }
  provider.addresses.register('PESALINK', { confirmation: parsed.data.url, validation: null, unanswered: 'Completed' })
  return { status: 200, body: { status: true, code: 0, message: 'success' } }
}

const namesOf = (payer: string | null): { FirstName: string; MiddleName: string; LastName: string } => {
  const [FirstName = '', ...others] = (payer ?? '').split(' ')
  return { FirstName, MiddleName: others.slice(0, -1).join(' '), LastName: others.at(-1) ?? '' }
}

/** C2B's confirmation, and its validation: the number is masked, the names are not. */
export const renderConfirmation: Render = (order, settled) => ({
  TransactionType: 'Pay Bill',
  TransID: settled.receipt,
  TransTime: localTime(order.at).compact,
  TransAmount: `${shillings(settled.amountMinor)}`,
  BusinessShortCode: order.account,
  BillRefNumber: order.reference,
  InvoiceNumber: '',
  OrgAccountBalance: '',
  ThirdPartyTransID: '',
  MSISDN: `${order.party.slice(0, 4)} ***** ${order.party.slice(-3)}`,
  ...namesOf(order.payer),
})

const dashed = (at: Date): string => new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

/** The bank's notice, in the shape of Jenga's instant payment notifications. */
export const renderNotification: Render = (order, settled) => ({
  callbackType: 'IPN',
  customer: { name: order.payer ?? '', mobileNumber: order.party, reference: order.reference },
  transaction: {
    date: dashed(order.at),
    reference: order.key,
    paymentMode: 'PESALINK',
    amount: shillings(settled.amountMinor),
    currency: 'KES',
    billNumber: order.reference,
    status: 'SUCCESS',
    remarks: order.reference,
  },
  bank: { reference: settled.receipt, transactionType: 'C', account: order.account },
})

export const PayIn = z.strictObject({
  method: z.enum(depositRails).default('MPESA_PAYBILL'),
  /** The account number at the paybill, or the transfer's reference, as a person types it. */
  reference: z.string().max(20),
  amount_minor: z.string().regex(/^[1-9]\d{0,15}$/),
  phone_number: z
    .string()
    .regex(/^254[17]\d{8}$/)
    .default('254722000000'),
  name: z.string().min(1).max(80).default('JANE WANJIKU DOE'),
})

/** The organisation's account that a deposit by each rail arrives in. */
const accountOf: Readonly<Record<DepositRail, (credentials: Credentials) => string>> = {
  MPESA_PAYBILL: ({ daraja }) => daraja.deposits.shortcode,
  PESALINK: ({ pesalink }) => pesalink.source.accountNumber,
}

const askMs = 8_000

/** What the client answers before the money moves; undefined when it does not answer. */
const ask = async (address: string, body: unknown): Promise<string | undefined> => {
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(askMs),
    })
    const code = answer.ok ? field(await answer.json(), 'ResultCode') : undefined
    return code === undefined ? undefined : String(code)
  } catch {
    return undefined
  }
}

/** A person pays in. `rejected`: the provider, or the client that it asked, did not take the payment, and no money moved. */
export const payIn = async (
  provider: Provider,
  { method, reference, amount_minor, phone_number, name }: z.output<typeof PayIn>,
): Promise<{ order: Order } | { rejected: string }> => {
  const address = provider.addresses.of(method)
  const refusedByProvider = scenarioFor(phone_number).code
  if (refusedByProvider !== '0') return { rejected: refusedByProvider }
  const amountMinor = BigInt(amount_minor)
  const account = accountOf[method](provider.credentials)
  if (address?.validation) {
    const asked = { rail: method, key: '', reference, account, party: phone_number, payer: name, at: provider.clock.now() }
    const preview = provider.deposits[method]({ ...asked } as Order, { amountMinor, receipt: 'VALIDATION' })
    const code = await ask(address.validation, preview)
    if (code === undefined ? address.unanswered === 'Cancelled' : code !== '0') return { rejected: code ?? 'no answer' }
  }
  const order = take(provider, {
    rail: method,
    key: randomBytes(8).toString('hex'),
    conversation: randomBytes(8).toString('hex'),
    amountMinor,
    reference,
    party: phone_number,
    account,
    resultUrl: address?.confirmation ?? null,
    timeoutUrl: null,
    payer: name,
  })
  return { order }
}

/** What persons have paid in, newest first. */
export const depositsOf = (provider: Provider): readonly Readonly<Order>[] =>
  provider.book
    .orders()
    .filter((order) => order.payer !== null && isIncoming(order))
    .toReversed()
