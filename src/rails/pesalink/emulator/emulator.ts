import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { EmulatedAnswer, Respond } from '../../../dev/sandbox/answer.ts'
import { isIncoming, type Movement } from '../../../dev/sandbox/book.ts'
import type { Emulator, Render, StatementRows } from '../../../dev/sandbox/emulator.ts'
import { periodText } from '../../../dev/sandbox/format.ts'
import { sameText } from '../../../dev/sandbox/secrets.ts'
import { decimalShillings, field, textField } from '../../fields.ts'
import { nairobiDateTime } from '../../nairobi-time.ts'
import { bankAccount, createCredentials, details, type Pesalink, phone, refuse, transfer, transferDetails } from './transfers.ts'

const Notices = z.object({ accountNumber: z.string(), url: z.url({ protocol: /^https?$/ }) })

const registerNotices = (provider: Pesalink, body: unknown): EmulatedAnswer => {
  const parsed = Notices.safeParse(body)
  if (!parsed.success || parsed.data.accountNumber !== provider.credentials.options.source.accountNumber)
    return { status: 400, body: { status: false, code: 400_201, message: 'Invalid registration' } }
  provider.addresses.register('PESALINK', { confirmation: parsed.data.url, validation: null, unanswered: 'Completed' })
  return { status: 200, body: { status: true, code: 0, message: 'success' } }
}

/** In the shape of Jenga's instant payment notifications. */
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

/** The charge is a transaction of its own, below the transfer. */
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
