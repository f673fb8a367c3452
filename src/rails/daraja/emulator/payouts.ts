import { randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type EmulatedAnswer, gatewayError } from '../../../dev/sandbox/answer.ts'
import { localTime } from '../../../dev/sandbox/format.ts'
import type { Scenario } from '../../../dev/sandbox/scenario.ts'
import { sameText } from '../../../dev/sandbox/secrets.ts'
import { take } from '../../../dev/sandbox/take.ts'
import type { Daraja } from './credentials.ts'
import { amount, initiated, invalidField, mobile, organisation } from './fields.ts'
import { renderDuplicate, renderStatus } from './payout-results.ts'

const B2c = z.object({
  ...initiated,
  OriginatorConversationID: z.string().min(1).max(64),
  InitiatorName: z.string().min(1),
  CommandID: z.enum(['SalaryPayment', 'BusinessPayment', 'PromotionPayment']),
  Amount: amount(10n, 250_000n),
  PartyA: organisation,
  PartyB: mobile,
  Occassion: z.string().max(100).optional(),
})

const B2b = z.object({
  ...initiated,
  Initiator: z.string().min(1),
  CommandID: z.enum(['BusinessPayBill', 'BusinessBuyGoods']),
  SenderIdentifierType: z.literal('4'),
  RecieverIdentifierType: z.enum(['2', '4']),
  Amount: amount(1n, 250_000n),
  PartyA: organisation,
  PartyB: organisation,
  AccountReference: z.string().min(1).max(13),
  Requester: mobile.optional(),
  Occassion: z.string().max(100).optional(),
})

const Status = z
  .object({
    ...initiated,
    Initiator: z.string().min(1),
    CommandID: z.literal('TransactionStatusQuery'),
    TransactionID: z.string().min(1).optional(),
    OriginalConversationID: z.string().min(1).optional(),
    PartyA: organisation,
    IdentifierType: z.enum(['1', '2', '4']),
  })
  .refine((query) => query.TransactionID !== undefined || query.OriginalConversationID !== undefined)

export const accepted = (order: { key: string; conversation: string }, lost = false): EmulatedAnswer => ({
  status: 200,
  lost,
  body: {
    ConversationID: order.conversation,
    OriginatorConversationID: order.key,
    ResponseCode: '0',
    ResponseDescription: 'Accept the service request successfully.',
  },
})

export const newConversation = (provider: Daraja): string =>
  `AG_${localTime(provider.clock.now()).day}_${randomBytes(10).toString('hex')}`

/** A wrong initiator is detected after the gateway: the request is accepted, and its result is 2001. */
export const isInitiator = (provider: Daraja, name: string, credential: string): boolean => {
  const { initiatorName, initiatorPassword } = provider.credentials.options
  const password = provider.credentials.decryptCredential(credential)
  return name === initiatorName && password !== undefined && sameText(password, initiatorPassword)
}

const stranger: Scenario = { code: '2001', reporting: 'once', losesAnswer: false }

type PayoutFields = {
  PartyA: string
  Amount: bigint
  Occassion?: string | undefined
  PartyB: string
  ResultURL: string
  QueueTimeOutURL: string
}

/** Accepts a payout to a phone or an organisation. `known`: the initiator's name and password are right. */
const takePayout = (
  provider: Daraja,
  rail: 'MPESA_B2C' | 'MPESA_B2B',
  request: PayoutFields,
  { key, known }: { key: string; known: boolean },
): EmulatedAnswer => {
  const order = take(provider, {
    rail,
    key,
    conversation: newConversation(provider),
    amountMinor: request.Amount * 100n,
    reference: request.Occassion ?? '',
    party: request.PartyB,
    account: request.PartyA,
    resultUrl: request.ResultURL,
    timeoutUrl: request.QueueTimeOutURL,
    ...(!known && { scenario: stranger }),
  })
  return accepted(order, order.scenario.losesAnswer)
}

/** Some gateways take a repeat, and its result is 15: "Duplicate Detected". */
const refuseByResult = (provider: Daraja, { OriginatorConversationID, ResultURL }: z.output<typeof B2c>): EmulatedAnswer => {
  const ids = { key: OriginatorConversationID, conversation: newConversation(provider) }
  provider.scheduler.after(provider.delayMs, () => provider.deliver(ResultURL, renderDuplicate(ids)))
  return accepted(ids)
}

export const b2c = (provider: Daraja, body: unknown): EmulatedAnswer => {
  const parsed = B2c.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const request = parsed.data
  if (provider.book.find(['MPESA_B2C'], request.OriginatorConversationID)) {
    const answer = provider.rules.forRepeat({ rail: 'MPESA_B2C', party: request.PartyB })
    if (answer === undefined) return gatewayError(500, '500.002.1001', 'Duplicate OriginatorConversationID.')
    if (answer === 'refused_by_result') return refuseByResult(provider, request)
  }
  const known = isInitiator(provider, request.InitiatorName, request.SecurityCredential)
  return takePayout(provider, 'MPESA_B2C', request, { key: request.OriginatorConversationID, known })
}

export const b2b = (provider: Daraja, body: unknown): EmulatedAnswer => {
  const parsed = B2b.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const request = parsed.data
  const known = isInitiator(provider, request.Initiator, request.SecurityCredential)
  return takePayout(provider, 'MPESA_B2B', request, { key: randomUUID(), known })
}

/** The state is that of the moment of the answer, not of the query. */
export const transactionStatus = (provider: Daraja, body: unknown): EmulatedAnswer => {
  const parsed = Status.safeParse(body)
  if (!parsed.success) return invalidField(parsed.error)
  const query = parsed.data
  const queryIds = { key: randomUUID(), conversation: newConversation(provider) }
  provider.scheduler.after(provider.delayMs, async () => {
    const order = provider.book.find(['MPESA_B2C', 'MPESA_B2B'], query.OriginalConversationID ?? query.TransactionID ?? '')
    const known = order ? '0' : '2032'
    const code = isInitiator(provider, query.Initiator, query.SecurityCredential) ? known : '2001'
    await provider.deliver(query.ResultURL, renderStatus(order, queryIds, code))
  })
  return accepted(queryIds)
}
