import type { Db } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { accepted, created, ok } from '../../http/idempotency.ts'
import { filtersOf, PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { assertPresent, only } from '../../lib/lists.ts'
import { attemptsOf } from '../attempts/attempt.ts'
import { eachById } from '../for-each-row.ts'
import { nameBalances } from '../operators.ts'
import type { Parts } from '../parts.ts'
import { presentCheck, presentPayment } from '../payments/present.ts'
import type { PaymentRecord } from '../payments/queries.ts'
import { AdminPayment, FindPayments, ResolvePayment } from '../payments/schema.ts'
import { withoutTrace } from '../policies/present.ts'
import {
  confirmAdjustment,
  createAdjustment,
  findAdjustment,
  listAdjustments,
  rejectAdjustment,
  viewAdjustments,
  waitingOfPayments,
} from '../suspense/adjustment-service.ts'
import { Adjustment, CreateAdjustment, FindAdjustments } from '../suspense/schema.ts'
import { reasoned } from '../workspaces/schema.ts'
import { listDifferences, listReconciliations, presentDifference, presentReconciliation } from './reconciliation/differences.ts'
import { listMovements, presentMovement, recordMovement } from './reconciliation/movements-service.ts'
import { resolveDifference } from './reconciliation/resolve-difference.ts'
import {
  FindDifferences,
  NameMovement,
  ProviderMovement,
  Reconciliation,
  ReconciliationDifference,
  ReconciliationDifferences,
  ResolveDifference,
  ResolveDifferences,
  UploadStatement,
} from './reconciliation/schema.ts'
import { readUpload, reportStatement } from './reconciliation/service.ts'
import { listAllPayments, resolvePayment } from './resolve-payment.ts'

const RejectAdjustment = reasoned('RejectAdjustment')

const viewForAdmin = async (db: Db, payments: readonly PaymentRecord[], waitingOf: (id: Uuid) => Uuid | null) => {
  const accountIds = payments.map(({ accountId }) => accountId)
  const nameOf = await nameBalances(db, accountIds)
  return payments.map((payment) => {
    const waitingId = waitingOf(payment.id)
    return {
      ...presentPayment(payment),
      waiting_adjustment_id: waitingId && formatId('ledger', waitingId),
      account_id: formatId('account', nameOf(payment.accountId).accountId),
      late_success_resolution: payment.lateSuccessResolution,
    }
  })
}

export const registerCorrections = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  routes.list('/v1/admin/payments', 'admin.list_payments', {
    summary: 'List payments that need a person',
    description:
      'Returns payments of all workspaces. `status=unknown` finds payments whose outcome the rail has not reported. `provider_receipt` finds the payment with that receipt.',
    querystring: FindPayments,
    response: { 200: pageOf(AdminPayment) },
    read: (page, { query }) => listAllPayments(deps.db, query, page),
    present: async (rows) => {
      const ids = rows.map(({ id }) => id)
      const unknown = rows.flatMap(({ id, status }) => (status === 'unknown' ? [id] : []))
      const [waiting, attempts] = await Promise.all([
        waitingOfPayments(deps.db, ids),
        unknown.length === 0 ? [] : attemptsOf(deps.db, unknown),
      ])
      const views = await viewForAdmin(deps.db, rows, (id) => waiting.get(id) ?? null)
      return rows.map((row, index) => ({
        ...withoutTrace(assertPresent(views[index], 'every payment has its view')),
        ...(row.status === 'unknown' && { outcome_check: presentCheck(attempts.filter(({ subjectId: id }) => id === row.id)) }),
      }))
    },
  })
  routes.post('/v1/admin/payments/:id/resolve', 'admin.resolve_payment', {
    refuses: ['insufficient_funds', 'separation_of_duties', 'conflict'],
    summary: 'Resolve an unknown payment',
    description:
      'Ends a payment that is `unknown`, or books a late success, with evidence from the provider that a person has read. Without evidence, leave the payment `unknown`. `failed` and `written_off` cost the organisation and count as adjustments. Above the daily limit of one administrator, the answer is 202 and the adjustment waits until a second administrator sends the same outcome. `failed` is possible only after the rail was asked and its time to answer has passed.',
    params: byId('payment'),
    body: ResolvePayment,
    response: { 200: AdminPayment, 202: AdminPayment },
    work: async (tx, request) => {
      const { payment, waitingId } = await resolvePayment(tx, deps.config, request.principal, request.params.id, request.body)
      const body = only(await viewForAdmin(tx, [payment], () => waitingId))
      return waitingId === null ? ok(body) : accepted(body)
    },
  })
  routes.post('/v1/admin/adjustments', 'admin.create_adjustment', {
    idempotent: true,
    refuses: ['insufficient_funds', 'separation_of_duties'],
    summary: 'Create an adjustment',
    description:
      'Corrects a balance with a ledger adjustment and its reason. Above a certain amount, a second administrator must confirm it. Administrators cannot adjust their own account, or the balance of a workspace that they belong to.',
    body: CreateAdjustment,
    response: { 201: Adjustment },
    work: async (tx, { principal, body }) =>
      created(only(await viewAdjustments(tx, [await createAdjustment(tx, deps.config, principal, body)]))),
  })
  routes.list('/v1/admin/adjustments', 'admin.list_adjustments', {
    summary: 'List adjustments',
    description: 'Returns posted adjustments, and those that wait for a second administrator.',
    querystring: FindAdjustments,
    response: { 200: pageOf(Adjustment) },
    read: (page, { query }) => listAdjustments(deps.db, filtersOf(query), page),
    present: (rows) => viewAdjustments(deps.db, rows),
  })
  routes.get('/v1/admin/adjustments/:id', 'admin.get_adjustment', {
    summary: 'Retrieve an adjustment',
    description: 'Returns the adjustment with its requester, its reason and the administrator who decided.',
    params: byId('ledger'),
    response: { 200: Adjustment },
    read: async ({ params }) => only(await viewAdjustments(deps.db, [found(await findAdjustment(deps.db, { id: params.id }))])),
  })
  const decideRefuses = ['insufficient_funds', 'separation_of_duties', 'conflict'] as const
  routes.post('/v1/admin/adjustments/:id/confirm', 'admin.confirm_adjustment', {
    refuses: decideRefuses,
    summary: 'Confirm an adjustment',
    description: 'Posts the adjustment. The administrator who created it cannot confirm it.',
    params: byId('ledger'),
    response: { 200: Adjustment },
    work: async (tx, { principal, params }) =>
      ok(only(await viewAdjustments(tx, [await confirmAdjustment(tx, principal, params.id)]))),
  })
  routes.post('/v1/admin/adjustments/:id/reject', 'admin.reject_adjustment', {
    refuses: decideRefuses,
    summary: 'Reject an adjustment',
    description: 'Rejects the adjustment, so that no money moves. The reason is recorded in the audit log.',
    params: byId('ledger'),
    body: RejectAdjustment,
    response: { 200: Adjustment },
    work: async (tx, { principal, params, body }) =>
      ok(only(await viewAdjustments(tx, [await rejectAdjustment(tx, principal, params.id, body.reason)]))),
  })
}

