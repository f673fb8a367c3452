import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { sendHtml } from '../../http/page.ts'
import { type Provider, phoneRail, providerOf, providers } from '../../lib/rail-names.ts'
import { type Movement, type Order, workingBalance } from './book.ts'
import { controlPage, controlScript } from './control-page.ts'
import { PayIn, payIn } from './deposits.ts'
import type { Emulation, ProviderEmulator } from './emulator.ts'
import { emulators } from './emulators.ts'
import { periodText } from './format.ts'
import { maskedParty } from './journal.ts'
import { Holder } from './names.ts'
import { NewRule } from './rules.ts'
import type { MoveTime } from './scheduler.ts'

/** `home`: URL of the service that uses the emulator, for the page's link back. */
export type ControlOptions = { moveTime?: MoveTime; home?: string }

const Advance = z.strictObject({ advance_seconds: z.int().min(1).max(34_560_000) })

const Settlement = z.strictObject({ account: z.string().min(1).max(40), amount_minor: z.string().regex(/^[1-9]\d{0,17}$/) })

const StatementOf = z.strictObject({
  provider: z.enum(providers).default(providerOf(phoneRail)),
  /** One of the organisation's accounts at the provider. Default: all accounts. */
  account: z.string().min(1).max(40).optional(),
})

const emulated: { readonly [P in Provider]: ProviderEmulator<P> } = emulators

const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A provider's statement for one or all of the organisation's accounts, with the columns of the provider's portal. */
export const statementCsv = (movements: readonly Movement[], provider: Provider, account?: string): string => {
  const own = movements.filter((moved) => providerOf(moved.rail) === provider && (account ?? moved.account) === moved.account)
  const { heading, columns, lines } = emulated[provider].statement
  const rows = [...(account === undefined ? [] : heading(account, periodText(own))), columns, ...own.flatMap(lines)]
  return `${rows.map((row) => row.map(quote).join(',')).join('\n')}\n`
}

const presentOrder = (order: Order) => ({
  rail: order.rail,
  key: order.key,
  reference: order.reference,
  receipt: order.receipt,
  amount_minor: order.amountMinor.toString(),
  party_mask: maskedParty(order.party),
  at: order.at.toISOString(),
  state: order.state,
  reported: order.reported,
  times_asked: order.queryCount,
})

const refuse = (reply: FastifyReply, status: number, error: string, message: string): FastifyReply =>
  reply.code(status).send({ error, message })

const isLoopback = (host: string): boolean => /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)

/** Rules, journal, money, credentials, time. Requires JSON and our own Host header, so that other sites' pages cannot use it. */
export const registerControl = (
  app: FastifyInstance,
  emulation: Emulation,
  options: object,
  { moveTime, home }: ControlOptions = {},
): void => {
  const { book, rules, journal } = emulation
  app.register(async (control) => {
    control.addHook('onRequest', async (request, reply) => {
      if (!isLoopback(request.headers.host ?? '')) return reply.code(403).send({ error: 'forbidden' })
      const origin = request.headers.origin
      if (request.method !== 'GET' && origin !== undefined && !isLoopback(origin.replace(/^https?:\/\//, '')))
        return reply.code(403).send({ error: 'forbidden' })
      return undefined
    })
    control.setErrorHandler((error, _request, reply) => {
      if (!(error instanceof z.ZodError)) throw error
      const message = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
      return refuse(reply, 400, 'invalid_request', message)
    })
    control.get('/control', (_request, reply) => sendHtml(reply, 200, controlPage(home), { scripted: true }))
    control.get('/control/page.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(controlScript))
    control.get('/control/rules', async () => ({ data: rules.list() }))
    control.post('/control/rules', async (request, reply) => {
      const rule = rules.add(NewRule.parse(request.body))
      journal.add('rule', { effect: rule.effect, rail: rule.rail ?? null, times: rule.times })
      return reply.code(201).send(rule)
    })
    control.delete('/control/rules', (_request, reply) => {
      rules.clear()
      return reply.code(204).send()
    })
    control.delete<{ Params: { id: string } }>('/control/rules/:id', (request, reply) =>
      reply.code(rules.remove(request.params.id) ? 204 : 404).send(),
    )
    /** Keeps money and time. A test starts with a new account instead. */
    control.post('/control/reset', (_request, reply) => {
      rules.clear()
      emulation.names.forget()
      journal.clear()
      return reply.code(204).send()
    })
    control.post('/control/names', async (request, reply) => {
      const holder = Holder.parse(request.body)
      emulation.names.set(holder)
      journal.add('rule', { name_of: maskedParty(holder.party) })
      return reply.code(204).send()
    })
    control.get('/control/journal', async () => ({ data: journal.read() }))
    control.get('/control/orders', async () => ({ data: book.orders().map(presentOrder) }))
    control.post('/control/deposits', async (request, reply) => {
      const paid = await payIn(emulation, PayIn.parse(request.body))
      if ('rejected' in paid) return refuse(reply, 409, 'rejected', `The payment was rejected: ${paid.rejected}.`)
      return reply.code(201).send(presentOrder(paid.order))
    })
    control.get('/control/movements', async () => ({ data: book.movements().map(presentOrder) }))
    /** The provider deducts its charges from the organisation's money, as it does every month. */
    control.post('/control/settlements', (request, reply) => {
      const { account, amount_minor } = Settlement.parse(request.body)
      book.settleCharges(account, BigInt(amount_minor))
      return reply.code(204).send()
    })
    control.get('/control/balance', async () => ({
      balance_minor: Object.fromEntries(providers.map((name) => [name, workingBalance(book, name).toString()])),
    }))
    control.get('/control/statement.csv', async (request, reply) => {
      const { provider, account } = StatementOf.parse(request.query)
      return reply.type('text/csv').send(statementCsv(book.movements(), provider, account))
    })
    control.get('/control/options', async () => options)
    const presentTime = (offset_ms: number) => ({ now: emulation.clock.now().toISOString(), offset_ms })
    control.get('/control/clock', async () => presentTime(moveTime?.offsetMs() ?? 0))
    control.post('/control/clock', async (request, reply) => {
      const { advance_seconds } = Advance.parse(request.body)
      if (!moveTime) return refuse(reply, 409, 'conflict', 'Only the service that owns this emulator can change its time.')
      const offset = moveTime.advance(advance_seconds)
      journal.add('clock', { advanced_seconds: advance_seconds })
      return reply.send(presentTime(offset))
    })
  })
}
