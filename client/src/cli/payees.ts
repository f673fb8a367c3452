import { parseArgs } from 'node:util'
import type { Payments } from '../client.ts'
import type { Body, Item } from '../route-types.ts'
import { waitUntil } from '../wait-for.ts'
import { payeeText } from './amount.ts'
import { UsageError } from './errors.ts'
import { payeeIdOf } from './find-payee.ts'
import { clientOf } from './session.ts'
import { type Column, sayPage } from './table.ts'
import { entryOf, flag, json, type Terminal, text, wholeNumber } from './terminal.ts'

type Payee = Item<'/v1/beneficiaries'>

const verdicts: Readonly<Record<Payee['verification']['status'], string>> = {
  match: 'the same name',
  close_match: 'a similar name',
  no_match: 'ANOTHER NAME',
  unavailable: 'no name was given',
  unverified: 'not asked',
}

/** Formats a name and its verification: "WANJIRU K**** (the same name)". */
const nameText = ({ verification: { status, name } }: Payee): string =>
  name === null ? verdicts[status] : `${name} (${verdicts[status]})`

const makerText = ({ changed_by, created_by }: Payee): string => {
  const { grant_id, label } = changed_by ?? created_by
  const who = grant_id === null ? 'a person' : (label ?? grant_id)
  return `${changed_by ? 'renamed' : 'made'} by ${who}`
}

const columns: readonly Column<Payee>[] = [
  ['ID', ({ id }) => id],
  ['NAME', payeeText],
  ['RAIL', ({ payment_rail }) => payment_rail],
  ['STATUS', ({ status, confirmation }) => `${status}, ${confirmation}`],
  ['REGISTERED NAME', nameText],
  ['BY', makerText],
]

const show = (terminal: Terminal, payee: Payee, asJson: boolean | undefined): void =>
  terminal.out(asJson ? json(payee) : columns.map(([, cell]) => cell(payee)).join('  '))

const list = async (terminal: Terminal, args: readonly string[]): Promise<void> => {
  const options = { url: text, limit: text, name: text, 'made-by': text, proposed: flag, all: flag, json: flag } as const
  const { values } = parseArgs({ args: [...args], options })
  const { name: q, 'made-by': made_by_grant_id, limit = '25' } = values
  const client = await clientOf(terminal, values.url)
  const page = await client.beneficiaries
    .list({
      limit: wholeNumber('limit', limit),
      ...(q !== undefined && { q }),
      ...(made_by_grant_id !== undefined && { made_by_grant_id }),
      ...(values.proposed && { confirmation: 'proposed' }),
      ...(values.all && { status: 'all' }),
    })
    .page()
  sayPage(terminal, columns, page, values.json)
}

const add = async (terminal: Terminal, args: readonly string[]): Promise<void> => {
  const options = {
    url: text,
    rail: text,
    bank: text,
    account: text,
    'legal-name': text,
    type: text,
    key: text,
    json: flag,
  } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const [name, destination, ...more] = positionals
  if (name === undefined || destination === undefined || more.length > 0)
    throw new UsageError('Give a name and a number: payments payees add "Wanjiru Kamau" 0722000111')
  const client = await clientOf(terminal, values.url)
  const made = await client.beneficiaries.create(
    {
      type: values.type ?? 'payee',
      display_name: name,
      destination,
      payment_rail: (values.rail ?? (values.bank === undefined ? 'MPESA_B2C' : 'PESALINK')) as Body<
        '/v1/beneficiaries',
        'post'
      >['payment_rail'],
      ...(values.bank !== undefined && { bank_code: values.bank }),
      ...(values.account !== undefined && { account_reference: values.account }),
      ...(values['legal-name'] !== undefined && { legal_name: values['legal-name'] }),
    },
    { signal: terminal.signal, ...(values.key !== undefined && { idempotencyKey: values.key }) },
  )
  for (const { message, beneficiary_id } of made.warnings) terminal.say(`${message} (${beneficiary_id})`)
  if (made.confirmation === 'proposed') terminal.say(`A person must confirm it: ${client.baseUrl}/beneficiaries/${made.id}`)
  show(terminal, made, values.json)
}

type Act = (client: Payments, id: string, signal: AbortSignal) => Promise<Payee>

/** Acts on the named payees, or on all that one key or agent created, one by one: a failure shows how far it got. */
const each =
  (verb: string, act: Act) =>
  async (terminal: Terminal, args: readonly string[]): Promise<void> => {
    const options = { url: text, 'made-by': text, json: flag } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const { 'made-by': grant } = values
    if ((positionals.length === 0) === (grant === undefined))
      throw new UsageError(
        `Name the payees: payments payees ${verb} NAME (or ben_…), or --made-by gra_… for all payees created by a key or an agent`,
      )
    const client = await clientOf(terminal, values.url)
    const ids: string[] = []
    for (const which of positionals) ids.push(await payeeIdOf(terminal, client, which))
    if (grant !== undefined)
      for await (const { id, display_name, created_by } of client.beneficiaries.list({ made_by_grant_id: grant }))
        if (created_by.grant_id === grant) ids.push(id)
        else terminal.say(`${id} ${display_name}: only renamed by it, not created. Left as it is.`)
    for (const id of ids) show(terminal, await act(client, id, terminal.signal), values.json)
    if (ids.length === 0) terminal.say('No entries.')
  }

const answerWithinMs = 10_000

/** Waits for the rail's response. If the service does not repeat a check so soon, shows the known result. */
const verify: Act = async (client, id, signal) => {
  const before = await client.beneficiaries.verify(id, { signal })
  const isAnswered = ({ verification }: Payee) => verification.checked_at !== before.verification.checked_at
  const read = () => client.beneficiaries.get(id, { signal })
  return waitUntil(read, isAnswered, { signal, timeoutMs: answerWithinMs }).catch(read)
}

const subcommands: Readonly<Record<string, (terminal: Terminal, args: readonly string[]) => Promise<void>>> = {
  list,
  add,
  verify: each('verify', verify),
  confirm: each('confirm', (client, id, signal) => client.beneficiaries.confirm(id, { signal })),
  archive: each('archive', (client, id, signal) => client.beneficiaries.archive(id, { signal })),
}

/** Without a subcommand, `payments payees` lists payees. */
export const payees = async (terminal: Terminal): Promise<void> => {
  const [first, ...rest] = terminal.args
  if (first === undefined || first.startsWith('-')) return list(terminal, terminal.args)
  const run = entryOf(subcommands, first)
  if (!run) throw new UsageError(`unknown command payees ${first}. Valid: ${Object.keys(subcommands).join(', ')}`)
  await run(terminal, rest)
}
