import type { App } from '../../http/app-type.ts'
import { ok, recordRequestOf, respondOnce, sendText } from '../../http/idempotency.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import { byId } from '../../http/wire.ts'
import { notFound } from '../../lib/errors.ts'
import { cancelBatch } from './approvals/cancel.ts'
import { presentBatch } from './batch/present.ts'
import { findBatch, listBatches } from './batch/queries.ts'
import { CreatePaymentBatch, ListPaymentBatches, PaymentBatch } from './batch/schema.ts'
import type { Deps } from './deps.ts'

const path = '/v1/payment-batches'
const one = `${path}/:id`

/** A thousand items with all of their fields. */
const bodyLimitBytes = 1024 * 1024

const createRefusals = [
  'invalid_request',
  'insufficient_funds',
  'policy_denied',
  'capability_disabled',
  'grant_frozen',
  'beneficiary_frozen',
  'conflict',
  'provider_not_configured',
] as const

export const registerPaymentBatches = (app: App, deps: Deps): void => {
  app.post(
    path,
    {
      config: { operation: 'payment_batches.create', permission: 'payment.create', idempotent: true, refuses: createRefusals },
      bodyLimit: bodyLimitBytes,
      schema: { body: CreatePaymentBatch, response: { 201: PaymentBatch } },
    },
    async (request, reply) => {
      const { answer, replayed } = await deps.submitBatch({
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
      config: { operation: 'payment_batches.list', permission: 'payment.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: ListPaymentBatches, response: { 200: pageOf(PaymentBatch) } },
    },
    async (request, reply) => {
      const { workspace } = request.principal
      const { status, idempotency_key: idempotencyKey } = request.query
      return reply.send(
        await readPage(deps, request, {
          of: workspace.id,
          read: (page) => listBatches(deps.db, workspace.id, page, { status, idempotencyKey }),
          idOf: (row) => row.batch.id,
          present: (rows) => rows.map(presentBatch),
        }),
      )
    },
  )
  app.get(
    one,
    {
      config: { operation: 'payment_batches.get', permission: 'payment.read', refuses: ['not_found'] },
      schema: { params: byId('payment_batch'), response: { 200: PaymentBatch } },
    },
    async (request, reply) => {
      const record = await findBatch(deps.db, request.principal.workspace.id, request.params.id)
      if (!record) throw notFound()
      return reply.send(presentBatch(record))
    },
  )
  app.post(
    `${one}/cancel`,
    {
      config: {
        operation: 'payment_batches.cancel',
        permission: 'payment.create',
        whileFrozen: true,
        refuses: ['forbidden', 'not_found', 'conflict'],
      },
      schema: { params: byId('payment_batch'), response: { 200: PaymentBatch } },
    },
    async (request, reply) =>
      respondOnce(deps, request, reply, async (tx) =>
        ok(presentBatch(await cancelBatch(tx, deps, request.principal, request.params.id))),
      ),
  )
}
