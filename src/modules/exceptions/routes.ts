import type { Db } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { accepted, created, ok } from '../../http/idempotency.ts'
import { filtersOf, PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { existing, only } from '../../lib/lists.ts'
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
import {
  listDifferences,
  listReconciliations,
  presentDifference,
  presentReconciliation,
  resolveDifference,
} from './reconciliation/differences.ts'
import { listMovements, nameMovement, presentMovement } from './reconciliation/movements-service.ts'
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
  const nameOf = await nameBalances(
    db,
    payments.map(({ accountId }) => accountId),
  )
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
  const routes = routesOf(app, deps)
  routes.list('/v1/admin/payments', 'admin.list_payments', {
    access: 'admin',
    summary: 'Find payments that need a person',
    description:
      'With `status=unknown`: those whose outcome the rail has not reported. With `provider_receipt`: the payment of any workspace that a provider knows by it.',
    querystring: FindPayments,
    response: { 200: pageOf(AdminPayment) },
    read: (page, { query }) => listAllPayments(deps.db, query, page),
    present: async (rows) => {
      const unknown = rows.flatMap(({ id, status }) => (status === 'unknown' ? [id] : []))
      const [waiting, attempts] = await Promise.all([
        waitingOfPayments(
          deps.db,
          rows.map(({ id }) => id),
        ),
        unknown.length === 0 ? [] : attemptsOf(deps.db, unknown),
      ])
      const views = await viewForAdmin(deps.db, rows, (id) => waiting.get(id) ?? null)
      return rows.map((row, index) => ({
        ...withoutTrace(existing(views[index], 'every payment has its view')),
        ...(row.status === 'unknown' && {
          outcome_check: presentCheck(attempts.filter(({ subjectId }) => subjectId === row.id)),
        }),
      }))
    },
  })
  routes.post('/v1/admin/payments/:id/resolve', 'admin.resolve_payment', {
    access: 'admin',
    refuses: ['insufficient_funds', 'separation_of_duties', 'conflict'],
    summary: 'Resolve an unknown payment',
    description:
      'With evidence from the provider that a person has read: posts the payment, or releases the hold. Without evidence leave it `unknown`.\n\nEnds a payment that is `unknown`, or books a late success, with evidence that a person has read at the provider. `failed` and `written_off` cost the organisation: they count as adjustments, and above the daily sum of one administrator the answer is 202, with the adjustment that waits until a second administrator sends the same outcome. `failed` only after the rail was asked and its time to answer has passed.',
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
    access: 'admin',
    idempotent: true,
    refuses: ['insufficient_funds', 'separation_of_duties'],
    summary: 'Request a correction of a balance',
    description:
      'A ledger adjustment with its reason. Above an amount a second administrator must confirm it. An administrator never adjusts their own account, or the balance of a workspace that they belong to.',
    body: CreateAdjustment,
    response: { 201: Adjustment },
    work: async (tx, { principal, body }) =>
      created(only(await viewAdjustments(tx, [await createAdjustment(tx, deps.config, principal, body)]))),
  })
  routes.list('/v1/admin/adjustments', 'admin.list_adjustments', {
    access: 'admin',
    summary: 'List adjustments',
    description: 'Those that were posted, and those that wait for a second administrator.',
    querystring: FindAdjustments,
    response: { 200: pageOf(Adjustment) },
    read: (page, { query }) => listAdjustments(deps.db, filtersOf(query), page),
    present: (rows) => viewAdjustments(deps.db, rows),
  })
  routes.get('/v1/admin/adjustments/:id', 'admin.get_adjustment', {
    access: 'admin',
    summary: 'Read an adjustment',
    description: 'Who created it, why, and who decided.',
    params: byId('ledger'),
    response: { 200: Adjustment },
    read: async ({ params }) => only(await viewAdjustments(deps.db, [found(await findAdjustment(deps.db, { id: params.id }))])),
  })
  const decideRefuses = ['insufficient_funds', 'separation_of_duties', 'conflict'] as const
  routes.post('/v1/admin/adjustments/:id/confirm', 'admin.confirm_adjustment', {
    access: 'admin',
    refuses: decideRefuses,
    summary: 'Confirm an adjustment',
    description: 'Posts it. Only another administrator than the one who created it can.',
    params: byId('ledger'),
    response: { 200: Adjustment },
    work: async (tx, { principal, params }) =>
      ok(only(await viewAdjustments(tx, [await confirmAdjustment(tx, principal, params.id)]))),
  })
  routes.post('/v1/admin/adjustments/:id/reject', 'admin.reject_adjustment', {
    access: 'admin',
    refuses: decideRefuses,
    summary: 'Reject an adjustment',
    description: 'Nothing moves. The reason is for the audit log.',
    params: byId('ledger'),
    body: RejectAdjustment,
    response: { 200: Adjustment },
    work: async (tx, { principal, params, body }) =>
      ok(only(await viewAdjustments(tx, [await rejectAdjustment(tx, principal, params.id, body.reason)]))),
  })
}

