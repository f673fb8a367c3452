import type { Db } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { ok, recordRequestOf, sendText } from '../../http/idempotency.ts'
import { filtersOf, type PageRequest, pageOf, readChangesPage, readPage } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { readNonNegative } from '../../lib/money.ts'
import { attemptsOf } from '../attempts/attempt.ts'
import { findBeneficiary } from '../beneficiaries/queries.ts'
import { readZones } from '../workspaces/queries.ts'
import { cancelPayment } from './approvals/end.ts'
import { readAttention } from './attention/attention.ts'
import { Attention } from './attention/schema.ts'
import { batchRefusals } from './batch-routes.ts'
import { submitPayment } from './create/submit.ts'
import { paymentColumns, presentCheck, presentListed, presentPayment, presentRow } from './present.ts'
import {
  findPayment,
  listPayments,
  namedPayments,
  type PaymentRecord,
  type PaymentSearch,
  pagesOfChanges,
  readChangedPayments,
  readMatching,
} from './queries.ts'
import { Receipt } from './receipt/schema.ts'
import { createReceiptBuilder } from './receipt/service.ts'
import { presentRefusal, refusalList } from './refusals/queries.ts'
import { ListPaymentRefusals, RefusedPayment } from './refusals/schema.ts'
import type { Deps } from './request.ts'
import { CreatePayment, ListPayments, ListPaymentsTo, Payment, PaymentTotals, SummarizePayments } from './schema.ts'
import { summarizePayments } from './summary.ts'

const path = '/v1/payments'
const one = `${path}/:id`

