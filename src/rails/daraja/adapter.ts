import { type Adapter, type AdapterDeps, longestRequestMs, type SettingsOf } from '../rail.ts'
import { pem } from '../text.ts'
import { createAccount } from './account.ts'
import { checkDaraja } from './check.ts'
import { createCollectionRail } from './collection.ts'
import type { definition } from './definition.ts'
import { createPaybillDeposits } from './deposits.ts'
import { connectDaraja, createCredential, type DarajaOptions, payerOf } from './gateway.ts'
import { createPayoutRail } from './payout.ts'

type Settings = SettingsOf<typeof definition>

const options = (settings: Settings): DarajaOptions => ({
  baseUrl: settings.DARAJA_URL ?? '',
  consumerKey: settings.DARAJA_CONSUMER_KEY ?? '',
  consumerSecret: settings.DARAJA_CONSUMER_SECRET ?? '',
  shortcode: settings.DARAJA_SHORTCODE ?? '',
  passkey: settings.DARAJA_PASSKEY ?? '',
  tillNumber: settings.DARAJA_TILL_NUMBER,
  b2cShortcode: settings.DARAJA_B2C_SHORTCODE,
  b2bShortcode: settings.DARAJA_B2B_SHORTCODE,
  initiatorName: settings.DARAJA_INITIATOR_NAME ?? '',
  initiatorPassword: settings.DARAJA_INITIATOR_PASSWORD ?? '',
  certificatePem: pem(settings.DARAJA_CERTIFICATE),
  tillIdentifierType: settings.DARAJA_TILL_IDENTIFIER_TYPE,
  timeoutMs: longestRequestMs,
  deposits:
    settings.MPESA_C2B_SHORTCODE === undefined
      ? null
      : {
          shortcode: settings.MPESA_C2B_SHORTCODE,
          version: settings.MPESA_C2B_VERSION,
          pullNumber: settings.MPESA_PULL_NUMBER ?? null,
        },
})

/** M-PESA through Daraja: payouts to phones (B2C) and organisations (B2B), collections by STK push, over one shared token, and the organisation's own account. */
export const createDaraja = (input: DarajaOptions, deps: AdapterDeps) => {
  const options = { ...input, baseUrl: input.baseUrl.replace(/\/+$/, '') }
  const send = connectDaraja(options, deps)
  const credential = createCredential(options.certificatePem, options.initiatorPassword)
  return {
    account: createAccount(options, send, credential),
    payout: createPayoutRail(options, send, credential, deps.clock),
    deposits: createPaybillDeposits(options, send),
    collection: createCollectionRail(options, send, deps.clock),
  }
}

export const adapter: Adapter<'MPESA', Settings, DarajaOptions> = {
  options,
  account: (options) => `${options.baseUrl} ${payerOf(options, 'MPESA_B2C')}`,
  numbers: (options) => ({
    MPESA_B2C: [payerOf(options, 'MPESA_B2C')],
    MPESA_B2B: [payerOf(options, 'MPESA_B2B')],
    MPESA_STK: [options.shortcode, options.tillNumber ?? []].flat(),
    MPESA_PAYBILL: [options.deposits?.shortcode ?? options.shortcode],
  }),
  create: (given, deps) => {
    const { payout, collection, deposits, account } = createDaraja(given, deps)
    return {
      payout: { MPESA_B2C: payout, MPESA_B2B: payout },
      collection: { MPESA_STK: collection },
      deposits: { MPESA_PAYBILL: deposits },
      account,
    }
  },
  check: checkDaraja,
}
