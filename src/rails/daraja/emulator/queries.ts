import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type EmulatedAnswer, gatewayError } from '../../../dev/sandbox/answer.ts'
import { isIncoming, workingBalance } from '../../../dev/sandbox/book.ts'
import { dashedTime, shillings } from '../../../dev/sandbox/format.ts'
import { nameOf, subscriber } from '../../../dev/sandbox/names.ts'
import { providerOf } from '../../../lib/rail-names.ts'
import { type Daraja, initiated, invalidField, mobile, organisation, url } from './credentials.ts'
import { accepted, isInitiator, newConversation, type QueryIds, queryEnvelope } from './payouts.ts'

const Balance = z.object({
  ...initiated,
  Initiator: z.string().min(1),
  CommandID: z.literal('AccountBalance'),
  PartyA: organisation,
  IdentifierType: z.literal('4'),
})

const Pull = z.object({
  ShortCode: organisation,
  StartDate: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  EndDate: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
  OffSetValue: z.string().regex(/^\d+$/),
})

const envelope = (query: QueryIds, code: string, parameters: readonly { Key: string; Value: unknown }[]) => ({
  Result: {
    ...queryEnvelope(query, code),
    ...(code === '0' && { ResultParameters: { ResultParameter: parameters } }),
  },
})

/** The answer comes as a delivery, like every answer to an initiator. */
const answerLater = (provider: Daraja, url: string, body: (query: QueryIds) => unknown): EmulatedAnswer => {
  const query = { key: randomUUID(), conversation: newConversation(provider) }
  provider.scheduler.after(provider.delayMs, () => provider.deliver(url, body(query)))
  return accepted(query)
}

export const accountBalance = (provider: Daraja, body: unknown): EmulatedAnswer => {
  const parsed = Balance.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const { Initiator, SecurityCredential, ResultURL, PartyA } = parsed.data
  const code = isInitiator(provider, Initiator, SecurityCredential) ? '0' : '2001'
  const amount = shillings(workingBalance(provider.book, 'MPESA', PartyA))
  const AccountBalance = `Working Account|KES|${amount}|${amount}|0.00|0.00&Utility Account|KES|0.00|0.00|0.00|0.00&Charges Paid Account|KES|-26.00|-26.00|0.00|0.00`
  return answerLater(provider, ResultURL, (query) => envelope(query, code, [{ Key: 'AccountBalance', Value: AccountBalance }]))
}

const PullRegistration = z.object({
  ShortCode: organisation,
  RequestType: z.literal('Pull'),
  NominatedNumber: mobile,
  CallBackURL: url,
})

/** Once, before payments can be listed. */
export const registerPull = (_provider: Daraja, body: unknown): EmulatedAnswer => {
  const parsed = PullRegistration.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const answer = { ResponseRefID: randomUUID(), ResponseStatus: '1000', ShortCode: parsed.data.ShortCode }
  return { status: 200, body: { ...answer, ResponseDescription: 'Success' } }
}

const nairobiInstant = (text: string): number => Date.parse(`${text.replace(' ', 'T')}+03:00`)

/** Incoming payments, as the provider lists them: by time, with the prompt's account reference. */
export const pullTransactions = (provider: Daraja, body: unknown): EmulatedAnswer => {
  const parsed = Pull.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const { ShortCode, StartDate, EndDate, OffSetValue } = parsed.data
  const [from, to] = [nairobiInstant(StartDate), nairobiInstant(EndDate)]
  const listed = provider.book
    .movements()
    .filter((moved) => isIncoming(moved) && providerOf(moved.rail) === 'MPESA')
    .filter(({ at }) => at.getTime() >= from && at.getTime() <= to + 999)
    .slice(Number(OffSetValue), Number(OffSetValue) + 100)
    .map((moved, index) => ({
      transactionId: moved.receipt,
      // With its zone or without: both are Nairobi's time.
      trxDate: index % 2 === 0 ? `${dashedTime(moved.at).replace(' ', 'T')}+03:00` : dashedTime(moved.at),
      msisdn: moved.party,
      sender: 'MPESA',
      transactiontype: 'c2b-pay-bill-debit',
      billreference: moved.reference,
      amount: shillings(moved.amountMinor),
      organizationname: ShortCode,
    }))
  if (listed.length === 0)
    return { status: 200, body: { ResponseRefID: randomUUID(), ResponseCode: '1001', ResponseMessage: 'No records found' } }
  return {
    status: 200,
    body: { ResponseRefID: randomUUID(), ResponseCode: '1000', ResponseMessage: 'Success', Response: [listed] },
  }
}

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