const searchOf = (
  { status, q, batch_items: items, ...others }: Omit<ListPayments, 'limit' | 'cursor' | 'updated_after'>,
  currency: string,
): PaymentSearch => ({
  ...filtersOf(others),
  ...(items === 'first' && { firstItems: true }),
  ...(status && { statuses: status }),
  ...(q !== undefined && { search: { text: q, amount: readNonNegative(q.replace(/[\s,'’]+$/, ''), currency) } }),
})

const presentWithOutcomeCheck = async (db: Db, record: PaymentRecord): Promise<Payment> => {
  const payment = presentPayment(record)
  if (record.status !== 'unknown') return payment
  return { ...payment, outcome_check: presentCheck(await attemptsOf(db, [record.id])) }
}

export const registerPayments = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/payment-refusals', 'payment_refusals.list', {
    permission: 'payment.read',
    summary: 'List refused payments',
    description:
      'Returns requested payments that were refused, newest first: by a spending rule, a freeze, an insufficient balance, or as a likely duplicate. Each names the requester, the beneficiary, the amount and the reason. A key or an agent sees its own and those of the grants below it. Refused payments are kept for 90 days, up to 1,000 per grant in 24 hours.',
    querystring: ListPaymentRefusals,
    response: { 200: pageOf(RefusedPayment) },
    read: async (page, { principal: { workspace, grant }, query }) => {
      await deps.refusals.settled()
      return deps.db.run(refusalList, { workspaceId: workspace.id, within: grant?.id, ...filtersOf(query), ...page })
    },
    idOf: (row) => row.refusal.id,
    present: (rows) => rows.map((row) => presentRefusal(row, deps.config.CURRENCY)),
  })
  routes.get('/v1/payments/attention', 'payments.attention', {
    permission: 'payment.read',
    summary: 'Retrieve items that need attention',
    description:
      'Returns daily spending for the last 30 days and the items that need attention, the most urgent first: a balance too low for scheduled payments, unknown outcomes, repeated or refused payments, beneficiaries whose registered name differs, and limits that are nearly used up. Service administrators also see money in suspense. Approvals are listed separately.',
    response: { 200: Attention },
    read: ({ principal }) => readAttention(deps, principal),
  })
  routes.handle('POST', path, 'payments.create', {
    permission: 'payment.create',
    idempotent: true,
    recordsRefusals: true,
    refuses: batchRefusals,
    summary: 'Create a payment',
    description:
      'Evaluates the payment against every applicable policy, grant and mandate, holds the amount and records the payment, in one transaction. The payment is then `processing` (being sent), `pending_approval` (a person must approve it) or, with `execute_at`, `scheduled` (evaluated and sent at that time). Send an `Idempotency-Key`: after a lost answer, the same request returns the same payment instead of paying twice. If a rule refuses the payment (403 `policy_denied`), the error contains the complete decision and the smallest change that would let the payment pass.',
    body: CreatePayment,
    response: { 201: Payment },
    handler: async (request, reply) => {
      const { answer, replayed } = await submitPayment(deps, {
        principal: request.principal,
        input: request.body,
        ...recordRequestOf(request),
      })
      return sendText(reply, { status: 201, text: answer.text }, replayed)
    },
  })
  routes.handle('GET', path, 'payments.list', {
    permission: 'payment.read',
    refuses: ['invalid_cursor'],
    summary: 'List and search payments',
    description:
      'Returns the payments of the workspace, newest first, or oldest change first with `updated_after`. Filters can be combined. `q` searches the beneficiary, reference, narrative, receipt and ID, and finds amounts as people write them. With `Accept: text/csv`, all matching payments are streamed as CSV.',
    querystring: ListPayments,
    response: { 200: orCsv(pageOf(Payment)) },
    handler: async (request, reply) => {
      const { workspace } = request.principal
      const { updated_after: since, ...filters } = request.query
      const search = searchOf(filters, deps.config.CURRENCY)
      const source = await deps.reads.db()
      if (wantsCsv(request)) {
        const columns = paymentColumns(await readZones(deps.db, workspace))
        const read = since
          ? pagesOfChanges(deps.db, workspace.id, since, search)
          : ({ before, take }: PageRequest) =>
              readMatching(source, workspace.id, search, (db, filter) =>
                db.run(namedPayments, { workspaceId: workspace.id, ...filter, before, take }),
              )
        return sendCsv(request, reply, 'payments', columns, async (page) => (await read(page)).map(presentRow))
      }
      const listing = { owner: workspace.id, present: (rows: readonly PaymentRecord[]) => rows.map((row) => presentListed(row)) }
      if (since)
        return reply.send(
          await readChangesPage(deps, request, {
            ...listing,
            read: (from, take) => readChangedPayments(deps.db, { workspaceId: workspace.id, since, from, take }, search),
            changeOf: (row) => row,
          }),
        )
      return reply.send(
        await readPage(deps, request, {
          ...listing,
          read: (page) =>
            readMatching(source, workspace.id, search, (db, filter) => listPayments(db, workspace.id, page, filter)),
          idOf: (row) => row.id,
        }),
      )
    },
  })
  routes.list('/v1/beneficiaries/:id/payments', 'beneficiaries.payments', {
    permission: 'payment.read',
    summary: "List a beneficiary's payments",
    description: 'Returns the payments to this beneficiary, newest first. Use it to check whether an invoice was already paid.',
    params: byId('beneficiary'),
    querystring: ListPaymentsTo,
    response: { 200: pageOf(Payment) },
    owner: async ({ principal: { workspace }, params }) => {
      found(await findBeneficiary(deps.db, workspace.id, params.id))
      return workspace.id
    },
    read: async (page, { principal, params, query: { account_reference: accountReference } }) =>
      listPayments(await deps.reads.db(), principal.workspace.id, page, { beneficiaryId: params.id, accountReference }),
    present: (rows) => rows.map((row) => presentListed(row)),
  })
  routes.get(`${path}/summary`, 'payments.summary', {
    permission: 'payment.read',
    summary: 'Summarize payments',
    description: 'Returns the number and total of the payments that match the filters, by status.',
    querystring: SummarizePayments,
    response: { 200: PaymentTotals },
    read: ({ principal, query: { days, ...filters } }) =>
      summarizePayments(deps, principal, searchOf(filters, deps.config.CURRENCY), days),
  })
  routes.get(one, 'payments.get', {
    permission: 'payment.read',
    summary: 'Retrieve a payment',
    description:
      'Returns the current state of a payment, which is the source of truth. `unknown` means that the payment was sent and the rail has not reported a result. The amount remains held. Do not pay again.',
    params: byId('payment'),
    response: { 200: Payment },
    read: async ({ principal, params }) => {
      const record = found(await findPayment(deps.db, { workspaceId: principal.workspace.id, id: params.id }))
      return presentWithOutcomeCheck(deps.db, record)
    },
  })
  routes.get(`${one}/receipt`, 'payments.receipt', {
    permission: 'payment.read',
    summary: 'Retrieve a payment receipt',
    description:
      'Returns the evidence of how the payment was made, for auditors and disputes. It contains the policies, the approvals with their signatures, the ledger transfers, the rail’s receipt and the seals of the audit log, under one digest.',
    params: byId('payment'),
    response: { 200: Receipt },
    read: async ({ principal, params }) => found(await createReceiptBuilder(deps.db, deps, principal.workspace.id)(params.id)),
  })
  routes.post(`${one}/cancel`, 'payments.cancel', {
    permission: 'payment.create',
    whileFrozen: true,
    refuses: ['forbidden', 'conflict'],
    summary: 'Cancel a payment',
    description:
      'Cancels a payment that is scheduled or pending approval, and releases the held amount. Once it is processing, it cannot be cancelled (409).',
    params: byId('payment'),
    response: { 200: Payment },
    work: async (tx, { principal, params }) => ok(presentPayment(await cancelPayment(tx, principal, params.id))),
  })
}
