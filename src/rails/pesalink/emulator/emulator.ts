import { createPrivateKey, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { EmulatedAnswer, Respond } from '../../../dev/sandbox/answer.ts'
import { isIncoming, type Movement } from '../../../dev/sandbox/book.ts'
import type { Emulation, Emulator, Render, StatementRows } from '../../../dev/sandbox/emulator.ts'
import { describe, periodText, wireNumber } from '../../../dev/sandbox/format.ts'
import { take } from '../../../dev/sandbox/perform.ts'
import { newKey, pem, type SecretOf, sameText } from '../../../dev/sandbox/secrets.ts'
import { decimalShillings, field, mobileForm, nairobiDateTime, textField } from '../../fields.ts'
import type { PesalinkOptions } from '../gateway.ts'

/** The "documented" failures of the sandbox. */
const failureCodes = [1, 2, 3, 4, 8, 11, 17, 21, 26, 1001, 1019, 1032, 1037, 2001, 2006, 2028, 2040, 8006].map(String)

export const createCredentials = (secretOf: SecretOf) => {
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
    noticePath: '/account-api/v3.0/notifications',
    lookUpPath: '/account-api/v3.0/pesalink/lookup',
  } as const satisfies Omit<PesalinkOptions, 'baseUrl'>
  return {
    options,
    verifySignature: (text: string, signature: string): boolean =>
      verify('sha256', Buffer.from(text, 'utf8'), publicKey, Buffer.from(signature, 'base64')),
  }
}

export type Pesalink = Emulation & { credentials: ReturnType<typeof createCredentials> }

export const bankAccount = z.object({
  type: z.literal('bank'),
  countryCode: z.literal('KE'),
  bankCode: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
  accountNumber: z.string().regex(/^[A-Za-z0-9]{5,20}$/),
})
export const phone = z.object({
  type: z.literal('mobile'),
  countryCode: z.literal('KE'),
  mobileNumber: z.string().regex(mobileForm),
})
const named = { name: z.string().min(1) }

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

export const refuse = (status: number, code: number, message: string): EmulatedAnswer => ({
  status,
  body: { status: false, code, message },
})

const states = { under_way: 'Pending', moved: 'Success', refused: 'Failed' } as const

