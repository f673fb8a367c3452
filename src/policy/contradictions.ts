import type { FieldError } from '../lib/errors.ts'
import type { Minor } from '../lib/money.ts'
import type { Limits } from './types.ts'

const atMost = (path: string, smaller: Minor | null, than: string, larger: Minor | null): FieldError[] =>
  smaller !== null && larger !== null && smaller > larger ? [{ path, message: `must not be more than ${than}` }] : []

/**
 * Rules that contradict each other, by their wire names; `under` is the path of the object that contains them.
 * A threshold that no permitted payment reaches is allowed: it applies once the limit is raised.
 */
export const contradictions = (rules: Limits & { requiredApprovalCount?: number }, under = ''): FieldError[] => {
  const { perPaymentLimitMinor: perPayment, dailyLimitMinor: daily, monthlyLimitMinor: monthly } = rules
  const problems = [
    ...atMost(`${under}per_payment_limit_minor`, perPayment, 'daily_limit_minor', daily),
    ...atMost(`${under}daily_limit_minor`, daily, 'monthly_limit_minor', monthly),
    // With a daily limit between them, one of the pairs above covers this.
    ...(daily === null ? atMost(`${under}per_payment_limit_minor`, perPayment, 'monthly_limit_minor', monthly) : []),
  ]
  if (rules.approvalThresholdMinor !== null && rules.requiredApprovalCount === 0)
    problems.push({ path: `${under}required_approval_count`, message: 'must be at least 1 when approval_threshold_minor is set' })
  return problems
}

type Controls = Limits & { paymentTypes: readonly string[] | null; beneficiaryIds: readonly string[] | null }

/** The same for a grant's spending controls. Their lists name what is allowed, so an empty one would allow nothing and is refused. */
export const controlContradictions = (controls: Controls, under = ''): FieldError[] => {
  const message = 'must name at least one, or be left out to allow all'
  return [
    ...contradictions(controls, under),
    ...(controls.paymentTypes?.length === 0 ? [{ path: `${under}payment_types`, message }] : []),
    ...(controls.beneficiaryIds?.length === 0 ? [{ path: `${under}beneficiary_ids`, message }] : []),
  ]
}
