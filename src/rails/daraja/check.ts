import { X509Certificate } from 'node:crypto'
import { daysAfter } from '../../lib/clock.ts'
import { checkClock } from '../check.ts'
import { textField } from '../fields.ts'
import { nairobiDateTime } from '../nairobi-time.ts'
import type { AdapterDeps, RailCheck } from '../rail.ts'
import { safeCode, safeMessage } from '../text.ts'
import { connectDaraja, createCredential, type DarajaOptions, obtainToken } from './gateway.ts'

/** Long enough to ask for another one. */
const warnDays = 30

/** Some certificates are a bare public key, which has no end. */
const endOf = (pem: string): Date | null =>
  pem.includes('BEGIN CERTIFICATE') ? new Date(new X509Certificate(pem).validTo) : null

const certificateProblem = ({ certificatePem, initiatorPassword }: DarajaOptions, now: Date): string | null => {
  try {
    createCredential(certificatePem, initiatorPassword)
    const end = endOf(certificatePem)
    return end === null || end > daysAfter(now, warnDays)
      ? null
      : `DARAJA_CERTIFICATE ends on ${end.toISOString().slice(0, 10)}: download the new one from the portal`
  } catch {
    return "DARAJA_CERTIFICATE is no certificate: download the environment's own from the portal"
  }
}

/** The list needs a registration of its own: the provider's words say whether it has one. */
const listProblem = async (options: DarajaOptions, deps: AdapterDeps): Promise<string | null> => {
  const end = deps.clock.now()
  const answer = await connectDaraja(options, deps)('/pulltransactions/v1/query', {
    ShortCode: options.shortcode,
    StartDate: nairobiDateTime(daysAfter(end, -1)),
    EndDate: nairobiDateTime(end),
    OffSetValue: '0',
  })
  if (answer.kind !== 'answer') return answer.message
  const code = textField(answer.body, 'ResponseCode') ?? textField(answer.body, 'errorCode')
  // Nothing is what is listed of a quiet day, and for a number that is not registered.
  if (code === '1000' || (code === '1001' && options.deposits?.pullNumber)) return null
  const said = textField(answer.body, 'ResponseMessage') ?? textField(answer.body, 'errorMessage')
  return `${safeMessage(said, 'The answer could not be understood.')} (${safeCode(code)}). If money was paid in within a day, set MPESA_PULL_NUMBER and run npm run admin -- rails register`
}

/** What can be tested without moving money: a token, the certificate, the clock. */
export async function* checkDaraja(options: DarajaOptions, deps: AdapterDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options)
  const keys = 'DARAJA_CONSUMER_KEY and DARAJA_CONSUMER_SECRET'
  yield {
    requirement: 'M-PESA gives an access token',
    problem: 'value' in token ? null : `it gave none: correct ${keys}, or DARAJA_URL`,
  }
  yield { requirement: 'the certificate seals the initiator password', problem: certificateProblem(options, deps.clock.now()) }
  if ('value' in token) yield { requirement: 'M-PESA lists what was paid in', problem: await listProblem(options, deps) }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}
