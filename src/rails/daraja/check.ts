import { X509Certificate } from 'node:crypto'
import { daysAfter } from '../../lib/clock.ts'
import { checkClock, type RailCheck } from '../check.ts'
import { createCredential } from './credentials.ts'
import { obtainToken } from './gateway.ts'
import type { DarajaDeps, DarajaOptions } from './options.ts'

/** Long enough to ask for another one. */
const warnDays = 30

/** Some certificates are a bare public key, which has no end. */
const endOf = (pem: string): Date | null =>
  pem.includes('BEGIN CERTIFICATE') ? new Date(new X509Certificate(pem).validTo) : null

const certificateProblem = ({ certificatePem, initiatorPassword }: DarajaOptions, now: Date): string | null => {
  try {
    createCredential(certificatePem, initiatorPassword)()
    const end = endOf(certificatePem)
    return end === null || end > daysAfter(now, warnDays)
      ? null
      : `DARAJA_CERTIFICATE ends on ${end.toISOString().slice(0, 10)}: download the new one from the portal`
  } catch {
    return "DARAJA_CERTIFICATE is no certificate: download the environment's own from the portal"
  }
}

/** What can be tested without moving money: a token, the certificate, the clock. */
export async function* checkDaraja(options: DarajaOptions, deps: DarajaDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options)
  const keys = 'DARAJA_CONSUMER_KEY and DARAJA_CONSUMER_SECRET'
  yield {
    requirement: 'M-PESA gives an access token',
    problem: 'value' in token ? null : `it gave none: correct ${keys}, or DARAJA_URL`,
  }
  yield { requirement: 'the certificate seals the initiator password', problem: certificateProblem(options, deps.clock.now()) }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}
