import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { DuplicateAnswer } from '../../../lib/policy-answers.ts'
import type { EarlierPayment, Evaluation, MandateRules, PayeePast, PaymentFacts, Periods } from '../../../policy/types.ts'
import type { PaymentContext } from './context.ts'

/** A payment as the policy engine sees it, before it is created. */
export type RequestedPayment = PayeePast &
  Pick<Evaluation, 'listTotals'> &
  Pick<PaymentFacts, 'otherName'> & {
    workspaceId: Uuid
    initiatorAccountId: Uuid
    lineage: readonly Uuid[]
    amountMinor: Minor
    paymentType: string
    at: Date
    duplicateIsIntended: boolean
    onDuplicate: DuplicateAnswer | null
    /** How far back the service looks for a payment that looks the same where no policy says otherwise. */
    duplicateWindowSeconds: number
    /** Amounts of the rail are multiples of this. */
    unitMinor: Minor
  }

/** The input of the pure engine: numbers that the transaction has locked. */
export const evaluationOf = (
  context: PaymentContext,
  request: RequestedPayment,
  periods: Periods,
  mandate: MandateRules | null,
): Evaluation => ({
  payment: {
    amountMinor: request.amountMinor,
    paymentType: request.paymentType,
    rail: context.beneficiary.rail,
    beneficiaryId: context.beneficiary.id,
    payeeBeneficiaryIds: context.beneficiary.payeeBeneficiaryIds,
    paybillBeneficiaryIds: context.beneficiary.paybillBeneficiaryIds,
    payee: { ...context.beneficiary.payee, typicalAmountMinor: request.typicalAmountMinor },
    payeeIsFixed: !context.beneficiary.takesAnyReference,
    ...(request.otherName && { otherName: request.otherName }),
    workspaceId: request.workspaceId,
    initiatorAccountId: request.initiatorAccountId,
    grantLineage: request.lineage,
    at: request.at,
  },
  policies: context.policies,
  grants: context.grants,
  mandate,
  approvers: { eligibleAccountIds: context.approverAccountIds, signingAccountIds: context.signingAccountIds },
  periods,
  capabilities: { payments: context.owner.paymentsEnabled },
  earlier: request.earlier,
  duplicateIsIntended: request.duplicateIsIntended,
  onDuplicate: request.onDuplicate,
  unapproved: context.unapproved,
  ...(request.listTotals && { listTotals: request.listTotals }),
  unitMinor: request.unitMinor,
  duplicateWindowSeconds: request.duplicateWindowSeconds,
})

/** A repetition is meant only of the payment that it would repeat. */
export const duplicateGuard = (
  asked: { duplicate_of?: Uuid | null | undefined; on_duplicate?: DuplicateAnswer | undefined },
  earlier: EarlierPayment | null,
  /** Said for a whole batch. */
  intended?: boolean,
): Pick<RequestedPayment, 'earlier' | 'duplicateIsIntended' | 'onDuplicate'> => ({
  earlier,
  duplicateIsIntended: intended ?? (earlier !== null && asked.duplicate_of === earlier.paymentId),
  onDuplicate: asked.on_duplicate ?? null,
})
