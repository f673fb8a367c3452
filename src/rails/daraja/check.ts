import { checkClock, type RailCheck } from '../check.ts'
import { createCredential } from './credentials.ts'
import { obtainToken } from './gateway.ts'
import type { DarajaDeps, DarajaOptions } from './options.ts'

/** What can be tested without moving money: a token, the certificate, the clock. */
export async function* checkDaraja(options: DarajaOptions, deps: DarajaDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options, deps)
  const keys = 'DARAJA_CONSUMER_KEY and DARAJA_CONSUMER_SECRET'
  yield {
    requirement: 'M-PESA gives an access token',
    problem: 'value' in token ? null : `it gave none: correct ${keys}, or DARAJA_URL`,
  }
  const certificate = 'the certificate seals the initiator password'
  try {
    createCredential(options.certificatePem, options.initiatorPassword)()
    yield { requirement: certificate, problem: null }
  } catch {
    yield {
      requirement: certificate,
      problem: "DARAJA_CERTIFICATE is no certificate: download the environment's own from the portal",
    }
  }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}
