import { createPrivateKey, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { decimalShillings, field, mobileForm, nairobiDateTime, textField } from '../../../rails/fields.ts'
import type { PesalinkOptions } from '../../../rails/pesalink/gateway.ts'
import { isIncoming, type Movement, type Order } from '../book.ts'
import type { Emulation, ProviderEmulator, Render, RenderDeposit } from '../emulator.ts'
import { describe, wireNumber } from '../format.ts'
import { type EmulatedAnswer, type Gateway, validated } from '../gateway.ts'
import { acceptOrder } from '../perform.ts'
import { newKey, pem, type SecretOf, sameText } from '../secrets.ts'

/** Failure codes that the sandbox treats as documented. */
const failureCodes = [1, 2, 3, 4, 8, 11, 17, 21, 26, 1001, 1019, 1032, 1037, 2001, 2006, 2028, 2040, 8006].map(String)

const createCredentials = (secretOf: SecretOf) => {
  const privateKey = createPrivateKey(secretOf('merchantKey', newKey))
  const publicKey = createPublicKey(privateKey)
  const options = {
    apiKey: secretOf('apiKey'),
    merchantCode: '0123456789',
    consumerSecret: secretOf('merchantSecret'),
    privateKeyPem: pem(privateKey, 'pkcs8'),
    source: { countryCode: 'KE', name: 'Sandbox', accountNumber: '1450160649886' },
    bankCodes: 'as_given',
    failureCodes,
    callbackField: 'callbackUrl',
    timeoutMs: 5_000,
    depositBankCode: '68',
    notificationPath: '/account-api/v3.0/notifications',
    lookUpPath: '/account-api/v3.0/pesalink/lookup',
  } as const satisfies Omit<PesalinkOptions, 'baseUrl'>
  return {
    options,
    verifySignature: (text: string, signature: string): boolean =>
      verify('sha256', Buffer.from(text, 'utf8'), publicKey, Buffer.from(signature, 'base64')),
  }
}

type Pesalink = Emulation & { credentials: ReturnType<typeof createCredentials> }

const bankAccount = z.object({
  type: z.literal('bank'),
  countryCode: z.literal('KE'),
  bankCode: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
  accountNumber: z.string().regex(/^[A-Za-z0-9]{5,20}$/),
})
const phone = z.object({
  type: z.literal('mobile'),
  countryCode: z.literal('KE'),
  mobileNumber: z.string().regex(mobileForm),
})
const named = { name: z.string().min(1) }

const Account = z.discriminatedUnion('type', [bankAccount, phone])

const Transfer = z.object({
  source: z.object({ countryCode: z.literal('KE'), name: z.string().min(1), accountNumber: z.string().min(5) }),
  destination: z.discriminatedUnion('type', [bankAccount.extend(named), phone.extend(named)]),
  transfer: z.object({
    type: z.literal('PesaLink'),
    amount: z.string().regex(/^[1-9]\d{1,5}\.\d{2}$/),
    currencyCode: z.literal('KES'),
    reference: z.string().regex(/^\d{12}$/),
    date: z.iso.date(),
    description: z.string().min(1).max(100),
  }),
  callbackUrl: z.url({ protocol: /^https?$/ }).optional(),
})

const failure = (status: number, code: number, message: string): EmulatedAnswer => ({
  status,
  body: { status: false, code, message },
})

const success = (data?: object): EmulatedAnswer => ({ status: 200, body: { status: true, code: 0, message: 'success', data } })

const endpoint = validated<Pesalink>((field) => failure(400, 400_400, `Request contains errors, could not be parsed: ${field}`))

const header = ({ headers }: FastifyRequest, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

const isSigned = ({ credentials }: Pesalink, request: FastifyRequest, text: string): boolean =>
  credentials.verifySignature(text, header(request, 'signature'))

const wrongSignature = failure(403, 900_101, 'Invalid signature')

const numberOf = (to: z.output<typeof Account>): string => (to.type === 'bank' ? to.accountNumber : to.mobileNumber)

/** Banks reject a repeated reference with either status. The emulator alternates between them. */
const refuseRepeat = (earlier: Order): EmulatedAnswer => {
  earlier.queryCount += 1
  return failure(earlier.queryCount % 2 === 1 ? 400 : 409, 400_101, 'Duplicate Transaction/ Payment Reference')
}

const states = { under_way: 'Pending', moved: 'Success', refused: 'Failed' } as const

const details: Render = (order, settled) => ({
  status: true,
  code: 0,
  message: 'success',
  data: {
    state: states[order.state],
    code: wireNumber(order.state === 'under_way' ? '-1' : order.code),
    message: describe(order.code),
    amount: wireNumber(decimalShillings(settled.amountMinor)),
    charge: 0,
    reference: order.key,
    transactionId: settled.receipt,
    ...(order.payee !== null && { receiverName: order.payee }),
    serviceName: 'PesaLink',
  },
})

const transferTo = (type: 'bank' | 'mobile') =>
  endpoint(Transfer, (provider, { source, destination, transfer: order, callbackUrl }, request) => {
    if (destination.type !== type) return failure(400, 400_400, 'Request contains errors, could not be parsed: destination.type')
    const signed = `${order.amount}${order.currencyCode}${order.reference}${destination.name}${source.accountNumber}`
    if (!isSigned(provider, request, signed)) return wrongSignature
    if (source.accountNumber !== provider.credentials.options.source.accountNumber)
      return failure(403, 401_202, 'Merchant account used cannot be found/is inactive')
    const party = numberOf(destination)
    const earlier = provider.book.find(['PESALINK'], order.reference)
    if (earlier && provider.rules.takeMatching('repeat', { rail: 'PESALINK', party })?.effect !== 'pay_again')
      return refuseRepeat(earlier)

    const opened = acceptOrder(provider, {
      rail: 'PESALINK',
      key: order.reference,
      conversation: randomBytes(8).toString('hex'),
      amountMinor: BigInt(order.amount.replace('.', '')),
      reference: order.description,
      party,
      account: source.accountNumber,
      resultUrl: callbackUrl ?? null,
      timeoutUrl: null,
    })
    return { ...success({ transactionId: opened.receipt, status: 'PENDING' }), lost: opened.scenario.losesAnswer }
  })

const transferDetails = (provider: Pesalink, request: FastifyRequest): EmulatedAnswer => {
  const reference = textField(request.params, 'reference') ?? ''
  if (!isSigned(provider, request, reference)) return wrongSignature
  const order = provider.book.find(['PESALINK'], reference)
  return order ? { status: 200, body: details(order, order) } : failure(404, 404_101, 'Transaction not found')
}

const NotificationRegistration = z.object({ accountNumber: z.string(), url: z.url({ protocol: /^https?$/ }) })
const wrongRegistration = failure(400, 400_201, 'Invalid registration')

const registerNotifications = validated<Pesalink>(() => wrongRegistration)(
  NotificationRegistration,
  (provider, { accountNumber, url }) => {
    if (accountNumber !== provider.credentials.options.source.accountNumber) return wrongRegistration
    provider.addresses.register('PESALINK', { confirmation: url, validation: null, unanswered: 'Completed' })
    return success()
  },
)

const renderNotification: RenderDeposit = (order, settled) => ({
  callbackType: 'IPN',
  customer: { name: order.payer ?? '', mobileNumber: order.party, reference: order.reference },
  transaction: {
    date: nairobiDateTime(order.at),
    reference: order.key,
    paymentMode: 'PESALINK',
    amount: decimalShillings(settled.amountMinor),
    currency: 'KES',
    billNumber: order.reference,
    status: 'SUCCESS',
    remarks: order.reference,
  },
  bank: { reference: settled.receipt, transactionType: 'C', account: order.account },
})

const queryAccount = endpoint(Account, (provider, account, request) => {
  const party = numberOf(account)
  if (!isSigned(provider, request, `${provider.credentials.options.source.accountNumber}${party}`)) return wrongSignature
  const { name, ...how } = provider.names.query('PESALINK', party)
  return { ...how, ...(name === null ? failure(404, 404_102, 'Account not found') : success({ receiverName: name })) }
})

const columns = ['Reference', 'Date', 'Narrative', 'Status', 'Credit', 'Debit', 'Transaction ID']

const line = (moved: Movement): string[] => {
  const { key, receipt, at, reference } = moved
  const amount = decimalShillings(moved.amountMinor)
  const isIn = isIncoming(moved)
  return [key, nairobiDateTime(at), reference, 'Success', isIn ? amount : '', isIn ? '' : amount, receipt]
}

const withCharge = (moved: Movement): string[][] =>
  isIncoming(moved)
    ? [line(moved)]
    : [line(moved), ['', nairobiDateTime(moved.at), 'PESALINK CHARGE', 'Success', '', '35.00', `CH${moved.receipt.slice(2)}`]]

const Login = z.object({ merchantCode: z.string(), consumerSecret: z.string() })
const unauthorized = failure(401, 401_000, 'Unauthorized')

const login = validated<Pesalink>(() => unauthorized)(Login, (provider, given, request) => {
  const { apiKey, merchantCode, consumerSecret } = provider.credentials.options
  const isMerchant = given.merchantCode === merchantCode && sameText(given.consumerSecret, consumerSecret)
  if (!isMerchant || !sameText(header(request, 'api-key'), apiKey)) return unauthorized
  const { value, until } = provider.tokens.PESALINK.issue()
  return { status: 200, body: { accessToken: value, refreshToken: '', expiresIn: until.toISOString(), tokenType: 'Bearer' } }
})

const rail = 'PESALINK'

const gateway: Gateway<Pesalink> = {
  name: rail,
  login: { method: 'POST', url: '/authentication/api/v3/authenticate/merchant', answer: login },
  refuseToken: () => failure(401, 401_001, 'Invalid access token'),
  partyOf: (body) => {
    const destination = field(body, 'destination') ?? body
    return textField(destination, 'accountNumber') ?? textField(destination, 'mobileNumber') ?? null
  },
  endpoints: {
    '/transaction-api/v3.0/remittance/pesalinkacc': { rail, answer: transferTo('bank') },
    '/transaction-api/v3.0/remittance/pesalinkMobile': { rail, answer: transferTo('mobile') },
    '/transaction-api/v3.0/transactions/details/:reference': { method: 'GET', rail, answer: transferDetails },
    '/account-api/v3.0/pesalink/lookup': { rail, answer: queryAccount, skipsFaults: true },
    '/account-api/v3.0/notifications': { rail, answer: registerNotifications, skipsFaults: true },
  },
}

export const emulator = {
  create: (secretOf) => {
    const credentials = createCredentials(secretOf)
    const { options } = credentials
    return {
      options,
      accounts: { PESALINK: options.source.accountNumber },
      register: (emulation, serve) => serve({ ...emulation, credentials }, gateway),
    }
  },
  renderings: { PESALINK: { result: details } },
  notifications: { PESALINK: renderNotification },
  statement: {
    heading: (account, period) => [[`Account Number: ${account}`], [`Statement Period: ${period}`], []],
    columns,
    lines: withCharge,
  },
} satisfies ProviderEmulator<'PESALINK'>