export const details: Render = (order, settled) => ({
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

export const transfer = (
  provider: Pesalink,
  service: 'pesalinkacc' | 'pesalinkMobile',
  body: unknown,
  signature: string,
): EmulatedAnswer => {
  const parsed = Transfer.safeParse(body)
  if (!parsed.success) return refuse(400, 400_101, `Invalid ${parsed.error.issues[0]?.path.join('.') ?? 'payload'}`)
  const { source, destination, transfer: order, callbackUrl } = parsed.data
  const expected = destination.type === 'bank' ? 'pesalinkacc' : 'pesalinkMobile'
  if (service !== expected) return refuse(400, 400_102, 'Invalid destination.type')
  const signed = `${order.amount}${order.currencyCode}${order.reference}${destination.name}${source.accountNumber}`
  if (!provider.credentials.verifySignature(signed, signature)) return refuse(403, 403_101, 'Invalid signature')
  if (source.accountNumber !== provider.credentials.options.source.accountNumber) return refuse(403, 403_102, 'Not your account')
  const party = destination.type === 'bank' ? destination.accountNumber : destination.mobileNumber
  const isRepeat = provider.book.find(['PESALINK'], order.reference) !== undefined
  if (isRepeat && provider.rules.take('repeat', { rail: 'PESALINK', party })?.effect !== 'pay_again')
    return refuse(409, 409_101, 'Duplicate transaction reference')

  const opened = take(provider, {
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
  const data = { transactionId: opened.receipt, status: 'PENDING' }
  return { status: 200, lost: opened.scenario.losesAnswer, body: { status: true, code: 0, message: 'success', data } }
}

export const transferDetails = (provider: Pesalink, reference: string, signature: string): EmulatedAnswer => {
  if (!provider.credentials.verifySignature(reference, signature)) return refuse(403, 403_101, 'Invalid signature')
  const order = provider.book.find(['PESALINK'], reference)
  if (!order) return refuse(404, 404_101, 'Transaction not found')
  return { status: 200, body: details(order, order) }
}

const Notices = z.object({ accountNumber: z.string(), url: z.url({ protocol: /^https?$/ }) })

const registerNotices = (provider: Pesalink, body: unknown): EmulatedAnswer => {
  const parsed = Notices.safeParse(body)
  if (!parsed.success || parsed.data.accountNumber !== provider.credentials.options.source.accountNumber)
    return { status: 400, body: { status: false, code: 400_201, message: 'Invalid registration' } }
  provider.addresses.register('PESALINK', { confirmation: parsed.data.url, validation: null, unanswered: 'Completed' })
  return { status: 200, body: { status: true, code: 0, message: 'success' } }
}

const renderNotification: Render = (order, settled) => ({
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

const Account = z.discriminatedUnion('type', [bankAccount, phone])

const queryAccount = (provider: Pesalink, body: unknown, signature: string): EmulatedAnswer => {
  const parsed = Account.safeParse(body)
  if (!parsed.success) return refuse(400, 400_101, `Invalid ${parsed.error.issues[0]?.path.join('.') ?? 'payload'}`)
  const party = parsed.data.type === 'bank' ? parsed.data.accountNumber : parsed.data.mobileNumber
  const { source } = provider.credentials.options
  if (!provider.credentials.verifySignature(`${source.accountNumber}${party}`, signature))
    return refuse(403, 403_101, 'Invalid signature')
  const { name, ...how } = provider.names.query('PESALINK', party)
  if (name === null) return { ...how, ...refuse(404, 404_102, 'Account not found') }
  return { ...how, status: 200, body: { status: true, code: 0, message: 'success', data: { receiverName: name } } }
}

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

const statement: StatementRows = (movements, account) => [
  ...(account === undefined ? [] : [[`Account Number: ${account}`], [`Statement Period: ${periodText(movements)}`], []]),
  columns,
  ...movements.flatMap(withCharge),
]

const Login = z.object({ merchantCode: z.string(), consumerSecret: z.string() })
const Named = z.object({ reference: z.string() })

const partyOf = (body: unknown): string | null => {
  const destination = field(body, 'destination') ?? body
  return textField(destination, 'accountNumber') ?? textField(destination, 'mobileNumber') ?? null
}

const header = (request: FastifyRequest, name: string): string => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

const login = (provider: Pesalink, request: FastifyRequest): EmulatedAnswer => {
  const { apiKey, merchantCode, consumerSecret } = provider.credentials.options
  const parsed = Login.safeParse(request.body)
  const known =
    parsed.success && parsed.data.merchantCode === merchantCode && sameText(parsed.data.consumerSecret, consumerSecret)
  if (!known || !sameText(header(request, 'api-key'), apiKey)) return refuse(401, 401_000, 'Unauthorized')
  const token = provider.tokens.PESALINK.issue()
  return {
    status: 200,
    body: { accessToken: token.value, refreshToken: '', expiresIn: token.until.toISOString(), tokenType: 'Bearer' },
  }
}

const registerPesalink = (app: FastifyInstance, provider: Pesalink, respond: Respond): void => {
  const authorized = (request: FastifyRequest, reply: FastifyReply, answer: () => EmulatedAnswer, faulty = true) => {
    const options = { path: request.routeOptions.url ?? '', target: { rail: 'PESALINK' as const, party: partyOf(request.body) } }
    return provider.tokens.PESALINK.accepts(request.headers.authorization)
      ? respond(reply, answer, { ...options, faulty })
      : respond(reply, () => refuse(401, 401_001, 'Invalid access token'), { ...options, faulty: false })
  }

  app.post('/authentication/api/v3/authenticate/merchant', (request, reply) => {
    const answer = login(provider, request)
    return reply.code(answer.status).send(answer.body)
  })
  for (const service of ['pesalinkacc', 'pesalinkMobile'] as const) {
    app.post(`/transaction-api/v3.0/remittance/${service}`, (request, reply) =>
      authorized(request, reply, () => transfer(provider, service, request.body, header(request, 'signature'))),
    )
  }
  app.post('/account-api/v3.0/pesalink/lookup', (request, reply) =>
    authorized(request, reply, () => queryAccount(provider, request.body, header(request, 'signature')), false),
  )
  app.post('/account-api/v3.0/notifications', (request, reply) =>
    authorized(request, reply, () => registerNotices(provider, request.body), false),
  )
  app.get('/transaction-api/v3.0/transactions/details/:reference', (request, reply) =>
    authorized(request, reply, () => {
      const named = Named.safeParse(request.params)
      return transferDetails(provider, named.success ? named.data.reference : '', header(request, 'signature'))
    }),
  )
}

export const emulator = {
  create: (secretOf) => {
    const credentials = createCredentials(secretOf)
    const { options } = credentials
    return {
      options,
      accounts: { PESALINK: options.source.accountNumber },
      register: (app, emulation, respond) => registerPesalink(app, { ...emulation, credentials }, respond),
    }
  },
  renderings: { PESALINK: { result: details } },
  notices: { PESALINK: renderNotification },
  statement,
} satisfies Emulator<'PESALINK'>
