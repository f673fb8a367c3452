import type { Config } from './config.ts'
import type { Clock } from './lib/clock.ts'
import { isLoopbackUrl } from './lib/loopback.ts'
import { collectionRail } from './lib/rail-names.ts'
import { checkCallbackUrl, type RailCheck } from './rails/check.ts'
import { checkDaraja } from './rails/daraja/check.ts'
import { createDaraja } from './rails/daraja/daraja.ts'
import type { DarajaOptions } from './rails/daraja/options.ts'
import { createGate, gatedCollection, gatedPayout } from './rails/gate.ts'
import { checkPesalink } from './rails/pesalink/check.ts'
import type { PesalinkOptions } from './rails/pesalink/options.ts'
import { createPesalink } from './rails/pesalink/pesalink.ts'
import type { Rails } from './rails/rail.ts'

// Apart from app.ts, the only place that names concrete rails.

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
})

/** The adapters for one set of provider options: the real providers', or the emulator's. The adapters do not know which. */
const railsOf = (config: Config, clock: Clock, daraja: DarajaOptions | null, pesalink: PesalinkOptions | null): Rails => {
  const mpesa =
    daraja && createDaraja({ ...daraja, b2bMinMinor: config.B2B_MIN_MINOR, b2bMaxMinor: config.B2B_MAX_MINOR }, { clock })
  const bank = pesalink && createPesalink(pesalink, { clock })
  const newGate = () => createGate({ clock, concurrency: config.RAIL_CONCURRENCY })
  const gates = { MPESA_B2C: newGate(), MPESA_B2B: newGate(), PESALINK: newGate(), [collectionRail]: newGate() }
  return {
    payout: {
      ...(mpesa && {
        MPESA_B2C: gatedPayout(mpesa.payout, gates.MPESA_B2C),
        MPESA_B2B: gatedPayout(mpesa.payout, gates.MPESA_B2B),
      }),
      ...(bank && { PESALINK: gatedPayout(bank, gates.PESALINK) }),
    },
    collection: mpesa ? gatedCollection(mpesa.collection, gates[collectionRail]) : null,
    account: mpesa?.account ?? null,
    gates,
  }
}

export const realRails = (config: Config, clock: Clock): Rails =>
  railsOf(
    config,
    clock,
    config.RAILS?.includes('daraja') ? darajaOptions(config) : null,
    config.RAILS?.includes('pesalink') ? pesalinkOptions(config) : null,
  )

/** How the emulator in `sandbox/` is reached. */
export type SandboxOptions = {
  darajaOptions: (baseUrl: string) => DarajaOptions
  pesalinkOptions: (baseUrl: string) => PesalinkOptions
}

export const sandboxRails = (config: Config, clock: Clock, sandbox: SandboxOptions, baseUrl: string): Rails =>
  railsOf(config, clock, sandbox.darajaOptions(baseUrl), sandbox.pesalinkOptions(baseUrl))

/** Tests what the configured rails need, without moving money. */
export async function* configuredRailChecks(config: Config, clock: Clock): AsyncGenerator<RailCheck> {
  const named = config.RAILS?.filter((rail) => rail !== 'sandbox') ?? []
  if (named.length === 0) {
    yield { requirement: 'a real provider is configured', problem: 'RAILS names none: payments are simulated and no money moves' }
    return
  }
  if (named.includes('daraja')) yield* checkDaraja(darajaOptions(config), { clock })
  if (named.includes('pesalink')) yield* checkPesalink(pesalinkOptions(config), { clock })
  yield checkCallbackUrl(config.operatorUrl, isLoopbackUrl(config.operatorUrl))
}
