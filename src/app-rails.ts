import type { Config } from './config.ts'
import type { Clock } from './lib/clock.ts'
import { isLoopbackUrl } from './lib/loopback.ts'
import {
  collectionRail,
  type DepositRail,
  depositRails,
  type Provider,
  providers,
  type RailName,
  railNames,
  type SendingRail,
  sendingRails,
} from './lib/rail-names.ts'
import { checkCallbackUrl, type RailCheck } from './rails/check.ts'
import { checkDaraja } from './rails/daraja/check.ts'
import { createDaraja } from './rails/daraja/daraja.ts'
import type { DarajaOptions } from './rails/daraja/options.ts'
import { definitions, payouts, prompts } from './rails/definitions.ts'
import { createGate, gatedCollection, gatedPayout } from './rails/gate.ts'
import { checkPesalink } from './rails/pesalink/check.ts'
import { createBankDeposits } from './rails/pesalink/deposits.ts'
import type { PesalinkOptions } from './rails/pesalink/options.ts'
import { createPesalink } from './rails/pesalink/pesalink.ts'
import type {
  CollectionRail,
  DepositAdapter,
  OrganisationAccount,
  PayoutRail,
  ProviderRails,
  RailGate,
  Rails,
  Repeats,
  SomeRails,
} from './rails/rail.ts'
import type { ShareToken } from './rails/token-cache.ts'

// The only place that names what calls a provider. What is known about a provider stands in its definition.

/** A PEM in one environment variable: its line breaks may be written as \n. */
const pem = (text: string | undefined): string => (text ?? '').replaceAll('\\n', '\n')

const darajaOptions = (config: Config): DarajaOptions => ({
  baseUrl: config.DARAJA_URL ?? '',
  consumerKey: config.DARAJA_CONSUMER_KEY ?? '',
  consumerSecret: config.DARAJA_CONSUMER_SECRET ?? '',
  shortcode: config.DARAJA_SHORTCODE ?? '',
  passkey: config.DARAJA_PASSKEY ?? '',
  transactionType: config.DARAJA_TRANSACTION_TYPE,
  ...(config.DARAJA_B2C_SHORTCODE !== undefined && { b2cShortcode: config.DARAJA_B2C_SHORTCODE }),
  initiatorName: config.DARAJA_INITIATOR_NAME ?? '',
  initiatorPassword: config.DARAJA_INITIATOR_PASSWORD ?? '',
  certificatePem: pem(config.DARAJA_CERTIFICATE),
  tillIdentifierType: config.DARAJA_TILL_IDENTIFIER_TYPE,
  timeoutMs: config.DARAJA_TIMEOUT_MS,
  deposits: config.MPESA_C2B_ENABLED
    ? {
        shortcode: config.MPESA_C2B_SHORTCODE ?? config.DARAJA_SHORTCODE ?? '',
        unanswered: config.MPESA_C2B_UNANSWERED,
      }
    : null,
})

const pesalinkOptions = (config: Config): PesalinkOptions => ({
  baseUrl: config.PESALINK_URL ?? '',
  apiKey: config.PESALINK_API_KEY ?? '',
  merchantCode: config.PESALINK_MERCHANT_CODE ?? '',
  consumerSecret: config.PESALINK_CONSUMER_SECRET ?? '',
  privateKeyPem: pem(config.PESALINK_PRIVATE_KEY),
  source: {
    countryCode: config.PESALINK_COUNTRY_CODE,
    name: config.PESALINK_ACCOUNT_NAME ?? '',
    accountNumber: config.PESALINK_ACCOUNT_NUMBER ?? '',
  },
  bankCodes: config.PESALINK_BANK_CODES,
  failureCodes: config.PESALINK_FAILURE_CODES,
  callbackField: config.PESALINK_CALLBACK_FIELD ?? null,
  timeoutMs: config.PESALINK_TIMEOUT_MS,
  depositBankCode: config.PESALINK_DEPOSIT_BANK_CODE ?? null,
  noticePath: config.PESALINK_NOTICE_PATH ?? null,
  lookUpPath: config.PESALINK_LOOKUP_PATH ?? null,
})

/** What each provider's adapter needs to call it. */
export type RailOptions = { MPESA: DarajaOptions; PESALINK: PesalinkOptions }

type Deps = { clock: Clock; shareToken?: ShareToken }
type Adapter<P extends Provider, Options> = {
  /** What identifies the organisation at the provider. */
  account: (options: Options) => string
  options: (config: Config) => Options
  create: (options: Options, deps: Deps) => ProviderRails<P> & SomeRails
  /** Tests what it needs, without moving money. */
  check: (options: Options, deps: Deps) => AsyncIterable<RailCheck>
}

const adapters: { readonly [P in Provider]: Adapter<P, RailOptions[P]> } = {
  MPESA: {
    options: darajaOptions,
    account: ({ baseUrl, shortcode, b2cShortcode }) => `${baseUrl} ${b2cShortcode ?? shortcode}`,
    create: (options, deps) => {
      const { payout, collection, deposits, account } = createDaraja(options, deps)
      return {
        payout: { MPESA_B2C: payout, MPESA_B2B: payout },
        collection: { MPESA_STK: collection },
        deposits: { MPESA_PAYBILL: deposits },
        account,
      }
    },
    check: checkDaraja,
  },
  PESALINK: {
    options: pesalinkOptions,
    account: ({ baseUrl, merchantCode }) => `${baseUrl} ${merchantCode}`,
    create: (options, deps) => ({
      payout: { PESALINK: createPesalink(options, deps) },
      collection: {},
      deposits: { PESALINK: createBankDeposits(options, deps) },
      account: null,
    }),
    check: checkPesalink,
  },
}

