import { z } from 'zod'
import type { EmulatedAnswer } from '../../../dev/sandbox/answer.ts'
import type { Render } from '../../../dev/sandbox/emulator.ts'
import { decimalShillings } from '../../fields.ts'
import { nairobiDateTime } from '../../nairobi-time.ts'
import type { Pesalink } from './credentials.ts'
import { bankAccount, phone, refuse } from './transfers.ts'

const Notices = z.object({ accountNumber: z.string(), url: z.url({ protocol: /^https?$/ }) })

/** The bank's registration of the address for notices of deposits. */
export const registerNotices = (provider: Pesalink, body: unknown): EmulatedAnswer => {
  const parsed = Notices.safeParse(body)
  if (!parsed.success || parsed.data.accountNumber !== provider.credentials.options.source.accountNumber)
    return { status: 400, body: { status: false, code: 400_201, message: 'Invalid registration' } }
  provider.addresses.register('PESALINK', { confirmation: parsed.data.url, validation: null, unanswered: 'Completed' })
  return { status: 200, body: { status: true, code: 0, message: 'success' } }
}

/** The bank's notice, in the shape of Jenga's instant payment notifications. */
export const renderNotification: Render = (order, settled) => ({
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

/** Whose account it is: it answers at once, and moves nothing. */
export const queryAccount = (provider: Pesalink, body: unknown, signature: string): EmulatedAnswer => {
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
