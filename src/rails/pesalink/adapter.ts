import { checkClock } from '../check.ts'
import type { Exchange } from '../exchange.ts'
import { field, providerInstant, readShillings, textField } from '../fields.ts'
import type { Send } from '../gateway.ts'
import { outcomeOf } from '../outcomes.ts'
import type {
  Adapter,
  AdapterDeps,
  DepositAdapter,
  DepositNotification,
  DepositRegistration,
  ProviderRails,
  RailCheck,
  UnreadableNotification,
} from '../rail.ts'
import { personName, receiptOf } from '../text.ts'
import { connect, createSigner, obtainToken, options, type PesalinkOptions, type PesalinkSettings, type Sign } from './gateway.ts'
import { createPesalinkPayout } from './payout.ts'

export async function* checkPesalink(options: PesalinkOptions, deps: AdapterDeps): AsyncGenerator<RailCheck> {
  const token = await obtainToken(options, deps.clock)
  yield {
    requirement: 'PesaLink returns an access token',
    problem:
      'value' in token
        ? null
        : 'it returned none: correct PESALINK_API_KEY, PESALINK_MERCHANT_CODE, PESALINK_CONSUMER_SECRET or PESALINK_URL',
  }
  try {
    createSigner(options.privateKeyPem)('a test')
    yield { requirement: 'the private key signs', problem: null }
  } catch {
    yield { requirement: 'the private key signs', problem: 'PESALINK_PRIVATE_KEY is not an RSA private key in PEM' }
  }
  yield {
    requirement: 'the bank documents which codes are failures',
    problem: options.failureCodes.length > 0 ? null : 'PESALINK_FAILURE_CODES is empty, so failed transfers cannot be proven',
  }
  yield await checkClock(options.baseUrl, deps.clock, options.timeoutMs)
}

/** Parses a Jenga instant payment notification. Null for a debit and for a payment that was not made. */
const readNotification =
  (accountNumber: string) =>
  (body: unknown): DepositNotification | UnreadableNotification | null => {
    const [transaction, customer, bank] = ['transaction', 'customer', 'bank'].map((name) => field(body, name))
    const receipt = receiptOf(textField(bank, 'reference'))
    const amountMinor = readShillings(textField(transaction, 'amount'))
    const at = providerInstant(textField(transaction, 'date') ?? '')
    const [type, status] = [textField(bank, 'transactionType'), textField(transaction, 'status')]
    const currency = textField(transaction, 'currency')?.toUpperCase()
    const outcome = outcomeOf(status ?? '')
    if (type === 'D' || outcome === 'ended' || outcome === 'pending') return null
    const isCredit = type === 'C' && textField(bank, 'account') === accountNumber
    if (receipt === undefined || !amountMinor || at === undefined || !isCredit || outcome !== 'paid')
      return { unreadable: true, receipt: receipt ?? null }
    return {
      receipt,
      at,
      amountMinor,
      reference: (textField(transaction, 'billNumber') ?? textField(transaction, 'remarks') ?? '').slice(0, 40),
      payerName: personName(textField(customer, 'name') ?? ''),
      ...(currency !== undefined && { currency }),
    }
  }

const readRegistration = (answer: Exchange): DepositRegistration => {
  if (answer.kind !== 'answer') return { urls: 'failed', problem: answer.message }
  if (answer.status === 200 && field(answer.body, 'status') === true) return { urls: 'registered', problem: null }
  return { urls: 'failed', problem: 'The bank rejected the callback address.' }
}

const createBankDeposits = (options: PesalinkOptions, send: Send, sign: Sign): DepositAdapter | null => {
  const { depositBankCode, notificationPath, source } = options
  if (depositBankCode === null) return null
  return {
    instructions: (code) => ({ bank_code: depositBankCode, account_number: source.accountNumber, reference: code }),
    register:
      notificationPath === null
        ? null
        : async ({ confirmation }) =>
            readRegistration(
              await send(
                notificationPath,
                { accountNumber: source.accountNumber, url: confirmation },
                { headers: { signature: sign(`${source.accountNumber}${confirmation}`) } },
              ),
            ),
    readNotification: readNotification(source.accountNumber),
  }
}

export const createPesalink = (options: PesalinkOptions, deps: AdapterDeps): ProviderRails<'PESALINK'> => {
  const sign = createSigner(options.privateKeyPem)
  const send = connect(options, deps)
  return {
    payout: { PESALINK: createPesalinkPayout(options, send, sign) },
    collection: {},
    deposits: { PESALINK: createBankDeposits(options, send, sign) },
    account: null,
    identity: `${options.baseUrl} ${options.merchantCode}`,
    numbers: { PESALINK: [options.source.accountNumber] },
  }
}

export const adapter: Adapter<'PESALINK', PesalinkSettings, PesalinkOptions> = {
  options,
  create: createPesalink,
  check: checkPesalink,
}
