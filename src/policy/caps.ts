import type { Finding } from './finding.ts'
import type { Limits, Periods, TraceSource, Usage } from './types.ts'

/** A policy or a grant: whose limits they are, and how much of them is used. */
export type Limited = Limits & { usage: Usage }

type MakeFindings = (source: TraceSource, limited: Limited, periods: Periods) => Finding[]

export const perPaymentCap: MakeFindings = (source, { perPaymentLimitMinor: limitMinor }) =>
  limitMinor === null ? [] : [{ kind: 'cap', source, rule: 'per_payment_limit', limitMinor }]

export const dailyCap: MakeFindings = (source, { dailyLimitMinor: limitMinor, usage }, periods) =>
  limitMinor === null
    ? []
    : [{ kind: 'cap', source, rule: 'daily_limit', limitMinor, usedMinor: usage.dayMinor, resetsAt: periods.dayResetsAt }]

export const monthlyCap: MakeFindings = (source, { monthlyLimitMinor: limitMinor, usage }, periods) =>
  limitMinor === null
    ? []
    : [{ kind: 'cap', source, rule: 'monthly_limit', limitMinor, usedMinor: usage.monthMinor, resetsAt: periods.monthResetsAt }]
