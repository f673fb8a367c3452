import { parseArgs } from 'node:util'
import type { Schemas } from '../route-types.ts'
import { amountText, minorOf } from './amount.ts'
import { UsageError } from './errors.ts'
import { clientOf } from './session.ts'
import { flag, json, type Terminal, text } from './terminal.ts'

const methods = { paybill: 'MPESA_PAYBILL', bank: 'PESALINK' } as const

/** Prints the ended top-up for a program, then the result for a person. */
const sayEnd = async (waiting: Promise<Schemas['Topup']>, { out, say }: Terminal): Promise<void> => {
  const topup = await waiting
  out(json(topup))
  const minor = topup.received_minor ?? topup.amount_minor
  const why = topup.failure_message ?? topup.provider_receipt
  say(
    [minor === null ? 'Top-up' : amountText(minor, topup.currency), ', ', topup.status, why === null ? '' : `: ${why}`].join(''),
  )
}

/** Prints where to pay money in and with which account number. With --wait, waits until the money has arrived. */
export const deposit = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, by: { ...text, default: 'paybill' }, wait: flag },
  })
  const method = Object.entries(methods).find(([name]) => name === values.by)?.[1]
  if (method === undefined || positionals.length > 0)
    throw new UsageError('Name the method: payments deposit --by paybill, or --by bank')
  const client = await clientOf(terminal, values.url)
  const topup = await client.topups.initiate({ method }, { signal: terminal.signal })
  for (const [name, value] of Object.entries(topup.instructions ?? {})) terminal.say(`${name.replaceAll('_', ' ')}: ${value}`)
  if (!values.wait) return terminal.out(json(topup))
  await sayEnd(client.topups.waitFor(topup.id, { signal: terminal.signal, timeoutMs: 7 * 86_400_000 }), terminal)
}

/** Sends an M-PESA prompt to a phone. With --wait, waits for the phone owner's response. */
export const topUp = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, key: text, wait: flag },
  })
  const [amount, phone, ...more] = positionals
  if (amount === undefined || phone === undefined || more.length > 0)
    throw new UsageError('Give an amount and a phone: payments top-up 1000.00 0712345678')
  const client = await clientOf(terminal, values.url)
  const options = { signal: terminal.signal, ...(values.key !== undefined && { idempotencyKey: values.key }) }
  const topup = await client.topups.initiate({ amount_minor: minorOf(amount), phone_number: phone }, options)
  if (!values.wait) return terminal.out(json(topup))
  await sayEnd(client.topups.waitFor(topup.id, { signal: terminal.signal }), terminal)
}
