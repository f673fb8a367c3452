import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { providerOf } from '../../../lib/rail-names.ts'
import { decimalShillings, nairobiDateTime } from '../../../rails/fields.ts'
import { isIncoming } from '../book.ts'
import { gatewayError } from '../gateway.ts'
import { subscriber } from '../names.ts'
import { endpoint, initiated, mobile, organisation, url } from './credentials.ts'
import { acceptAndReportLater, isInitiator, result } from './payouts.ts'
import { heldBy } from './tariff.ts'

const Balance = z.object({
  ...initiated,
  Initiator: z.string().min(1),
  CommandID: z.literal('AccountBalance'),
  PartyA: organisation,
  IdentifierType: z.literal('4'),
})

const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .transform((text) => Date.parse(`${text.replace(' ', 'T')}+03:00`))

const Pull = z.object({
  ShortCode: organisation,
  StartDate: instant,
  EndDate: instant,
  OffSetValue: z.string().regex(/^\d+$/),
})

export const accountBalance = endpoint(Balance, (provider, { Initiator, SecurityCredential, ResultURL, PartyA }) => {
  const code = isInitiator(provider, Initiator, SecurityCredential) ? '0' : '2001'
  const { workingMinor, chargesMinor } = heldBy(provider.book, PartyA)
  const AccountBalance = Object.entries({ Working: workingMinor, Utility: 0n, 'Charges Paid': chargesMinor })
    .map(([name, minor]) =>
      [`${name} Account`, 'KES', decimalShillings(minor), decimalShillings(minor), '0.00', '0.00'].join('|'),
    )
    .join('&')
  const parameters = code === '0' ? [{ Key: 'AccountBalance', Value: AccountBalance }] : undefined
  return acceptAndReportLater(provider, ResultURL, (query) => result(query, code, { parameters }))
})

const PullRegistration = z.object({
  ShortCode: organisation,
  RequestType: z.literal('Pull'),
  NominatedNumber: mobile,
  CallBackURL: url,
})

export const registerPull = endpoint(PullRegistration, (_provider, { ShortCode }) => {
  const answer = { ResponseRefID: randomUUID(), ResponseStatus: '1000', ShortCode }
  return { status: 200, body: { ...answer, ResponseDescription: 'Success' } }
})

export const pullTransactions = endpoint(Pull, (provider, { ShortCode, StartDate, EndDate, OffSetValue }) => {
  const listed = provider.book
    .movements()
    .filter((moved) => isIncoming(moved) && providerOf(moved.rail) === 'MPESA')
    .filter(({ at }) => at.getTime() >= StartDate && at.getTime() <= EndDate + 999)
    .slice(Number(OffSetValue), Number(OffSetValue) + 100)
    .map((moved, index) => ({
      transactionId: moved.receipt,
      // Nairobi time, alternately with and without its UTC offset.
      trxDate: index % 2 === 0 ? `${nairobiDateTime(moved.at).replace(' ', 'T')}+03:00` : nairobiDateTime(moved.at),
      msisdn: moved.party,
      sender: 'MPESA',
      transactiontype: 'c2b-pay-bill-debit',
      billreference: moved.reference,
      amount: decimalShillings(moved.amountMinor),
      organizationname: ShortCode,
    }))
  if (listed.length === 0)
    return { status: 200, body: { ResponseRefID: randomUUID(), ResponseCode: '1001', ResponseMessage: 'No records found' } }
  return {
    status: 200,
    body: { ResponseRefID: randomUUID(), ResponseCode: '1000', ResponseMessage: 'Success', Response: [listed] },
  }
})

const Subscriber = z.object({
  header: z.object({ requestID: z.string().min(1).max(64), timestamp: z.string().min(1) }),
  body: z.object({ msisdn: mobile, shortcode: organisation }),
})

const Organisation = z.object({ IdentifierType: z.enum(['2', '4']), Identifier: organisation })

export const querySubscriber = endpoint(Subscriber, (provider, { header, body }) => {
  const { name, ...how } = provider.names.query('MPESA_B2C', body.msisdn)
  const answered = { requestID: header.requestID, timestamp: String(Math.floor(provider.clock.now().getTime() / 1000)) }
  if (name === null)
    return {
      ...how,
      status: 404,
      body: { header: { ...answered, status: '404', message: 'Not found' }, body: { message: 'No such customer' } },
    }
  return { ...how, status: 200, body: { header: { ...answered, status: '200', message: 'Success' }, body: subscriber(name) } }
})

export const queryOrganisation = endpoint(Organisation, (provider, { Identifier }) => {
  const { name, ...how } = provider.names.query('MPESA_B2B', Identifier)
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
})
