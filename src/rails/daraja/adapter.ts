import type {
  Adapter,
  AdapterDeps,
  CollectionAdapter,
  DepositAdapter,
  OrganisationAccount,
  PayoutAdapter,
  SettingsOf,
} from '../rail.ts'
import { longestRequestMs } from '../rail.ts'
import { pem } from '../text.ts'
import { createAccount } from './account.ts'
import { checkDaraja } from './check.ts'
import { createCollectionRail } from './collection.ts'
import type { definition } from './definition.ts'
import { createPaybillDeposits } from './deposits.ts'
import { connectDaraja, createCredential, type DarajaOptions } from './gateway.ts'
import { createLookUp, createPayoutRail } from './payout.ts'

type Settings = SettingsOf<typeof definition>

const options = (settings: Settings): DarajaOptions => ({
  baseUrl: settings.DARAJA_URL ?? '',
  consumerKey: settings.DARAJA_CONSUMER_KEY ?? '',
  consumerSecret: settings.DARAJA_CONSUMER_SECRET ?? '',
  shortcode: settings.DARAJA_SHORTCODE ?? '',
  passkey: settings.DARAJA_PASSKEY ?? '',
  ...(settings.DARAJA_TILL_NUMBER !== undefined && { tillNumber: settings.DARAJA_TILL_NUMBER }),
  ...(settings.DARAJA_B2C_SHORTCODE !== undefined && { b2cShortcode: settings.DARAJA_B2C_SHORTCODE }),
  ...(settings.DARAJA_B2B_SHORTCODE !== undefined && { b2bShortcode: settings.DARAJA_B2B_SHORTCODE }),
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
type Daraja = {
  payout: PayoutAdapter
  collection: CollectionAdapter
  deposits: DepositAdapter | null
  account: OrganisationAccount
}

export const createDaraja = (input: DarajaOptions, deps: AdapterDeps): Daraja => {
  const options = { ...input, baseUrl: input.baseUrl.replace(/\/+$/, '') }
  const send = connectDaraja(options, deps)
  const credential = createCredential(options.certificatePem, options.initiatorPassword)
  return {
    account: createAccount(options, send, credential),
    payout: createPayoutRail(options, send, { credential, lookUp: createLookUp(options, send, deps.clock) }),
    deposits: createPaybillDeposits(options, send),
    collection: createCollectionRail(options, send, deps.clock),
  }
}

export const adapter: Adapter<'MPESA', Settings, DarajaOptions> = {
  options,
  account: ({ baseUrl, shortcode, b2cShortcode }) => `${baseUrl} ${b2cShortcode ?? shortcode}`,
  numbers: ({ shortcode, tillNumber, b2cShortcode, b2bShortcode, deposits }) => ({
    MPESA_B2C: [b2cShortcode ?? shortcode],
    MPESA_B2B: [b2bShortcode ?? shortcode],
    MPESA_STK: [shortcode, ...(tillNumber === undefined ? [] : [tillNumber])],
    MPESA_PAYBILL: [deposits?.shortcode ?? shortcode],
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
