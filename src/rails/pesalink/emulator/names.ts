import { z } from 'zod'
import type { EmulatedAnswer } from '../../../dev/sandbox/answer.ts'
import { nameOf } from '../../../dev/sandbox/name-answer.ts'
import type { Pesalink } from './credentials.ts'
import { refuse } from './transfers.ts'

const Account = z.union([
  z.object({
    countryCode: z.literal('KE'),
    type: z.literal('bank'),
    bankCode: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
    accountNumber: z.string().regex(/^[A-Za-z0-9]{5,20}$/),
  }),
  z.object({ countryCode: z.literal('KE'), type: z.literal('mobile'), mobileNumber: z.string().regex(/^254[17]\d{8}$/) }),
])

/** Whose account it is: it answers at once, and moves nothing. */
export const queryAccount = (provider: Pesalink, body: unknown, signature: string): EmulatedAnswer => {
  const parsed = Account.safeParse(body)
  if (!parsed.success) return refuse(400, 400_101, `Invalid ${parsed.error.issues[0]?.path.join('.') ?? 'payload'}`)
  const party = parsed.data.type === 'bank' ? parsed.data.accountNumber : parsed.data.mobileNumber
  const { source } = provider.credentials.options
  if (!provider.credentials.verifySignature(`${source.accountNumber}${party}`, signature))
    return refuse(403, 403_101, 'Invalid signature')
  const { name, ...how } = nameOf(provider, 'PESALINK', party)
  if (name === null) return { ...how, ...refuse(404, 404_102, 'Account not found') }
  return { ...how, status: 200, body: { status: true, code: 0, message: 'success', data: { receiverName: name } } }
}
