import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import type { ListOptions, PaymentBatch, PaymentBatchPreview } from '../batches.ts'
import type { Payments } from '../client.ts'
import { PaymentsError } from '../errors.ts'
import { faultsIn, groupFaults, rowsText } from '../list-faults.ts'
import { amountText } from './amount.ts'
import { AlreadyDoneError, UsageError } from './errors.ts'
import { parseExecuteAt } from './execute-at.ts'
import { readInput } from './input.ts'
import { clientOf } from './session.ts'
import { sayTable } from './table.ts'
import { flag, json, type Terminal, text } from './terminal.ts'

const rowText = ({ index, row }: { index: number; row?: number | null }): string => `row ${row ?? index + 1}`

/** Prints one line per kind of fault with its rows, then the faults of the whole batch. */
const sayFaults = ({ details }: PaymentsError, say: Terminal['say']): void => {
  const { more, reason } = details
  for (const { param, message, faults } of groupFaults(faultsIn(details)))
    say(`${rowsText(faults)}${param === null ? '' : `, ${param}`}: ${message}`)
  if (typeof more === 'number') say(`and ${more} more: correct these first, then check again`)
  if (reason === 'possible_duplicate') say('If these payments are intended, add --duplicates-intended.')
}

const warningWords: Readonly<Record<string, string>> = {
  new_payee: 'no person has confirmed this payee',
  changed_payee: 'the name of this payee was changed recently',
}

type PreviewItem = PaymentBatchPreview['items'][number]

/** Both names of a row if the file and the payee differ. */
const namesOf = ({ given_name: given, display_name: name }: PreviewItem): string[] =>
  given === null ? [] : [`the file has "${given}", the payee is "${name}"`]

const notesOf = (item: PreviewItem): string[] => {
  const { payee, warnings, looks_like: earlier } = item
  return [
    ...(payee === 'new' ? ['new payee'] : []),
    ...namesOf(item),
    ...(earlier
      ? [`looks like ${earlier.payment_id ?? rowText({ index: earlier.index ?? 0, row: earlier.row })} of ${earlier.created_at}`]
      : []),
    ...warnings
      .filter((code) => code !== 'possible_duplicate' && code !== 'name_differs')
      .map((code) => warningWords[code] ?? code.replaceAll('_', ' ')),
  ]
}

/** Index of the amount column. */
const amounts = [3]

/** Earlier versions of the service return no fees. */
const sumText = ({
  total_minor: total,
  fees_minor: fees = '0',
  currency,
}: Pick<PaymentBatch, 'total_minor' | 'fees_minor' | 'currency'>): string =>
  amountText(total, currency) + (fees === '0' ? '' : ` and fees of ${amountText(fees, currency)}`)

const sayPreview = (preview: PaymentBatchPreview, out: Terminal['out']): void => {
  const { items, currency } = preview
  sayTable(
    items.map((item) => [
      rowText(item),
      item.display_name,
      item.destination_mask,
      amountText(item.amount_minor, currency),
      notesOf(item).join('; '),
    ]),
    out,
    amounts,
  )
  const approvals = preview.required_approvals > 0 ? `${preview.required_approvals} needed` : 'not needed'
  out(`${preview.items_count} payments, ${sumText(preview)} in all. Approval: ${approvals}.`)
}

/** Prints the result of each row, then of the batch. */
const sayResult = async (client: Payments, batch: PaymentBatch, { out, signal }: Terminal): Promise<void> => {
  if (batch.completed_at !== null) {
    const rows: string[][] = []
    for await (const payment of client.payments.list({ batch_id: batch.id, limit: 100 }, { signal }))
      rows.push([
        rowText({ index: payment.batch_index ?? 0, row: payment.batch_row }),
        payment.beneficiary.display_name,
        payment.beneficiary.destination_mask,
        amountText(payment.amount_minor, payment.currency),
        [payment.status.replaceAll('_', ' '), payment.failure_message ?? payment.provider_receipt].filter(Boolean).join(': '),
      ])
    sayTable(rows.reverse(), out, amounts)
  }
  const name = batch.name === null ? batch.id : `${batch.name} (${batch.id})`
  out(
    `${name}: ${batch.items_count} payments, ${sumText(batch)} in all, ${batch.status.replaceAll('_', ' ')}. ${countsText(batch)}.`,
  )
}

