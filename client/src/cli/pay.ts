import { parseArgs } from 'node:util'
import type { Payments } from '../client.ts'
import { PaymentsError } from '../errors.ts'
import type { Body } from '../route-types.ts'
import { minorOf, paymentText, resultText } from './amount.ts'
import { UsageError } from './errors.ts'
import { parseExecuteAt } from './execute-at.ts'
import { payeeIdOf } from './find-payee.ts'
import { clientOf } from './session.ts'
import { flag, json, type Terminal, text } from './terminal.ts'

const orderOf = ([payee, amount, ...more]: readonly string[], reference: string | undefined) => {
  if (payee === undefined || amount === undefined || more.length > 0)
    throw new UsageError('Give a payee and an amount: payments pay "Wanjiru Kamau" 250.00')
  return {
    payee,
    amount_minor: minorOf(amount),
    ...(reference !== undefined && { account_reference: reference }),
  }
}

export const simulate = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, reference: text, at: text },
  })
  const { payee, ...what } = orderOf(positionals, values.reference)
  const client = await clientOf(terminal, values.url)
  const order = { ...what, beneficiary_id: await payeeIdOf(terminal, client, payee) }
  const when = values.at === undefined ? null : await parseExecuteAt(client, values.at)
  terminal.out(json(await client.payments.simulate({ ...order, ...(when && { execute_at: when.execute_at }) })))
}

type Order = Body<'/v1/payments', 'post'>
type Asking = { again: boolean | undefined; key: string | undefined }

/** Pays a beneficiary. A payment that resembles an earlier one requires a person's confirmation. */
const payOnce = async (terminal: Terminal, client: Payments, order: Order, { again, key }: Asking) => {
  const { signal, ask } = terminal
  const options = { signal, ...(key !== undefined && { idempotencyKey: key }) }
  try {
    return await client.payments.create({ ...order, on_duplicate: 'confirm' }, options)
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error
    const { reason, existing_payment_id: existing } = error.details as { reason?: unknown; existing_payment_id?: unknown }
    if (typeof existing !== 'string') throw error
    if (reason === 'possible_duplicate') {
      const meant = again || (await ask?.(`This looks like ${existing}, a recent payment. Pay again?`))
      if (!meant) throw new UsageError(`Nothing was paid: this looks like ${existing}. To pay again, add --again.`)
      return client.payments.create({ ...order, duplicate_of: existing }, options)
    }
    // An earlier run may have used the key for an intended second payment: that request named the first one.
    const made = reason === 'idempotency' ? await client.payments.get(existing, { signal }).catch(() => undefined) : undefined
    const warning = made?.decision.warnings.find(({ code }) => code === 'possible_duplicate')
    if (!warning || !('payment_id' in warning)) throw error
    return client.payments.create({ ...order, duplicate_of: warning.payment_id }, options)
  }
}

export const pay = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, reference: text, narrative: text, purpose: text, at: text, key: text, again: flag, wait: flag },
  })
  const { narrative, purpose, again, key } = values
  const { payee, ...what } = orderOf(positionals, values.reference)
  const now = {
    ...what,
    ...(narrative !== undefined && { narrative }),
    ...(purpose !== undefined && { purpose_code: purpose }),
  }
  if (values.wait && values.at !== undefined)
    throw new UsageError('--wait is only for a payment that is sent at once. For one with --at, run payments payments later')
  const client = await clientOf(terminal, values.url)
  const when = values.at === undefined ? null : await parseExecuteAt(client, values.at)
  const beneficiary_id = await payeeIdOf(terminal, client, payee)
  const order = { ...now, beneficiary_id, ...(when && { execute_at: when.execute_at }) }
  const payment = await payOnce(terminal, client, order, { again, key })
  terminal.say(`${paymentText(payment)}: ${payment.status}${when ? ` for ${when.label}` : ''}`)
  if (payment.status === 'pending_approval')
    terminal.say(`A person must approve it: ${client.baseUrl}/approve/${payment.approval_id}`)
  if (!values.wait) return terminal.out(json(payment))
  const ended = await client.payments.waitFor(payment.id, { signal: terminal.signal })
  terminal.out(json(ended))
  terminal.say(resultText(ended))
}
