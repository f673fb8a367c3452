import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { PaymentsError } from '../errors.ts'
import { minorOf } from './amount.ts'
import { clientOf, UsageError } from './session.ts'
import { flag, json, type Terminal, text } from './terminal.ts'
import { whenOf } from './when.ts'

type ItemFault = { index: number; row?: number; param?: string; message: string }

const isFault = (value: unknown): value is ItemFault =>
  typeof value === 'object' && value !== null && 'index' in value && 'message' in value

/** A line for each field of each row that is wrong, as a person looks for it in a spreadsheet. */
const sayFaults = (error: unknown, say: Terminal['say']): void => {
  const items: unknown = error instanceof PaymentsError ? error.details.items : undefined
  if (!Array.isArray(items)) return
  for (const { index, row, param, message } of items.filter(isFault))
    say(`row ${row ?? index + 1}${param === undefined ? '' : `, ${param}`}: ${message}`)
}

const read = (file: string | undefined, more: readonly string[]): string => {
  if (file === undefined || more.length > 0) throw new UsageError('Give the file of the list: payments batch salaries.csv')
  return readFileSync(file === '-' ? 0 : file, 'utf8')
}

/** Pays a list in CSV; with --dry-run only says what it would do. */
export const batch = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, name: text, at: text, key: text, wait: flag, 'dry-run': flag, 'duplicates-intended': flag },
  })
  const [file, ...more] = positionals
  const csv = read(file, more)
  const client = await clientOf(terminal, values.url)
  const when = values.at === undefined ? null : await whenOf(client, values.at)
  const list = {
    ...(values.name !== undefined && { name: values.name }),
    ...(when && { execute_at: when.execute_at }),
    ...(values['duplicates-intended'] && { duplicates_intended: true }),
  }
  const options = { signal: terminal.signal, ...(values.key !== undefined && { idempotencyKey: values.key }) }
  try {
    if (values['dry-run']) return terminal.out(json(await client.batches.checkCsv(csv, list, options)))
    const created = await client.batches.fromCsv(csv, list, options)
    if (created.approval_id !== null) terminal.say(`A person has to approve it: ${client.baseUrl}/approve/${created.approval_id}`)
    const waiting = values.wait && client.batches.waitFor(created.id, { signal: terminal.signal, timeoutMs: 86_400_000 })
    terminal.out(json(waiting ? await waiting : created))
  } catch (error) {
    sayFaults(error, terminal.say)
    throw error
  }
}

const methods = { paybill: 'MPESA_PAYBILL', bank: 'PESALINK' } as const

/** Says where to pay money in, and under which account number; with --wait until it has arrived. */
export const deposit = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, by: { ...text, default: 'paybill' }, wait: flag },
  })
  const method = Object.entries(methods).find(([name]) => name === values.by)?.[1]
  if (method === undefined || positionals.length > 0) throw new UsageError('Say how: payments deposit --by paybill, or --by bank')
  const client = await clientOf(terminal, values.url)
  const topup = await client.topups.initiate({ method }, { signal: terminal.signal })
  for (const [name, value] of Object.entries(topup.instructions ?? {})) terminal.say(`${name.replaceAll('_', ' ')}: ${value}`)
  const waiting = values.wait && client.topups.waitFor(topup.id, { signal: terminal.signal, timeoutMs: 7 * 86_400_000 })
  terminal.out(json(waiting ? await waiting : topup))
}

/** Sends an M-PESA prompt to a phone; with --wait until its owner has answered. */
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
  terminal.out(json(values.wait ? await client.topups.waitFor(topup.id, { signal: terminal.signal }) : topup))
}
