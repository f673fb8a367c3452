import { eq } from 'drizzle-orm'
import { createdBetween, newestFirst, ofLineage, ownedBy } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { grants } from '../../../db/tables/grants.ts'
import { paymentRefusals } from '../../../db/tables/payment-refusals.ts'
import { presenter } from '../../../http/presenter.ts'
import { presentCreator } from '../../present-creator.ts'
import { RefusedPayment } from './schema.ts'

export type RefusalRow = typeof paymentRefusals.$inferSelect
type Payee = Pick<typeof beneficiaries.$inferSelect, 'displayName' | 'destinationMask'>
export type RefusalRecord = { refusal: RefusalRow; payee: Payee | null; label: string | null }

/** `within`: the grant of a delegated reader, who sees only requests of this grant and its descendants. */
export const refusalList = prepare(
  'payment_refusals.list',
  {
    workspaceId: 'uuid',
    within: 'uuid?',
    beneficiaryId: 'uuid?',
    grantId: 'uuid?',
    initiatorAccountId: 'uuid?',
    createdAfter: 'timestamptz?',
    createdBefore: 'timestamptz?',
    before: 'uuid?',
    take: 'rows',
  },
  'page',
  (orm, param) =>
    newestFirst(
      orm
        .select({
          refusal: paymentRefusals,
          payee: { displayName: beneficiaries.displayName, destinationMask: beneficiaries.destinationMask },
          label: grants.label,
        })
        .from(paymentRefusals)
        .leftJoin(beneficiaries, eq(beneficiaries.id, paymentRefusals.beneficiaryId))
        .leftJoin(grants, eq(grants.id, paymentRefusals.grantId)),
      { owner: paymentRefusals.workspaceId, id: paymentRefusals.id },
      param,
      ownedBy(paymentRefusals.workspaceId, param.workspaceId),
      param.within && ofLineage(paymentRefusals.grantId, param.within),
      param.beneficiaryId && eq(paymentRefusals.beneficiaryId, param.beneficiaryId),
      param.grantId && eq(paymentRefusals.grantId, param.grantId),
      param.initiatorAccountId && eq(paymentRefusals.initiatorAccountId, param.initiatorAccountId),
      createdBetween(
        {
          id: paymentRefusals.id,
          at: paymentRefusals.createdAt,
          owner: { column: paymentRefusals.workspaceId, id: param.workspaceId },
        },
        param.createdAfter,
        param.createdBefore,
      ),
    ),
)

const shown = presenter(RefusedPayment)
const shownPayee = presenter(RefusedPayment.shape.beneficiary.unwrap())

export const presentRefusal = ({ refusal, payee, label }: RefusalRecord, currency: string): RefusedPayment =>
  shown(refusal, {
    initiated_by: presentCreator({ accountId: refusal.initiatorAccountId, grantId: refusal.grantId, label }),
    beneficiary: refusal.beneficiaryId && payee ? shownPayee({ ...payee, id: refusal.beneficiaryId }) : null,
    currency,
    // Stored in the API's form.
    decision: refusal.decision as RefusedPayment['decision'],
  })
