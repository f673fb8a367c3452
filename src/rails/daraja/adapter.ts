import { X509Certificate } from 'node:crypto'
import { daysAfter } from '../../lib/clock.ts'
import { checkClock } from '../check.ts'
import { nairobiDateTime, readSignedShillings, textField } from '../fields.ts'
import type { Send } from '../gateway.ts'
import type { AccountBalance, Adapter, AdapterDeps, OrganisationAccount, ProviderRails, RailCheck } from '../rail.ts'
import { safeCode, safeMessage } from '../text.ts'
import { readResult, readSubmission, referenceOfAnswer } from './answers.ts'
import { createCollectionRail, createPaybillDeposits } from './collection.ts'
import { connect, createCredential, type DarajaOptions, type DarajaSettings, obtainToken, options, payerOf } from './gateway.ts'
import { createPayoutRail } from './payout.ts'

/** Parses `Working Account|KES|1000.00|1000.00|0.00|0.00&Utility Account|…`: name, currency, current and available balance. */
const balanceOf = (text: string): AccountBalance | undefined => {
  const [account, currency, current, available] = text.split('|')
  const availableMinor = readSignedShillings(available ?? current)
  if (!account || !currency || availableMinor === undefined) return undefined
  return { account, currency, availableMinor, holdsCharges: /^charges\b/i.test(account.trim()) }
}

/** Returns all balances or none, because a partial result would look like missing money. */
const readBalances: OrganisationAccount['readBalances'] = (body) => {
  const result = readResult(body)
  if (result?.code !== undefined && result.code !== '0') return { refused: safeCode(result.code) }
  const balances = result?.parameter('AccountBalance')?.split('&').map(balanceOf) ?? []
  const read = balances.flatMap((balance) => (balance ? [balance] : []))
  return read.length > 0 && read.length === balances.length ? read : undefined
}

const createAccount = (options: DarajaOptions, send: Send, credential: string): OrganisationAccount => ({
  numbers: [...new Set([options.shortcode, options.b2cShortcode, options.b2bShortcode, options.deposits?.shortcode])].flatMap(
    (number) => number ?? [],
  ),
  requestBalances: async (number, { result, timeout }) =>
    readSubmission(
      await send('/mpesa/accountbalance/v1/query', {
        Initiator: options.initiatorName,
        SecurityCredential: credential,
        CommandID: 'AccountBalance',
        ResultURL: result,
        QueueTimeOutURL: timeout,
        PartyA: number,
        IdentifierType: '4',
        Remarks: 'Balance of the account',
      }),
      referenceOfAnswer(null),
    ),
  readBalances,
})

/** Payouts to phones (B2C) and organisations (B2B), and collections (STK), with a shared access token. */
export const createDaraja = (options: DarajaOptions, deps: AdapterDeps) => {
  const send = connect(options, deps)
  const credential = createCredential(options.certificatePem, options.initiatorPassword)
  const payout = createPayoutRail(options, send, credential, deps.clock)
  return {
    payout: { MPESA_B2C: payout, MPESA_B2B: payout },
    collection: { MPESA_STK: createCollectionRail(options, send, deps.clock) },
    deposits: { MPESA_PAYBILL: createPaybillDeposits(options, send) },
    account: createAccount(options, send, credential),
    identity: `${options.baseUrl} ${payerOf(options, 'MPESA_B2C')}`,
    numbers: {
      MPESA_B2C: [payerOf(options, 'MPESA_B2C')],
      MPESA_B2B: [payerOf(options, 'MPESA_B2B')],
      MPESA_STK: [options.shortcode, options.tillNumber ?? []].flat(),
      MPESA_PAYBILL: [options.deposits?.shortcode ?? options.shortcode],
    },
  } satisfies ProviderRails<'MPESA'>
}

const warnDays = 30

const certificateProblem = ({ certificatePem, initiatorPassword }: DarajaOptions, now: Date): string | null => {
  try {
    createCredential(certificatePem, initiatorPassword)
    // Some certificates are a bare public key, which does not expire.
    if (!certificatePem.includes('BEGIN CERTIFICATE')) return null
    const end = new Date(new X509Certificate(certificatePem).validTo)
    if (end > daysAfter(now, warnDays)) return null
    return `DARAJA_CERTIFICATE ends on ${end.toISOString().slice(0, 10)}: download the new one from the portal`
  } catch {
    return "DARAJA_CERTIFICATE is not a certificate: download the environment's certificate from the portal"
  }
}

/** Checks the list of payments, which needs its own registration, by the provider's response. */
const listProblem = async (options: DarajaOptions, deps: AdapterDeps): Promise<string | null> => {
  const end = deps.clock.now()
  const answer = await connect(options, deps)('/pulltransactions/v1/query', {
    ShortCode: options.shortcode,
    StartDate: nairobiDateTime(daysAfter(end, -1)),
    EndDate: nairobiDateTime(end),
    OffSetValue: '0',
  })
  if (answer.kind !== 'answer') return answer.message
  const code = textField(answer.body, 'ResponseCode') ?? textField(answer.body, 'errorCode')
  // 1001 means either a day without payments or an unregistered number.
  if (code === '1000' || (code === '1001' && options.deposits?.pullNumber)) return null
  const said = textField(answer.body, 'ResponseMessage') ?? textField(answer.body, 'errorMessage')
  return `${safeMessage(said, 'The answer could not be understood.')} (${safeCode(code)}). If there was an incoming payment within a day, set MPESA_PULL_NUMBER and run npm run admin -- rails register`
}

export async function* checkDaraja(options: DarajaOptions, deps: AdapterDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options, deps.clock)
  const keys = 'DARAJA_CONSUMER_KEY and DARAJA_CONSUMER_SECRET'
  yield {
    requirement: 'M-PESA returns an access token',
    problem: 'value' in token ? null : `it returned none: correct ${keys}, or DARAJA_URL`,
  }
  yield { requirement: 'the certificate encrypts the initiator password', problem: certificateProblem(options, deps.clock.now()) }
  if ('value' in token) yield { requirement: 'M-PESA lists incoming payments', problem: await listProblem(options, deps) }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}

export const adapter: Adapter<'MPESA', DarajaSettings, DarajaOptions> = { options, create: createDaraja, check: checkDaraja }