const bodyLimitBytes = 1024 * 1024

const registerMovements = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  routes.list('/v1/admin/provider-movements', 'admin.list_movements', {
    summary: "List movements of the organisation's own money",
    description: 'Returns the settlements of charges, bank transfers and other charges that a person has recorded.',
    querystring: PageQuery,
    response: { 200: pageOf(ProviderMovement) },
    read: (page) => listMovements(deps.db, page),
    present: (rows) => rows.map(presentMovement),
  })
  routes.post('/v1/admin/provider-movements', 'admin.name_movement', {
    idempotent: true,
    summary: "Record a movement of the organisation's own money",
    description:
      'Records a settlement of charges, a transfer to or from the bank, or another charge. Record each movement once; nothing is booked for it. The next comparison of balances takes it into account. If the money moved before the last comparison, it explains the open `balance_differs` of that time, which closes when its amount is explained. A receipt that is already booked returns 409: first resolve its item in suspense as explained.',
    body: NameMovement,
    response: { 201: ProviderMovement },
    work: async (tx, { principal, body }) => created(presentMovement(await recordMovement(tx, principal, body))),
  })
}

export const registerReconciliation = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  registerMovements(app, deps)
  routes.list('/v1/admin/reconciliations', 'admin.list_reconciliations', {
    summary: 'List reconciliations',
    description: 'Returns every comparison of the books with a provider statement, with the number of matches.',
    querystring: PageQuery,
    response: { 200: pageOf(Reconciliation) },
    read: (page) => listReconciliations(deps.db, page),
    present: (rows) => rows.map(presentReconciliation),
  })
  routes.post('/v1/admin/reconciliations', 'admin.upload_statement', {
    idempotent: true,
    bodyLimit: bodyLimitBytes,
    summary: 'Reconcile a statement',
    description:
      'Compares a statement that a person exported from a provider with the books. The answer contains the number of matches; the differences are listed. An uploaded statement is not proof, so nothing is booked, credited or ended; the `reconcile` command on the server does that. The same content is compared only once.',
    body: UploadStatement,
    response: { 201: Reconciliation },
    before: ({ body }) => readUpload(deps, body),
    work: async (tx, { principal }, statement) =>
      created(presentReconciliation(await reportStatement(tx, deps, principal, statement))),
  })
  routes.list('/v1/admin/reconciliation-differences', 'admin.list_differences', {
    summary: 'List reconciliation differences',
    description:
      'Returns the differences between the books and a statement, each with its likely reason and the next step. Nothing is booked automatically.',
    querystring: FindDifferences,
    response: { 200: pageOf(ReconciliationDifference) },
    read: (page, { query: { status, reconciliation_id: reconciliationId } }) =>
      listDifferences(deps.db, { reconciliationId, open: status === 'open', resolved: status === 'resolved' }, page),
    present: (rows) => rows.map(presentDifference),
  })
  routes.post('/v1/admin/reconciliation-differences/resolve', 'admin.resolve_differences', {
    refuses: ['conflict'],
    summary: 'Resolve several differences',
    description:
      'Resolves all differences with one note, as one change. If one is already resolved or does not exist, none is resolved. An `offered_outcome` cannot be accepted here. Each difference gets its own entry in the audit log.',
    body: ResolveDifferences,
    response: { 200: ReconciliationDifferences },
    work: async (tx, { principal, body }) => {
      const closed = await eachById(body.ids, (id) => resolveDifference(tx, deps.config, principal, id, body))
      return ok({ data: closed.map(presentDifference) })
    },
  })
  routes.post('/v1/admin/reconciliation-differences/:id/resolve', 'admin.resolve_difference', {
    refuses: ['insufficient_funds', 'separation_of_duties', 'conflict'],
    summary: 'Resolve a difference',
    description:
      'Records how a person explained or corrected the difference. With `accept`, the payment ends as the statement shows. Otherwise no account’s money moves, and a line that was offered as a payment goes to suspense.',
    params: byId('reconciliation'),
    body: ResolveDifference,
    response: { 200: ReconciliationDifference, 202: ReconciliationDifference },
    work: async (tx, { principal, params, body }) => {
      const difference = await resolveDifference(tx, deps.config, principal, params.id, body)
      return (difference.resolvedAt === null ? accepted : ok)(presentDifference(difference))
    },
  })
}