/** The options of a provider that is in use; null for one that is not. */
type OptionsOf = <P extends Provider>(provider: P) => RailOptions[P] | null

const connect = <P extends Provider>(
  provider: P,
  optionsOf: OptionsOf,
  deps: Deps,
): { connected: SomeRails; account: string } | null => {
  const options = optionsOf(provider)
  if (options === null) return null
  return { connected: adapters[provider].create(options, deps), account: adapters[provider].account(options) }
}

/** Without a setting only the emulator gets lost orders again. */
const repeatsOf = (config: Config, rail: RailName, account: string, isEmulator: boolean): Repeats | null => {
  const { repeat } = payouts[rail]
  if (repeat === 'pays_again') return null
  return (config[repeat.setting] ?? isEmulator) ? { provenFor: isEmulator ? null : account } : null
}

/** Providers allow queries for names one by one, on request: only the emulator answers them all from the start. */
const asksForNames = ({ NAME_LOOKUPS: named }: Pick<Config, 'NAME_LOOKUPS'>, rail: RailName, isEmulated: boolean): boolean =>
  named === undefined ? isEmulated : named.includes(rail)

/** The adapters for one set of provider options: the real providers', or the emulator's. The adapters do not know which. */
const connectRails = (config: Config, clock: Clock, optionsOf: OptionsOf, registersItself: boolean): Rails => {
  const gates = Object.fromEntries(
    sendingRails.map((rail) => [rail, createGate({ clock, concurrency: config.RAIL_CONCURRENCY })]),
  ) as Record<SendingRail, RailGate>
  const payout: Partial<Record<RailName, PayoutRail>> = {}
  const accounts: Partial<Record<Provider, OrganisationAccount>> = {}
  const deposits: Partial<Record<DepositRail, DepositAdapter & { registersItself: boolean }>> = {}
  let collection: CollectionRail | null = null
  // The rails are built before the database is there.
  let share: ShareToken | undefined
  const shareToken: ShareToken = (asked) => (share ? share(asked) : asked.fetch())
  for (const provider of providers) {
    const found = connect(provider, optionsOf, { clock, shareToken })
    if (!found) continue
    const { connected, account } = found
    for (const rail of railNames) {
      const adapter = connected.payout[rail]
      if (!adapter) continue
      const repeats = repeatsOf(config, rail, account, registersItself)
      const lookUp = asksForNames(config, rail, registersItself) ? adapter.lookUp : null
      payout[rail] = {
        ...gatedPayout(adapter, gates[rail]),
        accountReference: payouts[rail].accountReference,
        limits: payouts[rail].limits(config),
        repeats,
        account,
        lookUp,
        banks: payouts[rail].banks(config),
      }
    }
    const prompt = connected.collection[collectionRail]
    if (prompt) collection = { ...gatedCollection(prompt, gates[collectionRail]), limits: prompts[collectionRail].limits }
    for (const rail of depositRails) {
      const adapter = connected.deposits[rail]
      if (adapter) deposits[rail] = { ...adapter, registersItself }
    }
    if (connected.account) accounts[provider] = connected.account
  }
  const shareTokens: Rails['shareTokens'] = (given) => {
    share = given
  }
  return { payout, collection, deposits, accounts, gates, shareTokens }
}

const isNamed = (config: Config, provider: Provider): boolean => config.RAILS?.includes(definitions[provider].setting) ?? false

export const realRails = (config: Config, clock: Clock): Rails =>
  connectRails(config, clock, (provider) => (isNamed(config, provider) ? adapters[provider].options(config) : null), false)

/** How the emulator in `sandbox/` is reached. */
export type SandboxOptions = { options: (baseUrl: string) => RailOptions }

export const sandboxRails = (config: Config, clock: Clock, sandbox: SandboxOptions, baseUrl: string): Rails => {
  const options = sandbox.options(baseUrl)
  return connectRails(config, clock, (provider) => options[provider], true)
}

const check = <P extends Provider>(provider: P, config: Config, clock: Clock): AsyncIterable<RailCheck> =>
  adapters[provider].check(adapters[provider].options(config), { clock })

/** Tests what the configured rails need, without moving money. */
export async function* configuredRailChecks(config: Config, clock: Clock): AsyncGenerator<RailCheck> {
  const named = providers.filter((provider) => isNamed(config, provider))
  if (named.length === 0) {
    yield { requirement: 'a real provider is configured', problem: 'RAILS names none: payments are simulated and no money moves' }
    return
  }
  for (const provider of named) yield* check(provider, config, clock)
  yield checkCallbackUrl(config.operatorUrl, isLoopbackUrl(config.operatorUrl))
}

/** The rails by which deposits are taken with these settings, from real providers. */
export const configuredDeposits = (config: Config, clock: Clock): DepositRail[] => {
  const { deposits } = realRails(config, clock)
  return depositRails.filter((rail) => deposits[rail])
}
