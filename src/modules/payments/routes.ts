import type { Db } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { ok, recordRequestOf, sendText } from '../../http/idempotency.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found, notFound } from '../../lib/errors.ts'
import { amountIn } from '../../lib/money.ts'
import { effectiveTimeZone } from '../../policy/calendar.ts'
import { findBeneficiary } from '../beneficiaries/queries.ts'
import { cancelPayment } from './approvals/end.ts'
import { readAttention } from './attention/attention.ts'
import { Attention } from './attention/schema.ts'
import { batchRefusals } from './batch-routes.ts'
import { submitPayment } from './create/submit.ts'
import type { Deps } from './deps.ts'
import { attemptsOf } from './lifecycle/attempts/queries.ts'
import { paymentColumns, presentCheck, presentListed, presentPayment, presentRow } from './present.ts'
import {
  findPayment,
  listPayments,
  listPaymentsWithPayee,
  type PaymentRecord,
  type PaymentSearch,
  readMatching,
} from './queries.ts'
import { buildReceipt } from './receipt/receipt.ts'
import { Receipt } from './receipt/schema.ts'
import { listRefusals } from './refusals/queries.ts'
import { presentRefusal } from './refusals/record.ts'
import { ListPaymentRefusals, RefusedPayment } from './refusals/schema.ts'
import { CreatePayment, ListPayments, ListPaymentsTo, Payment, PaymentsSummary, SummarizePayments } from './schema.ts'
import { summarizePayments } from './summary.ts'

const path = '/v1/payments'
const one = `${path}/:id`

const createRefusals = [...batchRefusals, 'not_found'] as const

const searchOf = (query: Omit<ListPayments, 'limit' | 'cursor'>, currency: string): PaymentSearch => ({
  ...(query.status && { statuses: query.status }),
  ...(query.batch_id && { batchId: query.batch_id }),
  ...(query.purpose_code && { purposeCode: query.purpose_code }),
  ...(query.beneficiary_id && { beneficiaryId: query.beneficiary_id }),
  ...(query.account_reference !== undefined && { accountReference: query.account_reference }),
  ...(query.grant_id && { grantId: query.grant_id }),
  ...(query.initiator_account_id && { initiatorAccountId: query.initiator_account_id }),
  ...(query.mandate_id && { mandateId: query.mandate_id }),
  ...(query.idempotency_key !== undefined && { idempotencyKey: query.idempotency_key }),
  ...(query.metadata && { metadata: query.metadata }),
  ...(query.amount_min_minor !== undefined && { amountMinMinor: query.amount_min_minor }),
  ...(query.amount_max_minor !== undefined && { amountMaxMinor: query.amount_max_minor }),
  ...(query.q !== undefined && { searched: { text: query.q, amount: amountIn(query.q, currency) } }),
  ...(query.created_after && { createdAfter: query.created_after }),
  ...(query.created_before && { createdBefore: query.created_before }),
})

/** One payment as it is read by itself: of an unknown outcome it says when the rail was last asked about it. */
const presentFollowed = async (db: Db, record: PaymentRecord): Promise<Payment> => {
  const payment = presentPayment(record)
  if (record.status !== 'unknown') return payment
  return { ...payment, outcome_check: presentCheck(await attemptsOf(db, [record.id])) }
}

