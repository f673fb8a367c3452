import type { FastifyRequest } from 'fastify'
import { changeValues, readChanges } from '../../db/changes.ts'
import { containing } from '../../db/list-queries.ts'
import type { App } from '../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { ok, recordRequestOf, sendText } from '../../http/idempotency.ts'
import { pageOf, readChangesPage, readPage } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found, invalidFields, Refusal } from '../../lib/errors.ts'
import { formatId } from '../../lib/ids.ts'
import { type PaymentList, readPaymentList } from '../../lib/payment-list.ts'
import { textOfFile, workbookProblem } from '../../lib/table-file.ts'
import { readZones } from '../workspaces/queries.ts'
import { cancelBatch } from './approvals/end.ts'
import { readCompleteBatch } from './batch/again.ts'
import { type BatchRecord, batchList, changedBatches, findBatch, linesOf, presentBatch, presentLines } from './batch/queries.ts'
import {
  type BatchEntry,
  type CompleteBatch,
  CreatedPaymentBatch,
  CreatePaymentBatch,
  CreatePaymentBatchQuery,
  ListPaymentBatches,
  maxBatchBytes,
  maxItems,
  PaymentBatch,
  PaymentBatchLines,
  PaymentBatchPreview,
} from './batch/schema.ts'
import { submitBatch } from './create/payment-batch.ts'
import { presentRow, resultColumns } from './present.ts'
import { namedPayments } from './queries.ts'
import type { Deps } from './request.ts'

const path = '/v1/payment-batches'
const one = `${path}/:id`

/** Error codes for creating a batch or a single payment. */
export const batchRefusals = [
  'insufficient_funds',
  'policy_denied',
  'capability_disabled',
  'grant_frozen',
  'beneficiary_frozen',
  'provider_not_configured',
] as const

/** `paymentList`: the uploaded CSV file; null for a JSON request. */
declare module 'fastify' {
  interface FastifyRequest {
    paymentList: PaymentList | null
  }
}

/** Fields of the whole batch. With a CSV body, they are query parameters. */
const batchFields = ['name', 'execute_at', 'duplicates_intended'] as const

const csvTypes = ['text/csv', 'application/csv', 'application/vnd.ms-excel']
const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

const charsetOf = (contentType: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1]

const parseCsv = (bytes: Buffer, contentType: string | undefined, currency: string): PaymentList => {
  const text = textOfFile(bytes, charsetOf(contentType))
  if (typeof text !== 'string') throw invalidFields({ path: 'body', message: text.problem })
  const list = readPaymentList(text, { maxItems, currency })
  if ('problems' in list) throw invalidFields(...list.problems)
  return list
}

/** Converts a CSV body to JSON before validation, so both formats share a schema and the digest of the Idempotency-Key. */
const readCsvBodies = (scope: App, currency: string): void => {
  scope.decorateRequest('paymentList', null)
  scope.addContentTypeParser(csvTypes, { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const list = parseCsv(bytes, request.headers['content-type'], currency)
    const query = request.query as Partial<Record<(typeof batchFields)[number], unknown>>
    const { duplicates_intended: meant, ...others } = Object.fromEntries(batchFields.map((name) => [name, query[name]]))
    const body = { items: list.items, ...others, ...(meant !== undefined && { duplicates_intended: meant === 'true' }) }
    request.paymentList = list
    request.rawBody = JSON.stringify(body)
    return body
  })
  scope.addContentTypeParser(workbookType, { parseAs: 'buffer' }, async () => {
    throw new Refusal('unsupported_media_type', { message: `The body ${workbookProblem}.` })
  })
}

const withCsvFaults = (input: CompleteBatch, list: PaymentList | null): CompleteBatch => {
  if (!list || list.faults.size === 0) return input
  const items = input.items.map((entry, index): BatchEntry => {
    const cellFaults = list.faults.get(index)
    if (!cellFaults) return entry
    if (cellFaults.some(({ path }) => path === 'row')) return { faults: cellFaults, to: null }
    const namedPaths = new Set(cellFaults.flatMap(({ path }) => (path === 'amount' ? [path, 'amount_minor'] : [path])))
    const others = 'faults' in entry ? entry.faults.filter(({ path }) => !namedPaths.has(path)) : []
    const to = 'faults' in entry ? entry.to : entry.item
    // Without its bank, an account would be taken for a phone.
    return { faults: [...cellFaults, ...others], to: cellFaults.some(({ path }) => path.startsWith('bank_')) ? null : to }
  })
  return { ...input, items }
}

const resultsText =
  'All lines of the batch as approved. With `Accept: text/csv`, the result of each row, in the order of the batch.'