const bodyLimitBytes = 1024 * 1024

const registerMovements = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/admin/provider-movements', 'admin.list_movements', {
    access: 'admin',
    summary: "List movements of the organisation's own money",
    description: 'Settlements of charges, transfers to and from the bank, and other charges that a person has named.',
    querystring: PageQuery,
    response: { 200: pageOf(ProviderMovement) },
    read: (page) => listMovements(deps.db, page),
    present: (rows) => rows.map(presentMovement),
  })
  routes.post('/v1/admin/provider-movements', 'admin.name_movement', {
    access: 'admin',
    idempotent: true,
    summary: "Name a movement of the organisation's own money",
    description:
      'A settlement of charges, a transfer to or from the bank, or another charge: each is named once, and books nothing. The next comparison of balances expects it. If the money moved before the last comparison, it explains the open `balance_differs` of that time, which is closed when its amount is explained. A receipt that is booked already is 409: resolve its item in suspense as explained first.',
    body: NameMovement,
    response: { 201: ProviderMovement },
    work: async (tx, { principal, body }) => created(presentMovement(await nameMovement(tx, principal, body))),
  })
}

export const registerReconciliation = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  registerMovements(app, deps)
  routes.list('/v1/admin/reconciliations', 'admin.list_reconciliations', {
    access: 'admin',
    summary: 'List reconciliations',
    description: 'Every comparison of the books with a statement of a provider, with how much matched.',
    querystring: PageQuery,
    response: { 200: pageOf(Reconciliation) },
    read: (page) => listReconciliations(deps.db, page),
    present: (rows) => rows.map(presentReconciliation),
  })
  routes.post('/v1/admin/reconciliations', 'admin.upload_statement', {
    access: 'admin',
    idempotent: true,
    bodyLimit: bodyLimitBytes,
    summary: 'Compare a statement with the books',
    description:
      'For a statement that a person has exported from a provider: the answer says how much matched, and the differences are listed. It proves nothing, so nothing is booked, credited or ended by it; the command `reconcile` on the server does that. The same content is compared once.',
    body: UploadStatement,
    response: { 201: Reconciliation },
    before: ({ body }) => readUpload(deps, body),
    work: async (tx, { principal }, statement) =>
      created(presentReconciliation(await reportStatement(tx, deps, principal, statement))),
  })
  routes.list('/v1/admin/reconciliation-differences', 'admin.list_differences', {
    access: 'admin',
    summary: 'List differences with statements',
    description:
      'The differences between the books and a statement, each with its likely reason and what to do. Nothing is booked automatically.',
    querystring: FindDifferences,
    response: { 200: pageOf(ReconciliationDifference) },
    read: (page, { query: { status, reconciliation_id: reconciliationId } }) =>
      listDifferences(deps.db, { reconciliationId, open: status === 'open', resolved: status === 'resolved' }, page),
    present: (rows) => rows.map(presentDifference),
  })
  routes.post('/v1/admin/reconciliation-differences/resolve', 'admin.resolve_differences', {
    access: 'admin',
    refuses: ['conflict'],
    summary: 'Close several differences',
    description:
      'One note for all of them, as one change: if one is resolved already or does not exist, none is closed. An `offered_outcome` is not accepted here. Each difference has its own row in the audit log.',
    body: ResolveDifferences,
    response: { 200: ReconciliationDifferences },
    work: async (tx, { principal, body }) => {
      const closed = await eachById(body.ids, (id) => resolveDifference(tx, deps.config, principal, id, body))
      return ok({ data: closed.map(presentDifference) })
    },
  })
  routes.post('/v1/admin/reconciliation-differences/:id/resolve', 'admin.resolve_difference', {
    access: 'admin',
    refuses: ['insufficient_funds', 'separation_of_duties', 'conflict'],
    summary: 'Close a difference with a statement',
    description:
      'Records how a person has explained or corrected it. With `accept` it ends the payment as the statement shows; otherwise it moves no money of an account, and a line that was offered as a payment goes to suspense.',
    params: byId('reconciliation'),
    body: ResolveDifference,
    response: { 200: ReconciliationDifference, 202: ReconciliationDifference },
    work: async (tx, { principal, params, body }) => {
      const difference = await resolveDifference(tx, deps.config, principal, params.id, body)
      return (difference.resolvedAt === null ? accepted : ok)(presentDifference(difference))
    },
  })
}
