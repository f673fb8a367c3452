import { checkClock } from '../check.ts'
import { type Adapter, type AdapterDeps, longestRequestMs, type ProviderRails, type RailCheck, type SettingsOf } from '../rail.ts'
import { pem } from '../text.ts'
import type { definition } from './definition.ts'
import { createBankDeposits } from './deposits.ts'
import { connectPesalink, createSigner, obtainToken, type PesalinkOptions } from './gateway.ts'
import { createPesalinkPayout } from './payout.ts'

/** What can be tested without moving money: a token, the signing key, the clock. */
export async function* checkPesalink(options: PesalinkOptions, deps: AdapterDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options, deps.clock)
  yield {
    requirement: 'PesaLink gives an access token',
    problem:
      'value' in token
        ? null
        : 'it gave none: correct PESALINK_API_KEY, PESALINK_MERCHANT_CODE, PESALINK_CONSUMER_SECRET or PESALINK_URL',
  }
  try {
    createSigner(options.privateKeyPem)('a test')
    yield { requirement: 'the private key signs', problem: null }
  } catch {
    yield { requirement: 'the private key signs', problem: 'PESALINK_PRIVATE_KEY is no RSA private key in PEM' }
  }
  yield {
    requirement: 'the bank documents which codes are failures',
    problem: options.failureCodes.length > 0 ? null : 'PESALINK_FAILURE_CODES is empty, so no failed transfer can be proven',
  }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}

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
  timeoutMs: longestRequestMs,
  depositBankCode: settings.PESALINK_DEPOSIT_BANK_CODE ?? null,
  noticePath: settings.PESALINK_NOTICE_PATH ?? null,
  lookUpPath: settings.PESALINK_LOOKUP_PATH ?? null,
})

/** PesaLink through a bank's API: payouts to accounts and phones, and deposits, over one shared token. */
export const createPesalink = (given: PesalinkOptions, deps: AdapterDeps): ProviderRails<'PESALINK'> => {
  const options = { ...given, baseUrl: given.baseUrl.replace(/\/+$/, '') }
  const sign = createSigner(options.privateKeyPem)
  const send = connectPesalink(options, deps)
  return {
    payout: { PESALINK: createPesalinkPayout(options, send, sign) },
    collection: {},
    deposits: { PESALINK: createBankDeposits(options, send, sign) },
    account: null,
  }
}

export const adapter: Adapter<'PESALINK', Settings, PesalinkOptions> = {
  options,
  account: ({ baseUrl, merchantCode }) => `${baseUrl} ${merchantCode}`,
  numbers: ({ source }) => ({ PESALINK: [source.accountNumber] }),
  create: createPesalink,
  check: checkPesalink,
}