const registerCreate = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.handle('POST', path, 'payment_batches.create', {
    permission: 'payment.create',
    idempotent: true,
    recordsRefusals: true,
    refuses: batchRefusals,
    summary: 'Create a payment batch',
    description:
      'Creates up to 1,000 payments with one approval. All items are checked first, and all or none are created: `details.items` of the error lists each item that cannot be paid. A fault of the whole request, such as a freeze, is answered first and alone. Limits count item by item, in one transaction with all holds. If any item needs an approval, the whole batch waits for it. The batch needs the highest number of approvals that any item needs, and its text binds every item with a Merkle root. Approved items are sent individually; an item that no longer passes fails alone. Each item is a payment: `GET /v1/payments?batch_id=`.\n\nAn item names its beneficiary with `beneficiary_id`, or with `display_name` and `destination`. With the latter, the beneficiary with this destination is paid, or a new one is created with the batch. The body can also be CSV (`Content-Type: text/csv`), as saved by a spreadsheet. The first row names the columns: the fields of an item, `metadata.<name>`, and `amount` in major units or `amount_minor`. `?dry_run=true` checks everything and creates nothing. `again` repeats an earlier batch with the same beneficiaries, except for the items that `items` changes or omits. In errors, `index` then counts the remaining items.',
    consumes: ['application/json', ...csvTypes],
    querystring: CreatePaymentBatchQuery,
    body: CreatePaymentBatch,
    response: { 200: PaymentBatchPreview, 201: CreatedPaymentBatch },
    bodyLimit: maxBatchBytes,
    handler: async (request, reply) => {
      const { paymentList: list, query } = request
      for (const path of batchFields)
        if (!list && query[path] !== undefined)
          throw invalidFields({ path, message: 'belongs into the body of a request in JSON' })
      const dryRun = query.dry_run === 'true'
      const write = recordRequestOf(request)
      const { answer, replayed } = await submitBatch(deps.batchQueue, deps.refusals, {
        principal: request.principal,
        input: withCsvFaults(await readCompleteBatch(deps.db, request.principal, request.body), list),
        rows: list?.rows ?? null,
        warnings: list?.warnings ?? [],
        dryRun,
        ...write,
        // A dry run has no effect, so it needs no idempotency key.
        once: dryRun ? null : write.once,
      })
      return sendText(reply, { status: dryRun ? 200 : 201, text: answer.text }, replayed)
    },
  })
}

export const registerPaymentBatches = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  app.register(async (scope: App) => {
    readCsvBodies(scope, deps.config.CURRENCY)
    registerCreate(scope, deps)
  })
  routes.handle('GET', path, 'payment_batches.list', {
    permission: 'payment.read',
    refuses: ['invalid_cursor'],
    summary: 'List payment batches',
    description:
      'Returns the batches of the workspace, newest first, with the number of items in each status. With `updated_after`, the oldest change comes first. A batch changes when its own status changes; changes of its items do not count.',
    querystring: ListPaymentBatches,
    response: { 200: pageOf(PaymentBatch) },
    handler: async (request, reply) => {
      const { updated_after: since, status, idempotency_key: idempotencyKey, q } = request.query
      const workspaceId = request.principal.workspace.id
      const filters = { workspaceId, status, idempotencyKey, pattern: q && containing(q) }
      const listing = { owner: workspaceId, present: (rows: readonly BatchRecord[]) => rows.map(presentBatch) }
      if (!since)
        return reply.send(
          await readPage(deps, request, {
            ...listing,
            read: (page) => deps.db.run(batchList, { ...filters, ...page }),
            idOf: (row) => row.batch.id,
          }),
        )
      return reply.send(
        await readChangesPage(deps, request, {
          ...listing,
          read: (from, take) =>
            readChanges(deps.db, 'payment_batches', { workspaceId, since, from, take }, (asked) =>
              deps.db.run(changedBatches, { ...filters, ...changeValues(asked) }),
            ),
          changeOf: (row) => row.batch,
        }),
      )
    },
  })
  routes.get(one, 'payment_batches.get', {
    permission: 'payment.read',
    summary: 'Retrieve a payment batch',
    description:
      'Returns one batch and the status of its items. It is `completed` if all items have ended and at least one was paid, and `failed` if none was paid.',
    params: byId('payment_batch'),
    response: { 200: PaymentBatch },
    read: async ({ principal, params }) => presentBatch(found(await findBatch(deps.db, principal.workspace.id, params.id))),
  })
  routes.handle('GET', `${one}/lines`, 'payment_batches.lines', {
    permission: 'payment.read',
    summary: 'Retrieve all lines of a payment batch',
    description:
      'Returns every item as the batch’s Merkle root binds it, with the last amount paid to its destination. Approvers can compute the root from these lines and compare it with the root in the signed text. The root uses RFC 6962 hashing over the UTF-8 of each `leaf`. With `Accept: text/csv`, returns the result file of the batch: the result of each row, with its row number in the uploaded file.',
    params: byId('payment_batch'),
    response: { 200: orCsv(PaymentBatchLines, resultsText) },
    handler: async (request, reply) => {
      const { workspace } = request.principal
      const record = found(await findBatch(deps.db, workspace.id, request.params.id))
      if (!wantsCsv(request)) return reply.send(presentLines(record, await deps.db.run(linesOf, { batchId: record.batch.id })))
      const columns = resultColumns(await readZones(deps.db, workspace))
      const all = { workspaceId: workspace.id, batchId: record.batch.id, before: null, take: maxItems }
      return sendCsv(request, reply, `results-${formatId('payment_batch', record.batch.id)}`, columns, async ({ before }) =>
        before === null ? (await deps.db.run(namedPayments, all)).reverse().map(presentRow) : [],
      )
    },
  })
  routes.post(`${one}/cancel`, 'payment_batches.cancel', {
    permission: 'payment.create',
    whileFrozen: true,
    refuses: ['forbidden', 'conflict'],
    summary: 'Cancel a payment batch',
    description:
      'Cancels a batch that is scheduled or pending approval with all of its payments, and releases the held amounts. Once its payments are sent, it cannot be cancelled (409).',
    params: byId('payment_batch'),
    response: { 200: PaymentBatch },
    work: async (tx, { principal, params }) => ok(presentBatch(await cancelBatch(tx, principal, params.id))),
  })
}