const countsText = ({ items_count: all, counts }: PaymentBatch): string => {
  const open = ['scheduled', 'pending_approval', 'processing', 'unknown'].reduce((sum, name) => sum + (counts[name] ?? 0), 0)
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status.replaceAll('_', ' ')}`)
  return `${all - open} of ${all} have ended: ${parts.join(', ')}`
}

const barLength = 20

/** Prints the progress of a batch whenever it changes. */
const progressTo = ({ progress }: Terminal): ((batch: PaymentBatch) => void) => {
  let last = ''
  return (batch) => {
    const text = countsText(batch)
    const done = Math.floor((barLength * Number.parseInt(text, 10)) / batch.items_count)
    if (text !== last) progress(`[${'#'.repeat(done).padEnd(barLength, '-')}] ${text}`)
    last = text
  }
}

const read = (file: string | undefined, more: readonly string[]): Uint8Array<ArrayBuffer> => {
  if (file === undefined || more.length > 0) throw new UsageError('Name the CSV file: payments batch salaries.csv')
  return readInput(file)
}

/** The local date of this computer, which is what a person means by "today". */
const localDate = (): string => {
  const now = new Date()
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}

/** Within one period, the same file with the same options counts as the same request. */
const keyOf = (bytes: Uint8Array, options: object, period: string): string =>
  `list-${createHash('sha256')
    .update(JSON.stringify([options, period]))
    .update('\n')
    .update(bytes)
    .digest('hex')}`

/** Pays a CSV batch. With --dry-run, only prints what would happen. */
export const batch = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: {
      ...{ url: text, name: text, at: text, key: text, period: text, charset: text, wait: flag, watch: flag, json: flag },
      ...{ 'dry-run': flag, 'duplicates-intended': flag },
    },
  })
  if (values.key !== undefined && values.period !== undefined)
    throw new UsageError('A --key is used for every period: give --key or --period, not both.')
  const [file = '', ...more] = positionals
  const bytes = read(positionals[0], more)
  const client = await clientOf(terminal, values.url)
  const when = values.at === undefined ? null : await parseExecuteAt(client, values.at)
  const name = values.name ?? (file === '-' ? undefined : basename(file).replace(/\.\w+$/, ''))
  const list: ListOptions = {
    ...(name !== undefined && { name }),
    ...(when && { execute_at: when.execute_at }),
    ...(values['duplicates-intended'] && { duplicates_intended: true }),
  }
  const csv = { bytes, ...(values.charset !== undefined && { charset: values.charset }) }
  const { signal, say, out } = terminal
  let isReplayed = false
  let attempts = 0
  try {
    if (values['dry-run']) {
      const preview = await client.batches.checkCsv(csv, list, { signal })
      return values.json ? out(json(preview)) : sayPreview(preview, out)
    }
    const idempotencyKey = values.key ?? keyOf(bytes, { ...list, at: values.at ?? null }, values.period ?? localDate())
    const [preview, earlier] = await Promise.all([
      // The response to a created batch contains no names, so the preview reads them first. `fromCsv` reports any faults.
      client.batches.checkCsv(csv, list, { signal }).catch(() => null),
      client.batches
        .list({ idempotency_key: idempotencyKey, limit: 1 }, { signal })
        .page()
        .catch(() => ({ data: [] })),
    ])
    const created = await client.batches.fromCsv(csv, list, {
      signal,
      idempotencyKey,
      onAnswer: (headers, count) => {
        isReplayed = headers.get('idempotency-replayed') === 'true'
        attempts = count
      },
    })
    // A repeated attempt may also replay the batch that an earlier attempt of this call made.
    const isReplay = isReplayed && (attempts === 1 || earlier.data.length > 0)
    if (!isReplay) for (const item of preview?.items ?? []) for (const names of namesOf(item)) say(`${rowText(item)}: ${names}`)
    // A replayed response shows the batch at its creation, so the current state is read.
    const current = isReplayed ? await client.batches.get(created.id, { signal }) : created
    // A scheduled batch that is replayed may be approved already.
    const asks = current.status === 'pending_approval' || (current.status === 'scheduled' && !isReplay)
    if (current.approval_id !== null && asks) say(`A person must approve it: ${client.baseUrl}/approve/${current.approval_id}`)
    const waits = values.wait || values.watch
    const wait = { signal, timeoutMs: 86_400_000, ...(values.watch && { onRead: progressTo(terminal) }) }
    const known = waits ? await client.batches.waitFor(created.id, wait) : current
    if (values.json) out(json(known))
    else await sayResult(client, known, terminal)
    if (isReplay)
      throw new AlreadyDoneError(
        `Sent on ${created.created_at.slice(0, 10)} as ${created.id}; nothing new was paid. For another period, add --period.`,
      )
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    const { reason, existing_payment_batch_id: earlier } = error.details
    if (reason === 'idempotency' && typeof earlier === 'string' && values.key === undefined) {
      const known = await client.batches.get(earlier, { signal }).catch(() => undefined)
      if (known) values.json ? out(json(known)) : await sayResult(client, known, terminal)
      throw new AlreadyDoneError(
        `Sent before as ${earlier}, with another credential; nothing new was paid. For another period, add --period.`,
      )
    }
    if (!Array.isArray(error.details.items)) throw error
    sayFaults(error, say)
    // The rows were already printed. Repeating them would hide the actual message.
    throw new Error(`${error.code}: ${error.message.replace(/ details\.items names [^.]+\./, '')}`)
  }
}
