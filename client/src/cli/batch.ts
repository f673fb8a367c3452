import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import type { ListOptions, PaymentBatch, PaymentBatchPreview } from '../batches.ts'
import { PaymentsError } from '../errors.ts'
import { amountText } from './amount.ts'
import { AlreadyDoneError, clientOf, UsageError } from './session.ts'
import { flag, json, type Terminal, text } from './terminal.ts'
import { whenOf } from './when.ts'

type ItemFault = { index: number; row?: number; param?: string; message: string }

const isFault = (value: unknown): value is ItemFault =>
  typeof value === 'object' && value !== null && 'index' in value && 'message' in value

const rowText = ({ index, row }: { index: number; row?: number | null }): string => `row ${row ?? index + 1}`

/** A line for each field of each row that is wrong, as a person looks for it in a spreadsheet. */
const sayFaults = (error: unknown, say: Terminal['say']): void => {
  const { items, reason } = error instanceof PaymentsError ? (error.details as { items?: unknown; reason?: unknown }) : {}
  if (!Array.isArray(items)) return
  for (const fault of items.filter(isFault))
    say(`${rowText(fault)}${fault.param === undefined ? '' : `, ${fault.param}`}: ${fault.message}`)
  if (reason === 'possible_duplicate') say('Nothing was paid. If these payments are meant again, add --duplicates-intended.')
}

const warningWords: Readonly<Record<string, string>> = {
  new_payee: 'no person has confirmed this payee',
  changed_payee: 'the name of this payee was changed a short time ago',
}

type PreviewItem = PaymentBatchPreview['items'][number]

const notesOf = ({ payee, warnings, given_name: given, display_name: name, looks_like: earlier }: PreviewItem): string[] => [
  ...(payee === 'new' ? ['new payee'] : []),
  ...(given === null ? [] : [`the list says "${given}", the payee is "${name}"`]),
  ...(earlier
    ? [`looks like ${earlier.payment_id ?? rowText({ index: earlier.index ?? 0, row: earlier.row })} of ${earlier.created_at}`]
    : []),
  ...warnings
    .filter((code) => code !== 'possible_duplicate' && code !== 'name_differs')
    .map((code) => warningWords[code] ?? code.replaceAll('_', ' ')),
]

/** The rows as they would be paid. */
const sayPreview = (preview: PaymentBatchPreview, say: Terminal['say']): void => {
  const rows = preview.items.map((item) => [
    rowText(item),
    item.display_name,
    item.destination_mask,
    amountText(item.amount_minor, preview.currency),
    notesOf(item).join('; '),
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows)
    say(
      row
        .map((cell, column) => (column === 3 ? cell.padStart(widths[3] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
  const approvals = preview.required_approvals > 0 ? `${preview.required_approvals} needed` : 'not needed'
  say(`${preview.items_count} payments, ${amountText(preview.total_minor, preview.currency)} in all. Approval: ${approvals}.`)
}

const countsText = ({ items_count: all, counts }: PaymentBatch): string => {
  const open = ['scheduled', 'pending_approval', 'processing', 'unknown'].reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status.replaceAll('_', ' ')}`)
  return `${all - open} of ${all} have ended: ${parts.join(', ')}`
}

/** Says how far a list is, each time that it has changed. */
const progressTo = (say: Terminal['say']): ((batch: PaymentBatch) => void) => {
  let last = ''
  return (batch) => {
    const line = countsText(batch)
    if (line !== last) say(line)
    last = line
  }
}

const read = (file: string | undefined, more: readonly string[]): Uint8Array<ArrayBuffer> => {
  if (file === undefined || more.length > 0) throw new UsageError('Give the file of the list: payments batch salaries.csv')
  return new Uint8Array(readFileSync(file === '-' ? 0 : file))
}

/** Of this computer: the day that a person means by "today". */
const localDate = (): string => {
  const now = new Date()
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}

/** The same list with the same options is the same request for the whole period. */
const keyOf = (bytes: Uint8Array, options: object, period: string): string =>
  `list-${createHash('sha256')
    .update(JSON.stringify([options, period]))
    .update('\n')
    .update(bytes)
    .digest('hex')}`

/** Pays a list in CSV; with --dry-run only says what it would do. */
export const batch = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: {
      ...{ url: text, name: text, at: text, key: text, period: text, charset: text, wait: flag, watch: flag },
      ...{ 'dry-run': flag, 'duplicates-intended': flag },
    },
  })
  const [file = '', ...more] = positionals
  const bytes = read(positionals[0], more)
  const client = await clientOf(terminal, values.url)
  const when = values.at === undefined ? null : await whenOf(client, values.at)
  const name = values.name ?? (file === '-' ? undefined : basename(file).replace(/\.\w+$/, ''))
  const list: ListOptions = {
    ...(name !== undefined && { name }),
    ...(when && { execute_at: when.execute_at }),
    ...(values['duplicates-intended'] && { duplicates_intended: true }),
  }
  const csv = { bytes, ...(values.charset !== undefined && { charset: values.charset }) }
  const { signal, say, out } = terminal
  let isReplay = false
  try {
    if (values['dry-run']) {
      const preview = await client.batches.checkCsv(csv, list, { signal })
      sayPreview(preview, say)
      return out(json(preview))
    }
    const created = await client.batches.fromCsv(csv, list, {
      signal,
      idempotencyKey: values.key ?? keyOf(bytes, { ...list, at: values.at ?? null }, values.period ?? localDate()),
      onAnswer: (headers) => {
        isReplay = headers.get('idempotency-replayed') === 'true'
      },
    })
    if (created.approval_id !== null && !isReplay)
      say(`A person has to approve it: ${client.baseUrl}/approve/${created.approval_id}`)
    const waits = values.wait || values.watch
    const wait = { signal, timeoutMs: 86_400_000, ...(values.watch && { onRead: progressTo(say) }) }
    out(json(waits ? await client.batches.waitFor(created.id, wait) : created))
    if (isReplay)
      throw new AlreadyDoneError(
        `Sent on ${created.created_at.slice(0, 10)} as ${created.id}; nothing new was paid. For another period, add --period.`,
      )
  } catch (error) {
    sayFaults(error, say)
    throw error
  }
}
