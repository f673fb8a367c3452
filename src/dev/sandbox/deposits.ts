import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { defaultDepositRail, depositRails } from '../../lib/rail-names.ts'
import { field } from '../../rails/fields.ts'
import type { Order } from './book.ts'
import { postJson } from './deliver.ts'
import type { Emulation } from './emulator.ts'
import { acceptOrder } from './perform.ts'
import { scenarioFor } from './scenario.ts'

export const PayIn = z.strictObject({
  method: z.enum(depositRails).default(defaultDepositRail),
  /** The account number at the paybill or the reference of the transfer, as a person types it. */
  reference: z.string().max(20),
  amount_minor: z.string().regex(/^[1-9]\d{0,15}$/),
  phone_number: z
    .string()
    .regex(/^254[17]\d{8}$/)
    .default('254722000000'),
  name: z.string().min(1).max(80).default('JANE WANJIKU DOE'),
})

const validationTimeoutMs = 8_000

/** Asks the client whether to accept the payment, before the money moves. Undefined if the client does not respond. */
const requestValidation = async (address: string, body: unknown): Promise<string | undefined> => {
  try {
    const answer = await postJson(address, body, validationTimeoutMs)
    const code = answer.ok ? field(await answer.json(), 'ResultCode') : undefined
    return code === undefined ? undefined : String(code)
  } catch {
    return undefined
  }
}

/** A person pays in. `rejected`: the provider or the client refused the payment, so no money moved. */
export const payIn = async (
  emulation: Emulation,
  { method, reference, amount_minor, phone_number, name }: z.output<typeof PayIn>,
): Promise<{ order: Order } | { rejected: string }> => {
  const address = emulation.addresses.of(method)
  const refusedByProvider = scenarioFor(phone_number).code
  if (refusedByProvider !== '0') return { rejected: refusedByProvider }
  const amountMinor = BigInt(amount_minor)
  const paid = { rail: method, reference, account: emulation.accounts[method], party: phone_number, payer: name }
  if (address?.validation) {
    const asked = { ...paid, key: '', at: emulation.clock.now() }
    const code = await requestValidation(
      address.validation,
      emulation.notifications[method](asked, { amountMinor, receipt: 'VALIDATION' }),
    )
    if (code === undefined ? address.unanswered === 'Cancelled' : code !== '0') return { rejected: code ?? 'no answer' }
  }
  const order = acceptOrder(emulation, {
    ...paid,
    key: randomBytes(8).toString('hex'),
    conversation: randomBytes(8).toString('hex'),
    amountMinor,
    resultUrl: address?.confirmation ?? null,
    timeoutUrl: null,
  })
  return { order }
}
