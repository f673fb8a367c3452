import { parseArgs } from 'node:util'
import type { Payments } from '../client.ts'
import type { Pages } from '../pages.ts'
import type { Item } from '../route-types.ts'
import { amountText, payeeText, paymentText } from './amount.ts'
import { clientOf, UsageError } from './session.ts'
import { flag, type Terminal, text } from './terminal.ts'

type Options = { limit: number; status: string | undefined; purpose: string | undefined }
type Listing<Row> = {
  read: (client: Payments, options: Options) => Pages<Row>
  line: (row: Row, client: Payments) => string
  /** Whether `--purpose` narrows it. */
  byPurpose?: boolean
}

/** A line for a person for each item, newest first; with --json the whole item, for another program. */
const listing =
  <Row extends { id: string }>({ read, line, byPurpose = false }: Listing<Row>) =>
  async (terminal: Terminal): Promise<void> => {
    const { values } = parseArgs({
      args: [...terminal.args],
      options: { url: text, limit: text, status: text, purpose: text, json: flag },
    })
    if (values.purpose !== undefined && !byPurpose) throw new UsageError('--purpose is for the list of payments')
    const limit = Number(values.limit ?? 25)
    const client = await clientOf(terminal, values.url)
    const { data } = await read(client, { limit, status: values.status, purpose: values.purpose }).page()
    for (const item of data) terminal.out(values.json ? JSON.stringify(item) : `${item.id}  ${line(item, client)}`)
    if (data.length === 0) terminal.say('There is nothing here.')
  }

const statusOf = <Status extends string>(status: string | undefined): { status?: Status } =>
  status === undefined ? {} : { status: status as Status }

export const paymentsList = listing({
  byPurpose: true,
  read: (client, { limit, status, purpose }) =>
    client.payments.list({
      limit,
      ...(status !== undefined && { status: [status as Item<'/v1/payments'>['status']] }),
      ...(purpose !== undefined && { purpose_code: purpose }),
    }),
  line: (payment) =>
    `${payment.created_at}  ${paymentText(payment)}${payment.purpose_code ? ` (${payment.purpose_code})` : ''}: ${payment.status}`,
})

export const approvals = listing({
  read: (client, { limit, status }) => client.approvals.list({ limit, ...statusOf<'pending'>(status ?? 'pending') }),
  line: ({ id, status, payment, batch }, client) => {
    const what = payment
      ? `${amountText(payment.amount_minor, payment.currency)} to ${payeeText(payment.beneficiary)}`
      : `${amountText(batch?.total_minor ?? '0', batch?.currency ?? '')} in ${batch?.items_count ?? 0} payments`
    return `${what}: ${status}  ${client.baseUrl}/approve/${id}`
  },
})

export const policies = listing({
  read: (client, { limit, status }) => client.policies.list({ limit, ...statusOf<'active'>(status) }),
  line: ({ name, status, per_payment_limit_minor, daily_limit_minor, monthly_limit_minor, approval_threshold_minor }) => {
    const limits = {
      'a payment': per_payment_limit_minor,
      'a day': daily_limit_minor,
      'a month': monthly_limit_minor,
      'asks from': approval_threshold_minor,
    }
    const given = Object.entries(limits).flatMap(([label, minor]) =>
      minor === null ? [] : `${label} ${amountText(minor, '').trim()}`,
    )
    return [name, status, given.join(', ')].filter(Boolean).join('  ')
  },
})

export const refusals = listing({
  read: (client, { limit }) => client.payments.refusals({ limit }),
  line: ({ created_at, amount_minor, currency, beneficiary, message }) =>
    `${created_at}  ${amountText(amount_minor, currency)} to ${beneficiary ? payeeText(beneficiary) : 'a batch'}: ${message}`,
})

export const balance = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, json: flag } })
  const { balance: held } = await (await clientOf(terminal, values.url)).account.get()
  const [available, reserved] = [held.available_minor, held.held_minor].map((minor) => amountText(minor, held.currency))
  terminal.out(values.json ? JSON.stringify(held) : `${available} can be spent; ${reserved} is held for payments under way.`)
}
