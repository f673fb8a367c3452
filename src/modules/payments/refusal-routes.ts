import type { App } from '../../http/app-type.ts'
import { pageOf, readPage } from '../../http/pagination.ts'
import type { Deps } from './deps.ts'
import { presentRefusal } from './refusals/present.ts'
import { listRefusals } from './refusals/queries.ts'
import { ListPaymentRefusals, RefusedPayment } from './refusals/schema.ts'

export const registerPaymentRefusals = (app: App, deps: Deps): void => {
  app.get(
    '/v1/payment-refusals',
    {
      config: { operation: 'payment_refusals.list', permission: 'payment.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: { querystring: ListPaymentRefusals, response: { 200: pageOf(RefusedPayment) } },
    },
    async (request, reply) => {
      const { workspace, grant } = request.principal
      const { query } = request
      await deps.refusals.settled()
      return reply.send(
        await readPage(deps, request, {
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
        }),
      )
    },
  )
}
