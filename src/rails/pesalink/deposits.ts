import { failure } from '../../errors/failures.ts'
import { nameless } from '../evidence.ts'
import type { Exchange } from '../exchange.ts'
import { field, readShillings, textField } from '../fields.ts'
import type { Send } from '../gateway.ts'
import { nairobiInstant } from '../nairobi-time.ts'
import type { DepositAdapter, DepositNotice, Submission } from '../rail.ts'
import { personName, receiptOf } from '../text.ts'
import type { PesalinkOptions, Sign } from './gateway.ts'

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
  if (answer.status === 200 && field(answer.body, 'status') === true) return { kind: 'accepted', provider: nameless }
  return { kind: 'refused', ...failure('provider_refused', String(answer.status), 'The bank refused the address for notices.') }
}

/** Payments by PesaLink to the organisation's account, which the bank reports to our address. */
export const createBankDeposits = (options: PesalinkOptions, send: Send, sign: Sign): DepositAdapter | null => {
  const { depositBankCode, noticePath, source } = options
  if (depositBankCode === null) return null
  return {
    instructions: (code) => ({ bank_code: depositBankCode, account_number: source.accountNumber, reference: code }),
    register:
      noticePath === null
        ? null
        : async ({ confirmation }) =>
            readRegistration(
              await send(
                noticePath,
                { accountNumber: source.accountNumber, url: confirmation },
                { headers: { signature: sign(`${source.accountNumber}${confirmation}`) } },
              ),
            ),
    readNotice: readNotice(source.accountNumber),
  }
}
