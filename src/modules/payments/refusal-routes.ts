import type { App } from '../../http/app-type.ts'
import { pageOf } from '../../http/pagination.ts'
import { listsOf } from '../../http/routes.ts'
import type { Deps } from './deps.ts'
import { presentRefusal } from './refusals/present.ts'
import { listRefusals } from './refusals/queries.ts'
import { ListPaymentRefusals, RefusedPayment } from './refusals/schema.ts'

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
