import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { RailName } from '../lib/rail-names.ts'
import { type EmulatedAnswer, gatewayError } from './answer.ts'
import { invalidField, mobile, organisation } from './daraja-fields.ts'
import { disturbed, subscriber } from './names.ts'
import { refuse } from './pesalink-endpoints.ts'
import type { Provider } from './provider.ts'

// The providers' three queries for the name behind a number. They answer at once, and move nothing.

const Subscriber = z.object({
  header: z.object({ requestID: z.string().min(1).max(64), timestamp: z.string().min(1) }),
  body: z.object({ msisdn: mobile, shortcode: organisation }),
})

const Organisation = z.object({ IdentifierType: z.enum(['2', '4']), Identifier: organisation })

const Account = z.union([
  z.object({
    countryCode: z.literal('KE'),
    type: z.literal('bank'),
    bankCode: z.string().regex(/^[A-Za-z0-9]{1,11}$/),
    accountNumber: z.string().regex(/^[A-Za-z0-9]{5,20}$/),
  }),
  z.object({ countryCode: z.literal('KE'), type: z.literal('mobile'), mobileNumber: z.string().regex(/^254[17]\d{8}$/) }),
])

/** The name that the provider gives; null where the number has no holder. `cut`: the connection is reset, or the answer comes late. */
const nameOf = (provider: Provider, rail: RailName, party: string): { name: string | null; lost: boolean; delayMs: number } => {
  const rule = provider.rules.forName({ rail, party })
  const fault = rule?.effect ?? provider.names.faultOf(party)
  const holder = provider.names.of(party)
  return {
    name: holder === null && fault !== 'name_ok' && fault !== 'name_other' ? null : disturbed(holder ?? '', fault),
    lost: fault === 'name_outage',
    delayMs: rule?.effect === 'name_late' ? rule.delay_ms : 0,
  }
}

export const querySubscriber = (provider: Provider, body: unknown): EmulatedAnswer => {
  const parsed = Subscriber.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const { name, ...how } = nameOf(provider, 'MPESA_B2C', parsed.data.body.msisdn)
  const { requestID } = parsed.data.header
  const header = { requestID, timestamp: String(Math.floor(provider.clock.now().getTime() / 1000)) }
  if (name === null)
    return {
      ...how,
      status: 404,
      body: { header: { ...header, status: '404', message: 'Not found' }, body: { message: 'No such customer' } },
    }
  return { ...how, status: 200, body: { header: { ...header, status: '200', message: 'Success' }, body: subscriber(name) } }
}

export const queryOrganisation = (provider: Provider, body: unknown): EmulatedAnswer => {
  const parsed = Organisation.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const { Identifier } = parsed.data
  const { name, ...how } = nameOf(provider, 'MPESA_B2B', Identifier)
  if (name === null) return { ...how, ...gatewayError(404, '404.001.05', 'Organization not found') }
  return {
    ...how,
    status: 200,
    body: {
      ConversationID: randomUUID(),
      ResponseCode: '4000',
      ResponseMessage: 'Success',
      DetailedMessage: 'Request received successfully',
      OrganizationShortCode: Identifier,
      OrganizationName: name,
      ChargeProfileID: '1',
    },
  }
}

export const queryAccount = (provider: Provider, body: unknown, signature: string): EmulatedAnswer => {
  const parsed = Account.safeParse(body)
  if (!parsed.success) return refuse(400, 400_101, `Invalid ${parsed.error.issues[0]?.path.join('.') ?? 'payload'}`)
  const party = parsed.data.type === 'bank' ? parsed.data.accountNumber : parsed.data.mobileNumber
  const { source } = provider.credentials.pesalink
  if (!provider.credentials.verifySignature(`${source.accountNumber}${party}`, signature))
    return refuse(403, 403_101, 'Invalid signature')
  const { name, ...how } = nameOf(provider, 'PESALINK', party)
  if (name === null) return { ...how, ...refuse(404, 404_102, 'Account not found') }
  return { ...how, status: 200, body: { status: true, code: 0, message: 'success', data: { receiverName: name } } }
}
