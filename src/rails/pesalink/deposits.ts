import { failure } from '../../lib/failure-codes.ts'
import { readShillings } from '../amounts.ts'
import type { Exchange } from '../exchange.ts'
import { field, textField } from '../json.ts'
import { nairobiInstant } from '../nairobi-time.ts'
import type { DepositAdapter, DepositNotice, Submission } from '../rail.ts'
import { personName, receiptOf } from '../text.ts'
import { createGateway } from './gateway.ts'
import type { PesalinkDeps, PesalinkOptions } from './options.ts'
import { createSigner } from './signature.ts'

/** The bank's notice of a payment to the account, in the shape of Jenga's instant payment notifications. Only a credit is a deposit. */
const readNotice =
  (accountNumber: string) =>
  (body: unknown): DepositNotice | null | undefined => {
    const [transaction, customer, bank] = ['transaction', 'customer', 'bank'].map((name) => field(body, name))
    const receipt = receiptOf(textField(bank, 'reference'))
    const amountMinor = readShillings(textField(transaction, 'amount'))
    const at = nairobiInstant(textField(transaction, 'date') ?? '')
    const [type, status] = [textField(bank, 'transactionType'), textField(transaction, 'status')?.toUpperCase()]
    if (type === 'D' || (status !== undefined && status !== 'SUCCESS')) return null
    const isCredit = type === 'C' && textField(bank, 'account') === accountNumber
    if (receipt === undefined || !amountMinor || at === undefined || !isCredit || status === undefined) return undefined
    return {
      receipt,
      at,
      amountMinor,
      reference: (textField(transaction, 'billNumber') ?? textField(transaction, 'remarks') ?? '').slice(0, 40),
      payer: { name: personName(textField(customer, 'name') ?? ''), phone: textField(customer, 'mobileNumber') ?? null },
    }
  }

const readRegistration = (answer: Exchange): Submission => {
  if (answer.kind !== 'answer') return answer
  if (answer.status === 200 && field(answer.body, 'status') === true)
    return { kind: 'accepted', provider: { request: null, conversation: null } }
  return { kind: 'refused', ...failure('provider_refused', String(answer.status), 'The bank refused the address for notices.') }
}

/** Payments by PesaLink to the organisation's account, which the bank reports to our address. */
export const createBankDeposits = (options: PesalinkOptions, deps: PesalinkDeps): DepositAdapter | null => {
  const { depositBankCode, noticePath, source } = options
  if (depositBankCode === null) return null
  const send = createGateway({ ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') }, deps)
  const sign = createSigner(options.privateKeyPem)
  return {
    instructions: (code) => ({ bank_code: depositBankCode, account_number: source.accountNumber, reference: code }),
    register:
      noticePath === null
        ? null
        : async ({ confirmation }) =>
            readRegistration(
              await send({
                method: 'POST',
                path: noticePath,
                body: { accountNumber: source.accountNumber, url: confirmation },
                signature: sign(`${source.accountNumber}${confirmation}`),
              }),
            ),
    readNotice: readNotice(source.accountNumber),
  }
}
