import { createPrivateKey, createPublicKey, randomBytes, verify } from 'node:crypto'
import { z } from 'zod'
import type { EmulatedAnswer } from '../../../dev/sandbox/answer.ts'
import type { Emulation, Render } from '../../../dev/sandbox/emulator.ts'
import { describe, wireNumber } from '../../../dev/sandbox/format.ts'
import { take } from '../../../dev/sandbox/perform.ts'
import { newKey, pem, type SecretOf } from '../../../dev/sandbox/secrets.ts'
import { decimalShillings, mobileForm } from '../../fields.ts'
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
