import { parseArgs } from 'node:util'
import type { Payments } from '../client.ts'
import type { Pages } from '../pages.ts'
import type { Item } from '../route-types.ts'
import { amountText, payeeText } from './amount.ts'
import { UsageError } from './errors.ts'
import { clientOf } from './session.ts'
import { type Column, sayPage } from './table.ts'
import { flag, type Terminal, text, wholeNumber } from './terminal.ts'

type Filter = 'status' | 'purpose'
type Options = { limit: number } & Record<Filter, string | undefined>
type Listing<Row> = {
  read: (client: Payments, options: Options) => Pages<Row>
  columns: (client: Payments) => readonly Column<Row>[]
  /** Options that select items. The command refuses the others. */
  filters: readonly Filter[]
}

/** Lists items, newest first: a table for a person or, with --json, one line of JSON for each item. */
const listing =
  <Row extends { id: string }>({ read, columns, filters }: Listing<Row>) =>
  async (terminal: Terminal): Promise<void> => {
    const { values } = parseArgs({
      args: [...terminal.args],
      options: { url: text, limit: text, status: text, purpose: text, json: flag },
    })
    const { status, purpose } = values
    const ignored = Object.entries({ status, purpose }).find(
      ([name, value]) => value !== undefined && !filters.some((each) => each === name),
    )
    if (ignored) throw new UsageError(`This list cannot be filtered by --${ignored[0]}.`)
    const limit = wholeNumber('limit', values.limit ?? '25')
    const client = await clientOf(terminal, values.url)
    const page = await read(client, { limit, status, purpose }).page()
    sayPage(terminal, [['ID', ({ id }) => id], ...columns(client)], page, values.json)
  }

const statusOf = <Status extends string>(status: string | undefined): { status?: Status } =>
  status === undefined ? {} : { status: status as Status }

export const paymentsList = listing({
  filters: ['status', 'purpose'],
  read: (client, { limit, status, purpose }) =>
    client.payments.list({
      limit,
      ...(status !== undefined && { status: [status as Item<'/v1/payments'>['status']] }),
      ...(purpose !== undefined && { purpose_code: purpose }),
    }),
  columns: () => [
    ['CREATED', ({ created_at }) => created_at],
    ['AMOUNT', ({ amount_minor, currency }) => amountText(amount_minor, currency), 'right'],
    ['PAYEE', ({ beneficiary }) => payeeText(beneficiary)],
    ['PURPOSE', ({ purpose_code }) => purpose_code ?? ''],
    ['STATUS', ({ status }) => status],
  ],
})

const currencyOf = (of: { currency: string } | null): string => of?.currency ?? ''

export const approvals = listing({
  filters: ['status'],
  read: (client, { limit, status }) => client.approvals.list({ limit, ...statusOf<'pending'>(status ?? 'pending') }),
  columns: ({ baseUrl }) => [
    [
      'AMOUNT',
      ({ payment, batch }) => amountText(payment?.amount_minor ?? batch?.total_minor ?? '0', currencyOf(payment ?? batch)),
      'right',
    ],
    ['PAYEE', ({ payment, batch }) => (payment ? payeeText(payment.beneficiary) : `${batch?.items_count ?? 0} payments`)],
    ['STATUS', ({ status }) => status],
    ['A PERSON DECIDES AT', ({ id }) => `${baseUrl}/approve/${id}`],
  ],
})

type Limits = Pick<
  Item<'/v1/spending-policies'>,
  'per_payment_limit_minor' | 'daily_limit_minor' | 'monthly_limit_minor' | 'total_limit_minor' | 'approval_threshold_minor'
>

const limitsText = (policy: Limits): string => {
  const limits = {
    'a payment': policy.per_payment_limit_minor,
    'a day': policy.daily_limit_minor,
    'a month': policy.monthly_limit_minor,
    'in all': policy.total_limit_minor,
    'asks from': policy.approval_threshold_minor,
  }
  return Object.entries(limits)
    .flatMap(([label, minor]) => (minor === null ? [] : `${label} ${amountText(minor, '').trim()}`))
    .join(', ')
}

export const policies = listing<Item<'/v1/spending-policies'>>({
  filters: ['status'],
  read: (client, { limit, status }) => client.policies.list({ limit, ...statusOf<'active'>(status) }),
  columns: () => [
    ['NAME', ({ name }) => name],
    ['STATUS', ({ status }) => status],
    ['LIMITS', limitsText],
  ],
})

export const refusals = listing({
  filters: [],
  read: (client, { limit }) => client.payments.refusals({ limit }),
  columns: () => [
    ['ASKED FOR', ({ created_at }) => created_at],
    ['AMOUNT', ({ amount_minor, currency }) => amountText(amount_minor, currency), 'right'],
    ['PAYEE', ({ beneficiary }) => (beneficiary ? payeeText(beneficiary) : 'a batch')],
    ['WHY', ({ message }) => message],
  ],
})

export const balance = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, json: flag } })
  const { workspace } = await (await clientOf(terminal, values.url)).workspaces.current()
  const { name, balance: held } = workspace
  if (!held) {
    terminal.out(values.json ? 'null' : `This credential cannot read the balance of ${name}.`)
    return
  }
  const [available, reserved] = [held.available_minor, held.held_minor].map((minor) => amountText(minor, held.currency))
  terminal.out(
    values.json ? JSON.stringify(held) : `${name}: ${available} available; ${reserved} is held for payments in progress.`,
  )
}
