import { type Adapter, pem, type SettingsOf } from '../adapter.ts'
import { checkPesalink } from './check.ts'
import type { definition } from './definition.ts'
import { createBankDeposits } from './deposits.ts'
import type { PesalinkOptions } from './options.ts'
import { createPesalink } from './pesalink.ts'

type Settings = SettingsOf<typeof definition>

const options = (settings: Settings): PesalinkOptions => ({
  baseUrl: settings.PESALINK_URL ?? '',
  apiKey: settings.PESALINK_API_KEY ?? '',
  merchantCode: settings.PESALINK_MERCHANT_CODE ?? '',
  consumerSecret: settings.PESALINK_CONSUMER_SECRET ?? '',
  privateKeyPem: pem(settings.PESALINK_PRIVATE_KEY),
  source: {
    countryCode: 'KE',
    name: settings.PESALINK_ACCOUNT_NAME ?? '',
    accountNumber: settings.PESALINK_ACCOUNT_NUMBER ?? '',
  },
  bankCodes: settings.PESALINK_BANK_CODES,
  failureCodes: settings.PESALINK_FAILURE_CODES,
  callbackField: settings.PESALINK_CALLBACK_FIELD ?? null,
  timeoutMs: settings.PESALINK_TIMEOUT_MS,
  depositBankCode: settings.PESALINK_DEPOSIT_BANK_CODE ?? null,
  noticePath: settings.PESALINK_NOTICE_PATH ?? null,
  lookUpPath: settings.PESALINK_LOOKUP_PATH ?? null,
})

export const adapter: Adapter<'PESALINK', Settings, PesalinkOptions> = {
  options,
  account: ({ baseUrl, merchantCode }) => `${baseUrl} ${merchantCode}`,
  numbers: ({ source }) => ({ PESALINK: [source.accountNumber] }),
  create: (given, deps) => ({
    payout: { PESALINK: createPesalink(given, deps) },
    collection: {},
    deposits: { PESALINK: createBankDeposits(given, deps) },
    account: null,
  }),
  check: checkPesalink,
}