export const registerPayments = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  app.post(
    path,
    {
      config: { operation: 'payments.create', permission: 'payment.create', idempotent: true, refuses: createRefusals },
      schema: { body: CreatePayment, response: { 201: Payment } },
    },
    async (request, reply) => {
      const { answer, replayed } = await submitPayment(deps, {
        principal: request.principal,
        input: request.body,
        ...recordRequestOf(request),
      })
      return sendText(reply, { status: 201, text: answer.text }, replayed)
    },
  )
  app.get(
    path,
    {
      config: { operation: 'payments.list', permission: 'payment.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: ListPayments,
        response: { 200: orCsv(pageOf(Payment)) },
      },
    },
    async (request, reply) => {
      const { workspace } = request.principal
      const search = searchOf(request.query, deps.config.CURRENCY)
      const source = await deps.reads.db()
      if (wantsCsv(request))
        return sendCsv(request, reply, 'payments', paymentColumns(effectiveTimeZone(workspace.zone, deps.clock.now())), (page) =>
          readMatching(source, workspace.id, search, async (db, filter) =>
            (await listPaymentsWithPayee(db, workspace.id, page, filter)).map(presentRow),
          ),
        )
      return reply.send(
        await readPage(deps, request, {
          of: workspace.id,
          read: (page) =>
            readMatching(source, workspace.id, search, (db, filter) => listPayments(db, workspace.id, page, filter)),
          idOf: (row) => row.id,
          present: (rows) => rows.map((row) => presentListed(row)),
        }),
      )
    },
  )
  list('/v1/beneficiaries/:id/payments', {
    config: { operation: 'beneficiaries.payments', permission: 'payment.read', refuses: ['not_found'] },
    schema: { params: byId('beneficiary'), querystring: ListPaymentsTo, response: { 200: pageOf(Payment) } },
    listing: async ({ principal, params, query }) => {
      const { workspace } = principal
      const { id } = params
      const { account_reference: accountReference } = query
      if (!(await findBeneficiary(deps.db, workspace.id, id))) throw notFound()
      const source = await deps.reads.db()
      return {
        of: workspace.id,
        read: (page) => listPayments(source, workspace.id, page, { beneficiaryId: id, accountReference }),
        present: (rows) => rows.map((row) => presentListed(row)),
      }
    },
  })
  routes.get(`${path}/summary`, {
    config: { operation: 'payments.summary', permission: 'payment.read', refuses: ['invalid_request'] },
    schema: { querystring: SummarizePayments, response: { 200: PaymentsSummary } },
    read: ({ principal, query }) => summarizePayments(deps, principal, searchOf(query, deps.config.CURRENCY), query.days),
  })
  routes.get(one, {
    config: { operation: 'payments.get', permission: 'payment.read', refuses: ['not_found'] },
    schema: { params: byId('payment'), response: { 200: Payment } },
    read: async ({ principal, params }) => {
      const record = found(await findPayment(deps.db, principal.workspace.id, params.id))
      return presentFollowed(deps.db, record)
    },
  })
  routes.get(`${one}/receipt`, {
    config: { operation: 'payments.receipt', permission: 'payment.read', refuses: ['not_found'] },
    schema: { params: byId('payment'), response: { 200: Receipt } },
    read: async ({ principal, params }) => found(await buildReceipt(deps.db, deps, principal.workspace.id, params.id)),
  })
  routes.post(`${one}/cancel`, {
    config: {
      operation: 'payments.cancel',
      permission: 'payment.create',
      whileFrozen: true,
      refuses: ['forbidden', 'not_found', 'conflict'],
    },
    schema: { params: byId('payment'), response: { 200: Payment } },
    work: async (tx, { principal, params }) => ok(presentPayment(await cancelPayment(tx, principal, params.id))),
  })
}

export const registerPaymentRefusals = (app: App, deps: Deps): void => {
  const list = listsOf(app, deps)
  list('/v1/payment-refusals', {
    config: { operation: 'payment_refusals.list', permission: 'payment.read' },
    schema: { querystring: ListPaymentRefusals, response: { 200: pageOf(RefusedPayment) } },
    listing: async ({ principal, query }) => {
      const { workspace, grant } = principal
      await deps.refusals.settled()
      return {
        of: workspace.id,
        read: (page) =>
          listRefusals(deps.db, workspace.id, page, {
            within: grant?.id ?? null,
            beneficiaryId: query.beneficiary_id,
            grantId: query.grant_id,
            initiatorAccountId: query.initiator_account_id,
            createdAfter: query.created_after,
            createdBefore: query.created_before,
          }),
        idOf: (row) => row.refusal.id,
        present: (rows) => rows.map((row) => presentRefusal(row, deps.config.CURRENCY)),
      }
    },
  })
}

export const registerPaymentAttention = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/payments/attention', {
    config: { operation: 'payments.attention', permission: 'payment.read' },
    schema: { response: { 200: Attention } },
    read: ({ principal }) => readAttention(deps, principal),
  })
}
