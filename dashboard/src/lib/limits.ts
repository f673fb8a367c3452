import type { Schemas } from '../../../client/src/route-types.ts'

export type LimitUse = { key: string; name: string; period: string; used: string; limit: string; href: string }

type Limited = { daily_limit_minor?: string | null | undefined; monthly_limit_minor?: string | null | undefined }

const uses = (
  key: string,
  name: string,
  href: string,
  limits: Limited,
  usage: { today_minor: string; month_minor: string },
): LimitUse[] => [
  ...(limits.daily_limit_minor
    ? [{ key: `${key} day`, name, period: 'today', used: usage.today_minor, limit: limits.daily_limit_minor, href }]
    : []),
  ...(limits.monthly_limit_minor
    ? [{ key: `${key} month`, name, period: 'this month', used: usage.month_minor, limit: limits.monthly_limit_minor, href }]
    : []),
]

export const ofPolicy = (policy: Schemas['SpendingPolicy']): LimitUse[] =>
  policy.usage ? uses(policy.id, policy.name, `/policies/${policy.id}`, policy, policy.usage) : []

export const ofGrant = (grant: Schemas['Grant'], href: string): LimitUse[] =>
  grant.revoked_at === null ? uses(grant.id, grant.label, href, grant.spending_controls, grant.usage) : []
