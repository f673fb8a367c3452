import type { FastifyRequest } from 'fastify'
import type { AnyRail, RailOf } from '../../../lib/rail-names.ts'
import { decimalShillings, field, nairobiDateTime, textField } from '../../../rails/fields.ts'
import { isIncoming, type Movement } from '../book.ts'
import type { ProviderEmulator } from '../emulator.ts'
import { type EmulatedAnswer, type Gateway, gatewayError } from '../gateway.ts'
import { sameText } from '../secrets.ts'
import { tokenLifetimeSeconds } from '../tokens.ts'
import { createCredentials, type Daraja } from './credentials.ts'
import { registerUrl, renderCallback, renderConfirmation, stkPush, stkQuery } from './incoming.ts'
import { b2b, b2c, renderB2b, renderB2c, renderTimeout, transactionStatus } from './payouts.ts'
import { accountBalance, pullTransactions, queryOrganisation, querySubscriber, registerPull } from './queries.ts'
import { chargeOf } from './tariff.ts'

/** The emulated app is subscribed only to C2B v2, so v1 responds with 401. */
const withoutProduct = (): EmulatedAnswer => gatewayError(401, '401.003.01', 'Invalid API call as no apiproduct match found')

const generateToken = (provider: Daraja, { headers }: FastifyRequest): EmulatedAnswer => {
  const { consumerKey, consumerSecret } = provider.credentials.options
  const expected = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`
  if (!sameText(headers.authorization ?? '', expected)) return gatewayError(400, '400.008.01', 'Invalid Authentication passed')
  return { status: 200, body: { access_token: provider.tokens.MPESA.issue().value, expires_in: String(tokenLifetimeSeconds) } }
}

const gateway: Gateway<Daraja> = {
  name: 'MPESA',
  login: { method: 'GET', url: '/oauth/v1/generate', answer: generateToken },
  refuseToken: (authorization) =>
    authorization === undefined
      ? gatewayError(404, '404.001.04', 'Invalid Authentication Header')
      : gatewayError(404, '404.001.03', 'Invalid Access Token'),
  partyOf: (body) =>
    textField(body, 'PhoneNumber') ??
    textField(body, 'PartyB') ??
    textField(body, 'Identifier') ??
    textField(field(body, 'body'), 'msisdn') ??
    null,
  endpoints: {
    '/mpesa/stkpush/v1/processrequest': { rail: 'MPESA_STK', answer: stkPush },
    '/mpesa/stkpushquery/v1/query': { rail: 'MPESA_STK', answer: stkQuery },
    '/pulltransactions/v1/query': { rail: 'MPESA_STK', answer: pullTransactions },
    '/pulltransactions/v1/register': { rail: 'MPESA_STK', answer: registerPull, skipsFaults: true },
    '/mpesa/c2b/v1/registerurl': { rail: 'MPESA_PAYBILL', answer: withoutProduct, skipsFaults: true },
    '/mpesa/c2b/v2/registerurl': { rail: 'MPESA_PAYBILL', answer: registerUrl, skipsFaults: true },
    '/mpesa/b2c/v3/paymentrequest': { rail: 'MPESA_B2C', answer: b2c },
    '/mpesa/b2b/v1/paymentrequest': { rail: 'MPESA_B2B', answer: b2b },
    '/mpesa/transactionstatus/v1/query': { rail: null, answer: transactionStatus },
    '/mpesa/accountbalance/v1/query': { rail: null, answer: accountBalance },
    '/mpesa/b2c/hakikisha/v1/hakikisha': { rail: 'MPESA_B2C', answer: querySubscriber, skipsFaults: true },
    '/sfcverify/v1/query/info': { rail: 'MPESA_B2B', answer: queryOrganisation, skipsFaults: true },
  },
}

const columns = [
  'Receipt No.',
  'Completion Time',
  'Details',
  'Transaction Status',
  'Paid In',
  'Withdrawn',
  'Other Party Info',
  'Linked Transaction ID',
  'A/C No.',
]

const words: Readonly<Record<RailOf<'MPESA'>, string>> = {
  MPESA_STK: 'Pay Bill from',
  MPESA_B2C: 'Business Payment to',
  MPESA_B2B: 'Business Pay Bill to',
  MPESA_PAYBILL: 'Pay Bill from',
}
const isMpesa = (rail: AnyRail): rail is RailOf<'MPESA'> => Object.hasOwn(words, rail)

const masked = (party: string): string => `${party.slice(0, 3)}***${party.slice(-3)}`

/** The details text as in samples: a payout to a phone contains the caller's conversation id, not `Occassion`. */
const detailsOf = ({ rail, party, key, reference }: Movement): string => {
  const to = `${isMpesa(rail) ? words[rail] : rail} ${masked(party)}`
  return rail === 'MPESA_B2C' ? `${to} via API. Original conversation ID is ${key}.` : `${to} ${reference}`.trim()
}

const line = (moved: Movement): string[] => {
  const { rail, receipt, at, amountMinor, party, reference } = moved
  const isIn = isIncoming(moved)
  const amount = decimalShillings(amountMinor)
  return [
    receipt,
    nairobiDateTime(at),
    detailsOf(moved),
    'Completed',
    isIn ? amount : '',
    isIn ? '' : `-${amount}`,
    masked(party),
    '',
    rail === 'MPESA_B2C' ? '' : reference,
  ]
}

/** The lines of a payment and its charge: for a phone, first the charge, under the same receipt. Otherwise the charge is last. */
const withCharge = (moved: Movement): string[][] => {
  const chargeMinor = chargeOf(moved)
  if (chargeMinor === 0n) return [line(moved)]
  const isToPhone = moved.rail === 'MPESA_B2C'
  const receipt = isToPhone ? moved.receipt : `CH${moved.receipt.slice(2)}`
  const details = isToPhone ? 'Business Payment Charge' : 'Business Pay Bill Charge'
  const linked = isToPhone ? '' : moved.receipt
  const charge = [receipt, nairobiDateTime(moved.at), details, 'Completed', '', decimalShillings(-chargeMinor), '', linked, '']
  return isToPhone ? [charge, line(moved)] : [line(moved), charge]
}

export const emulator = {
  create: (secretOf) => {
    const credentials = createCredentials(secretOf)
    const { options } = credentials
    return {
      options,
      accounts: { MPESA_PAYBILL: options.deposits.shortcode },
      register: (emulation, serve) => serve({ ...emulation, credentials }, gateway),
    }
  },
  renderings: {
    MPESA_STK: { result: renderCallback },
    MPESA_B2C: { result: renderB2c, timeout: renderTimeout },
    MPESA_B2B: { result: renderB2b, timeout: renderTimeout },
  },
  notifications: { MPESA_PAYBILL: renderConfirmation },
  statement: {
    heading: (account, period) => [
      ['Organization Name:', 'Sandbox'],
      ['Short Code:', account],
      ['Account:', 'Utility Account'],
      ['Time Period:', period],
      [],
    ],
    columns,
    lines: withCharge,
  },
} satisfies ProviderEmulator<'MPESA'>
