import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type EmulatedAnswer, gatewayError } from '../../../dev/sandbox/answer.ts'
import { nameOf } from '../../../dev/sandbox/name-answer.ts'
import { subscriber } from '../../../dev/sandbox/names.ts'
import type { Daraja } from './credentials.ts'
import { invalidField, mobile, organisation } from './fields.ts'

// The queries for the name behind a number. They answer at once, and move nothing.

const Subscriber = z.object({
  header: z.object({ requestID: z.string().min(1).max(64), timestamp: z.string().min(1) }),
  body: z.object({ msisdn: mobile, shortcode: organisation }),
})

const Organisation = z.object({ IdentifierType: z.enum(['2', '4']), Identifier: organisation })

export const querySubscriber = (provider: Daraja, body: unknown): EmulatedAnswer => {
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

export const queryOrganisation = (provider: Daraja, body: unknown): EmulatedAnswer => {
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
