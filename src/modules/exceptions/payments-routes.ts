import type { App } from '../../http/app-type.ts'
import { accepted, ok } from '../../http/idempotency.ts'
import { pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { attemptsOf } from '../attempts/queries.ts'
import type { Parts } from '../parts.ts'
import { presentCheck, presentPayment } from '../payments/present.ts'
import type { PaymentRecord } from '../payments/queries.ts'
import { AdminPayment, FindPayments, ResolvePayment } from '../payments/schema.ts'
import { withoutTrace } from '../policies/present.ts'
import { waitingOfPayments } from '../suspense/queries.ts'
import { listAllPayments, resolvePayment } from './resolve-payment.ts'

const present = (payment: PaymentRecord, waitingId: Uuid | null) => ({
  ...presentPayment(payment),
  waiting_adjustment_id: waitingId && formatId('ledger', waitingId),
  account_id: formatId('account', payment.accountId),
  late_success_resolution: payment.lateSuccessResolution,
})

export const registerAdminPayments = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/admin/payments', {
    config: { operation: 'admin.list_payments', access: 'admin' },
    schema: {
      summary: 'Find payments that need a person',
      description: 'With `status=unknown`: those whose outcome the rail has not reported.',
      querystring: FindPayments,
      response: { 200: pageOf(AdminPayment) },
    },
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
      return rows.map((row) => ({
        ...withoutTrace(present(row, waiting.get(row.id) ?? null)),
        ...(row.status === 'unknown' && {
          outcome_check: presentCheck(attempts.filter(({ subjectId }) => subjectId === row.id)),
        }),
      }))
    },
  })
  routes.post('/v1/admin/payments/:id/resolve', {
    config: {
      operation: 'admin.resolve_payment',
      access: 'admin',
      refuses: ['insufficient_funds', 'separation_of_duties', 'conflict'],
    },
    schema: {
      summary: 'Resolve an unknown payment',
      description:
        'With evidence from the provider that a person has read: posts the payment, or releases the hold. Without evidence leave it `unknown`.\n\nEnds a payment that is `unknown`, or books a late success, with evidence that a person has read at the provider. `failed` and `written_off` cost the organisation: they count as adjustments, and above the daily sum of one administrator the answer is 202, with the adjustment that waits until a second administrator sends the same outcome. `failed` only after the rail was asked and its time to answer has passed.',
      params: byId('payment'),
      body: ResolvePayment,
      response: { 200: AdminPayment, 202: AdminPayment },
    },
    work: async (tx, request) => {
      const { payment, waitingId } = await resolvePayment(tx, deps.config, request.principal, request.params.id, request.body)
      const body = present(payment, waitingId)
      return waitingId === null ? ok(body) : accepted(body)
    },
  })
}
