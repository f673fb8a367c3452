import type { FieldError } from '../lib/errors.ts'
import { formatMinor, type Minor } from '../lib/money.ts'
import type { GrantRules, Limits, Usage } from './types.ts'

const atMost = (path: string, smaller: Minor | null, than: string, larger: Minor | null): FieldError[] =>
  smaller !== null && larger !== null && smaller > larger ? [{ path, message: `must not be more than ${than}` }] : []

/**
 * Finds limits that can never apply, because a wider one is smaller. A threshold above the limits is allowed: it applies once they
 * are raised. `under`: prefix of the rules' paths.
 */
export const contradictions = (rules: Limits & { requiredApprovalCount?: number }, under = ''): FieldError[] => {
  const { perPaymentLimitMinor: perPayment, dailyLimitMinor: daily, monthlyLimitMinor: monthly } = rules
  const problems = [
    ...atMost(`${under}per_payment_limit_minor`, perPayment, 'daily_limit_minor', daily),
    ...atMost(`${under}daily_limit_minor`, daily, 'monthly_limit_minor', monthly),
    // If there is a daily limit between them, one of the pairs above covers this.
    ...(daily === null ? atMost(`${under}per_payment_limit_minor`, perPayment, 'monthly_limit_minor', monthly) : []),
  ]
  if (rules.approvalThresholdMinor !== null && rules.requiredApprovalCount === 0)
    problems.push({ path: `${under}required_approval_count`, message: 'must be at least 1 when approval_threshold_minor is set' })
  return problems
}

/** For spending controls of a grant, whose lists are allow lists: an empty one would allow nothing. */
export const controlContradictions = (
  controls: Limits & Pick<GrantRules, 'beneficiaryIds' | 'paymentTypes'>,
  under = '',
): FieldError[] => {
  const message = 'must name at least one, or be left out to allow all'
  return [
    ...contradictions(controls, under),
    ...(controls.paymentTypes?.length === 0 ? [{ path: `${under}payment_types`, message }] : []),
    ...(controls.beneficiaryIds?.length === 0 ? [{ path: `${under}beneficiary_ids`, message }] : []),
  ]
}

export const presentUsage = ({ dayMinor, monthMinor, totalMinor }: Usage) => ({
  today_minor: formatMinor(dayMinor),
  month_minor: formatMinor(monthMinor),
  total_minor: formatMinor(totalMinor),
})

/** Amounts that may still be spent under all limits together. Null: unlimited. */
export type Headroom = {
  perPaymentMinor: Minor | null
  todayMinor: Minor | null
  monthMinor: Minor | null
  totalMinor: Minor | null
}

/** The smallest amount; null without a limit. Never below 0, although usage may exceed a lowered limit. */
const least = (amounts: readonly (Minor | null)[]): Minor | null => {
  const [smallest] = amounts.filter((amount) => amount !== null).sort((a, b) => (a < b ? -1 : 1))
  return smallest === undefined ? null : smallest < 0n ? 0n : smallest
}

const left = (limit: Minor | null, used: Minor): Minor | null => (limit === null ? null : limit - used)

export const headroomOf = (limits: readonly (Omit<Limits, 'approvalThresholdMinor'> & { usage: Usage })[]): Headroom => ({
  perPaymentMinor: least(limits.map((rule) => rule.perPaymentLimitMinor)),
  todayMinor: least(limits.map((rule) => left(rule.dailyLimitMinor, rule.usage.dayMinor))),
  monthMinor: least(limits.map((rule) => left(rule.monthlyLimitMinor, rule.usage.monthMinor))),
  totalMinor: least(limits.map((rule) => left(rule.totalLimitMinor, rule.usage.totalMinor))),
})

export const lowestApprovalThreshold = (limits: readonly Pick<Limits, 'approvalThresholdMinor'>[]): Minor | null =>
  least(limits.map((rule) => rule.approvalThresholdMinor))
