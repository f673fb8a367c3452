import { parseArgs } from 'node:util'
import { ConflictError, NotFoundError } from '../errors.ts'
import type { Item } from '../route-types.ts'
import { amountText, payeeText, resultText } from './amount.ts'
import { UsageError } from './errors.ts'
import { clientOf } from './session.ts'
import { sayList, sayPage } from './table.ts'
import { entryOf, flag, json, type Terminal, text, wholeNumber } from './terminal.ts'

const idIn = (positionals: readonly string[], command: string, example: string): string => {
  const [id, ...more] = positionals
  if (id === undefined || more.length > 0) throw new UsageError(`Give one id: payments ${command} ${example}`)
  return id
}

const isBatch = (id: string): boolean => id.startsWith('pba_')

/** Shows a payment, found by its id or its idempotency key. */
export const payment = async (terminal: Terminal): Promise<void> => {
  const options = { url: text, key: text, wait: flag, json: flag } as const
  const { values, positionals } = parseArgs({ args: [...terminal.args], allowPositionals: true, options })
  if (values.key !== undefined && positionals.length > 0)
    throw new UsageError('Give the id of the payment or its --key, not both.')
  const client = await clientOf(terminal, values.url)
  const { signal } = terminal
  const byKey = async (idempotency_key: string): Promise<string> => {
    const [found] = await client.payments.list({ idempotency_key }, { signal }).toArray(1)
    if (!found) throw new UsageError(`No payment was sent with the key ${idempotency_key}.`)
    return found.id
  }
  const id = values.key === undefined ? idIn(positionals, 'payment', 'pay_…') : await byKey(values.key)
  const read = await (values.wait ? client.payments.waitFor(id, { signal }) : client.payments.get(id, { signal }))
  terminal.out(values.json ? json(read) : `${read.id}: ${resultText(read)}`)
}

type Ending = Promise<{ id: string; status: string }>

/** Ignores a 409: the payment is already being sent and can no longer be cancelled. Rethrows other errors. */
const orConflict = (error: unknown): void => {
  if (!(error instanceof ConflictError)) throw error
}

/** Cancels a payment or batch before it is approved or due. With --wait, waits for one that is already being sent. */
export const cancel = async (terminal: Terminal): Promise<void> => {
  const options = { url: text, wait: flag, json: flag } as const
  const { values, positionals } = parseArgs({ args: [...terminal.args], allowPositionals: true, options })
  const id = idIn(positionals, 'cancel', 'pay_…')
  const client = await clientOf(terminal, values.url)
  const { signal } = terminal
  const cancelled: Ending = isBatch(id) ? client.batches.cancel(id) : client.payments.cancel(id)
  const end = (): Ending => (isBatch(id) ? client.batches.waitFor(id, { signal }) : client.payments.waitFor(id, { signal }))
  const record = await (values.wait ? cancelled.catch(orConflict).then(end) : cancelled)
  terminal.out(values.json ? json(record) : `${record.id}: ${record.status}`)
  if (record.status !== 'cancelled') process.exitCode = 1
}

type Period = { from?: string; to?: string }

/** Prints the statement of the whole workspace balance. */
export const statement = async (terminal: Terminal): Promise<void> => {
  const options = { url: text, from: text, to: text, csv: flag, json: flag } as const
  const { values } = parseArgs({ args: [...terminal.args], options })
  const { from, to } = values
  if (values.csv && values.json) throw new UsageError('Give --csv or --json, not both.')
  const period: Period = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  const client = await clientOf(terminal, values.url)
  if (values.csv) return terminal.out((await client.workspaces.statementCsv(period)).trimEnd())
  const read = (cursor?: string) =>
    client.workspaces.statement({ ...period, limit: 100, ...(cursor !== undefined && { cursor }) })
  const first = await read()
  const entries = [...first.entries]
  for (let page = first; page.next_cursor !== null; ) {
    page = await read(page.next_cursor)
    entries.push(...page.entries)
  }
  const { currency, opening_balance_minor: opening, closing_balance_minor: closing } = first
  if (values.json) return terminal.out(json({ ...first, entries, next_cursor: null }))
  const balance = (minor: string | null) => (minor === null ? '' : amountText(minor, currency))
  const signed = (minor: string) =>
    minor.startsWith('-') ? `-${amountText(minor.slice(1), '').trim()}` : amountText(minor, '').trim()
  sayList(
    terminal,
    [
      ['AT', ({ at }) => at],
      ['TYPE', ({ type }) => type.replaceAll('_', ' ')],
      ['AMOUNT', ({ amount_minor }) => signed(amount_minor), 'right'],
      ['PAYEE', ({ payee }) => (payee ? payeeText(payee) : '')],
      ['RECEIPT', ({ provider_receipt }) => provider_receipt ?? ''],
      ['KEY', ({ idempotency_key }) => idempotency_key ?? ''],
    ],
    entries,
  )
  if (opening !== null) terminal.out(`${first.from} to ${first.to}: from ${balance(opening)} to ${balance(closing)}`)
}

const listKeys = async (terminal: Terminal, args: readonly string[]): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: { url: text, limit: text, json: flag } })
  const client = await clientOf(terminal, values.url)
  sayPage(
    terminal,
    [
      ['ID', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['BEGINS WITH', ({ key_prefix }) => key_prefix],
      ['STATUS', ({ status }) => status],
      ['LAST USED', ({ last_used_at }) => last_used_at ?? 'never'],
    ],
    await client.apiKeys.list({ limit: wholeNumber('limit', values.limit ?? '25') }).page(),
    values.json,
  )
}

type ChangedKey = Item<'/v1/accounts/me/api-keys'> & { key?: string }

const changeKey = async (id: string, changing: Promise<ChangedKey>): Promise<ChangedKey> =>
  changing.catch((error: unknown) => {
    if (error instanceof NotFoundError) throw new UsageError(`${id} is not a key that this credential can see.`)
    throw error
  })

const sayKey = ({ out }: Terminal, key: ChangedKey, asJson: boolean | undefined): void =>
  out(asJson ? json(key) : [key.id, key.name, key.status, ...(key.key === undefined ? [] : [key.key])].join('  '))

const revokeKey = async (terminal: Terminal, args: readonly string[]): Promise<void> => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { url: text, json: flag } })
  const id = idIn(positionals, 'keys revoke', 'key_…')
  const client = await clientOf(terminal, values.url)
  sayKey(terminal, await changeKey(id, client.apiKeys.revoke(id)), values.json)
}

const rotateKey = async (terminal: Terminal, args: readonly string[]): Promise<void> => {
  const options = { url: text, overlap: text, json: flag } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const id = idIn(positionals, 'keys rotate', 'key_…')
  const overlap_seconds = wholeNumber('overlap', values.overlap ?? '0')
  const client = await clientOf(terminal, values.url)
  const key = await changeKey(id, client.apiKeys.rotate(id, { overlap_seconds }))
  sayKey(terminal, key, values.json)
  if (key.key === undefined)
    throw new Error(
      `${id} is replaced by ${key.id}, but the answer with the new key was lost. Run payments keys rotate ${key.id}.`,
    )
}

const acts: Readonly<Record<string, (terminal: Terminal, args: readonly string[]) => Promise<void>>> = {
  revoke: revokeKey,
  rotate: rotateKey,
}

export const keys = async (terminal: Terminal): Promise<void> => {
  const [verb = '', ...rest] = terminal.args
  const act = entryOf(acts, verb)
  await (act ? act(terminal, rest) : listKeys(terminal, terminal.args))
}
