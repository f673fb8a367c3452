import { z } from 'zod'
import { flag, httpUrl } from '../../config/fields.ts'
import { defineProvider } from '../definition.ts'
import { orderIds, ourReferences, readMobile, readShortcode, shortcodeForm, withoutBank } from '../destinations.ts'
import { mobileForm } from '../fields.ts'

const shortcode = z.string().regex(shortcodeForm, 'must be 5 to 7 digits')

const shillings = (amount: bigint) => amount * 100n

const conversations = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => text.match(/\bAG_\d{8}_[0-9A-Za-z]+\b/g) ?? [])

/** Longer references would be truncated and then refer to another account. */
const b2bReference = /^[A-Za-z0-9 .,_/-]{1,13}$/

export const definition = defineProvider({
  provider: 'MPESA',
  setting: 'daraja',
  settings: {
    DARAJA_URL: httpUrl.optional(),
    DARAJA_CONSUMER_KEY: z.string().optional(),
    DARAJA_CONSUMER_SECRET: z.string().optional(),
    DARAJA_SHORTCODE: z.string().optional(),
    DARAJA_B2C_SHORTCODE: z.string().optional(),
    DARAJA_B2B_SHORTCODE: shortcode.optional(),
    DARAJA_TILL_NUMBER: shortcode.optional(),
    DARAJA_PASSKEY: z.string().optional(),
    DARAJA_INITIATOR_NAME: z.string().optional(),
    DARAJA_INITIATOR_PASSWORD: z.string().optional(),
    DARAJA_CERTIFICATE: z.string().optional(),
    DARAJA_TILL_IDENTIFIER_TYPE: z.enum(['2', '4']).default('4'),
    DARAJA_B2C_REPEATS: flag.optional(),
    MPESA_C2B_VERSION: z.enum(['1', '2']).default('2'),
    MPESA_PULL_NUMBER: z.string().regex(mobileForm, 'must be a mobile number such as 254712345678').optional(),
    MPESA_C2B_SHORTCODE: shortcode.optional(),
  },
  required: [
    'DARAJA_URL',
    'DARAJA_CONSUMER_KEY',
    'DARAJA_CONSUMER_SECRET',
    'DARAJA_SHORTCODE',
    'DARAJA_PASSKEY',
    'DARAJA_INITIATOR_NAME',
    'DARAJA_INITIATOR_PASSWORD',
    'DARAJA_CERTIFICATE',
  ],
  addresses: ['DARAJA_URL'],
  refusedInCallbacks: ['exe', 'cmd', 'sql', 'query', 'mpesa'],
  replaced: [
    { name: 'DARAJA_TRANSACTION_TYPE', value: /^CustomerBuyGoodsOnline$/, by: 'DARAJA_TILL_NUMBER' },
    { name: 'MPESA_C2B_ENABLED', value: /^(true|1)$/, by: 'MPESA_C2B_SHORTCODE' },
  ],
  payouts: {
    MPESA_B2B: {
      destination: 'a paybill or till of 5 to 7 digits',
      readDestination: withoutBank('MPESA_B2B', readShortcode),
      limits: { minMinor: 1_000n, maxMinor: 25_000_000n, wholeUnits: true },
      payee: 'organisation',
      banks: () => null,
      accountReference: { form: b2bReference, problem: 'must be at most 13 letters, digits, spaces or . , _ / - for MPESA_B2B' },
      repeat: 'pays_again',
      namesNeed: null,
    },
    MPESA_B2C: {
      destination: 'a Kenyan mobile number',
      readDestination: withoutBank('MPESA_B2C', readMobile),
      limits: { minMinor: shillings(10n), maxMinor: shillings(250_000n), wholeUnits: true },
      payee: 'person',
      banks: () => null,
      accountReference: null,
      repeat: { setting: 'DARAJA_B2C_REPEATS' },
      namesNeed: null,
    },
  },
  prompts: {
    MPESA_STK: {
      label: 'M-PESA prompt on a phone',
      limits: { minMinor: shillings(1n), maxMinor: shillings(250_000n), wholeUnits: true },
    },
  },
  deposits: {
    MPESA_PAYBILL: {
      label: 'M-PESA paybill',
      accepted: { ResultCode: 0, ResultDesc: 'Accepted' },
      unknownAccount: { ResultCode: 'C2B00012', ResultDesc: 'Rejected' },
      refusedInAddresses: ['m-pesa', 'safaricom'],
    },
  },
  statement: {
    columns: {
      receipt: ['receipt no.', 'receipt no', 'receipt'],
      time: ['completion time'],
      status: ['transaction status'],
      in: ['paid in'],
      out: ['withdrawn'],
      party: ['other party info'],
      account: ['a/c no.', 'a/c no'],
      linked: ['linked transaction id'],
      details: ['details'],
      texts: ['a/c no.', 'a/c no', 'details'],
    },
    isOfBank: false,
    heading: {
      number: ['short code', 'shortcode', 'organization short code', 'organisation short code', 'business short code', 'paybill'],
      account: ['account', 'account name', 'account type'],
    },
    completed: ['completed'],
    referencesIn: (texts) => [...orderIds(texts), ...conversations(texts), ...ourReferences(texts)],
  },
})
