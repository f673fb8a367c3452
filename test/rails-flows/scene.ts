import type { Statement } from '../../src/db/client.ts'
import type { Order } from '../../src/dev/sandbox/book.ts'
import { ledgerChecks } from '../../src/ledger/checks.ts'
import { trialBalance } from '../../src/ledger/reports.ts'
import { factsOf } from '../../src/operate/verify/verify.ts'
import { newBeneficiary } from '../harness/money.ts'
import type { Person } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'

export const initiate = async (person: Pick<Person, 'api'>, phone: string, amountMinor = '150000'): Promise<string> => {
  const answer = await person.api.post('/v1/topups/initiate', { amount_minor: amountMinor, phone_number: phone })
  if (answer.status !== 201) throw new Error(`a top-up was refused: ${answer.status} ${answer.text}`)
  return answer.body.id
}

export type Payee = { payment_rail: string; destination: string; bank_code?: string; account_reference?: string }

/** Pays a new beneficiary for the payee, and returns the payment's id. */
export const pay = async (person: Pick<Person, 'api'>, payee: Payee, amountMinor = '150000'): Promise<string> => {
  const beneficiary_id = await newBeneficiary(person.api, payee)
  const answer = await person.api.post('/v1/payments', { beneficiary_id, amount_minor: amountMinor })
  if (answer.status !== 201) throw new Error(`a payment was refused: ${answer.status} ${answer.text}`)
  return answer.body.id
}

export const paymentOf = async (person: Pick<Person, 'api'>, id: string) => (await person.api.get(`/v1/payments/${id}`)).body

export const topupOf = async (person: Pick<Person, 'api'>, id: string) => (await person.api.get(`/v1/topups/${id}`)).body

export const balanceOf = async (person: Pick<Person, 'api'>) => {
  const { available_minor, held_minor } = (await person.api.get('/v1/accounts/me')).body.balance
  return { available: available_minor, held: held_minor }
}

/** Advances time and runs everything that becomes due. */
export const pass = async (service: TestService, seconds: number): Promise<void> => {
  service.clock.advance(seconds)
  await service.deps.jobs.sweep()
  await service.settle()
}

/** Runs work right before the next time that the service runs a statement. */
export const happensBefore = ({ deps: { db } }: TestService, name: string, happens: () => Promise<unknown>): void => {
  const { query } = db
  db.query = (async (statement: Statement | string, values?: readonly unknown[]) => {
    if (typeof statement !== 'string' && statement.name === name) {
      db.query = query
      await happens()
    }
    return query(statement as Statement, values)
  }) as typeof query
}

/** The orders that the provider accepted for one destination, oldest first. */
export const ordersTo = (service: TestService, party: string): Readonly<Order>[] =>
  service.sandbox.orders().filter((order) => order.party === party)
export const movementsTo = (service: TestService, party: string) =>
  service.sandbox.movements().filter((movement) => movement.party === party)

export const lastOrder = (service: TestService): Readonly<Order> & { resultUrl: string } => {
  const order = service.sandbox.orders().at(-1)
  if (!order?.resultUrl) throw new Error('the provider was not asked for anything')
  return { ...order, resultUrl: order.resultUrl }
}

/** Delivers as the provider would. Returns the answer's status and body. */
export const deliver = async (url: string, body: unknown) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: await response.text() }
}

export const verdicts = async (service: TestService, attemptUrl: string): Promise<string[]> => {
  const attemptId = new URL(attemptUrl).pathname.split('/')[2]
  const rows = await service.deps.db.query<{ verdict: string }>(
    'select verdict from callback_deliveries where attempt_id = $1 order by received_at, id',
    [attemptId],
  )
  return rows.map(({ verdict }) => verdict)
}

export const alerts = (service: TestService): string[] =>
  service.log.flatMap((line) => {
    const { alert } = JSON.parse(line)
    return alert === undefined ? [] : [alert]
  })

/** Invariants: debits equal credits, stored totals equal the sums. */
export const isLedgerSound = async (service: TestService): Promise<boolean> => {
  const lines = await trialBalance(service.deps.db)
  const debits = lines.reduce((sum, line) => sum + line.debitsMinor, 0n)
  const credits = lines.reduce((sum, line) => sum + line.creditsMinor, 0n)
  const drift = ledgerChecks.find(
    ({ promise }) => promise === 'the stored totals of every customer equal the sum of the transfers',
  )
  const drifted = await drift?.find(service.deps.db, { ...factsOf(service.deps), sealedThrough: '0' })
  return debits === credits && drifted?.length === 0
}

type StkOutcome = { code?: number; amountMinor?: bigint; receipt?: string; request?: string }

export const stkCallback = (order: Readonly<Order>, outcome: StkOutcome = {}) => {
  const { code = 0, amountMinor = order.amountMinor, receipt = order.receipt, request = order.key } = outcome
  const items = [
    { Name: 'Amount', Value: Number(amountMinor) / 100 },
    { Name: 'MpesaReceiptNumber', Value: receipt },
    { Name: 'Balance' },
    { Name: 'PhoneNumber', Value: Number(order.party) },
  ]
  const stkCallback = {
    MerchantRequestID: order.conversation,
    CheckoutRequestID: request,
    ResultCode: code,
    ResultDesc: 'reported by a test',
  }
  return { Body: { stkCallback: code === 0 ? { ...stkCallback, CallbackMetadata: { Item: items } } : stkCallback } }
}

type TransferOutcome = { state?: string; code?: number; amountMinor?: bigint; transactionId?: string | null }

/** PesaLink's delivery in a bank's form. */
export const transferCallback = (order: Readonly<Order>, outcome: TransferOutcome = {}) => {
  const { state = 'Success', code = 0, amountMinor = order.amountMinor, transactionId = order.receipt } = outcome
  return {
    status: true,
    code: 0,
    message: 'success',
    data: {
      state,
      code,
      amount: Number(amountMinor) / 100,
      reference: order.key,
      ...(transactionId !== null && { transactionId }),
    },
  }
}

type ResultOutcome = { code?: number; amountMinor?: bigint; receipt?: string; receiver?: string }

/** A payout's result in Daraja's form. */
export const b2cResult = (order: Readonly<Order>, outcome: ResultOutcome = {}) => {
  const { code = 0, amountMinor = order.amountMinor, receipt = order.receipt } = outcome
  const ids = { OriginatorConversationID: order.key, ConversationID: order.conversation, TransactionID: receipt }
  const ResultParameter = [
    { Key: order.rail === 'MPESA_B2B' ? 'Amount' : 'TransactionAmount', Value: Number(amountMinor) / 100 },
    { Key: 'TransactionReceipt', Value: receipt },
    { Key: 'ReceiverPartyPublicName', Value: `${outcome.receiver ?? order.party} - A NAME` },
  ]
  const result = { ResultType: 0, ResultCode: code, ResultDesc: 'reported by a test', ...ids }
  return { Result: code === 0 ? { ...result, ResultParameters: { ResultParameter } } : result }
}

/** Daraja refuses the request. */
export const badRequest = (errorMessage: string) =>
  ({ kind: 'answer', takesEffect: false, status: 400, body: { errorCode: '400.002.02', errorMessage } }) as const

/** Safaricom's gateway refuses a request before it has any effect, because too many came at once. */
export const spikeArrest = {
  kind: 'answer',
  takesEffect: false,
  status: 500,
  body: { errorCode: '500.003.02', errorMessage: 'Spike arrest' },
} as const
