import { nameless, refusedByProvider } from '../evidence.ts'
import type { Exchange } from '../exchange.ts'
import { nairobiInstant, readShillings, textField } from '../fields.ts'
import type { Send } from '../gateway.ts'
import type { DepositAdapter, DepositNotice, Submission } from '../rail.ts'
import { personName, receiptOf, safeCode, safeMessage } from '../text.ts'
import { type DarajaOptions, lacksProduct } from './gateway.ts'

const readNotice =
  (shortcode: string) =>
  (body: unknown): DepositNotice | undefined => {
    const receipt = receiptOf(textField(body, 'TransID'))
    const amountMinor = readShillings(textField(body, 'TransAmount'))
    const at = nairobiInstant(textField(body, 'TransTime') ?? '')
    // A paybill of another organisation is no account of ours.
    const isOurs = textField(body, 'BusinessShortCode') === shortcode
    if (receipt === undefined || !amountMinor || at === undefined || !isOurs) return undefined
    const names = ['FirstName', 'MiddleName', 'LastName'].flatMap((name) => textField(body, name) ?? [])
    return {
      receipt,
      at,
      amountMinor,
      reference: (textField(body, 'BillRefNumber') ?? '').slice(0, 40),
      payer: { name: personName(names.join(' ')), phone: textField(body, 'MSISDN') ?? null },
    }
  }

const taken: Submission = { kind: 'accepted', provider: nameless }

/** Some versions answer with a code, others with a sentence alone. */
const readRegistration = (answer: Exchange): Submission => {
  if (answer.kind !== 'answer') return answer
  const [code, said] = [
    textField(answer.body, 'ResponseCode') ?? textField(answer.body, 'ResponseStatus') ?? textField(answer.body, 'errorCode'),
    textField(answer.body, 'ResponseDescription') ?? textField(answer.body, 'errorMessage'),
  ]
  const isSuccess = code === undefined ? /^success/i.test(said ?? '') : /^(?:0+|1000)$/.test(code)
  if (answer.status >= 200 && answer.status < 300 && isSuccess) return taken
  // The list of payments is registered once, without an address of ours.
  if (code === '1001' && /already/i.test(said ?? '')) return taken
  const sentence = safeMessage(said, 'The answer could not be understood.')
  const hint = lacksProduct(said) ? ' The app has another version of C2B: choose it by MPESA_C2B_VERSION.' : ''
  return refusedByProvider(safeCode(code), `${sentence}${hint}`)
}

/** C2B: a person pays to our paybill under an account number of ours. */
export const createPaybillDeposits = (options: DarajaOptions, send: Send): DepositAdapter | null => {
  const { deposits } = options
  if (!deposits) return null
  const { shortcode, version, pullNumber } = deposits
  return {
    instructions: (code) => ({ paybill: shortcode, account_number: code }),
    register: async ({ confirmation, validation }) => {
      const notices = await send(`/mpesa/c2b/v${version}/registerurl`, {
        ShortCode: shortcode,
        // What M-PESA does when our validation does not answer: a deposit without a top-up waits for a person.
        ResponseType: 'Completed',
        ConfirmationURL: confirmation,
        ValidationURL: validation,
      })
      const registered = readRegistration(notices)
      if (registered.kind !== 'accepted' || pullNumber === null) return registered
      const list = await send('/pulltransactions/v1/register', {
        ShortCode: shortcode,
        RequestType: 'Pull',
        NominatedNumber: pullNumber,
        CallBackURL: confirmation,
      })
      return readRegistration(list)
    },
    readNotice: readNotice(shortcode),
  }
}
