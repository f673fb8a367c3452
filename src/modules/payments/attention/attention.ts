import type { Principal } from '../../../auth/principal.ts'
import { daysAfter, isoTime, lastDays } from '../../../lib/clock.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import type { Deps } from '../request.ts'
import {
  type NearLimit,
  nearLimits,
  type OtherNames,
  otherNames,
  type Refused,
  type Repeated,
  refused,
  repeated,
  spentByDay,
  suspended,
  type Unknown,
  unknown,
} from './queries.ts'
import type { Attention } from './schema.ts'

type Need = Attention['needs'][number]

const days = 30

const byOf = ({ accountId, grantId, label }: Repeated | Refused) => ({
  account_id: formatId('account', accountId),
  grant_id: grantId && formatId('grant', grantId),
  label,
})
const payeeOf = (id: Uuid, name: string) => ({ id: formatId('beneficiary', id), display_name: name })

const ofUnknown = ({ count, amountMinor, oldest }: Unknown): Need => ({
  kind: 'unknown_payments',
  count,
  amount_minor: formatMinor(amountMinor),
  payment_id: formatId('payment', oldest),
})

const ofRepeated = (row: Repeated): Need => ({
  kind: 'repeated_payments',
  count: row.count,
  beneficiary: payeeOf(row.payeeId, row.payeeName),
  amount_minor: formatMinor(row.amountMinor),
  by: byOf(row),
  first_at: isoTime(row.firstAt),
  last_at: isoTime(row.lastAt),
})

const ofRefused = (row: Refused): Need => ({
  kind: 'refused_payments',
  count: row.count,
  by: byOf(row),
  last: {
    id: formatId('payment_refusal', row.id),
    beneficiary: row.payeeId === null ? null : payeeOf(row.payeeId, row.payeeName ?? ''),
    amount_minor: formatMinor(row.amountMinor),
    message: row.message,
    created_at: isoTime(row.at),
  },
})

const ofOtherNames = ({ count, payeeId, payeeName, reportedName }: OtherNames): Need => ({
  kind: 'names_differ',
  count,
  beneficiary: payeeOf(payeeId, payeeName),
  reported_name: reportedName,
})

const ofSuspended = ({ count, amountMinor, oldestAt }: { count: number; amountMinor: Minor; oldestAt: Date }): Need => ({
  kind: 'deposits_in_suspense',
  count,
  amount_minor: formatMinor(amountMinor),
  oldest_at: isoTime(oldestAt),
})

const ofLimit = ({ id, name, period, usedMinor, limitMinor }: NearLimit): Need => ({
  kind: 'limit_nearly_used',
  policy_id: formatId('policy', id),
  name,
  period,
  used_minor: formatMinor(usedMinor),
  limit_minor: formatMinor(limitMinor),
})

/** What happened in the last days, and what of it a person should look at: money that may be lost first, limits that only slow down last. */
export const readAttention = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db' | 'refusals'>,
  { workspace, grant, permissions, isAdmin }: Pick<Principal, 'workspace' | 'grant' | 'permissions' | 'isAdmin'>,
): Promise<Attention> => {
  const { db } = deps
  const at = deps.clock.now()
  const zone = effectiveTimeZone(workspace.zone, at)
  const periods = periodsAt(at, zone)
  const dates = lastDays(periods.day, days)
  const inWorkspace = { workspace: workspace.id }
  const recent = { ...inWorkspace, since: daysAfter(at, -1) }
  await deps.refusals.settled()
  const [byDay, uncertain, alike, refusals, names, limits, suspense] = await Promise.all([
    db.run(spentByDay, { ...inWorkspace, since: dates[0] ?? '' }),
    db.run(unknown, inWorkspace),
    db.run(repeated, recent),
    db.run(refused, { ...recent, within: grant?.id ?? null }),
    permissions.has('beneficiary.read') ? db.run(otherNames, inWorkspace) : [],
    permissions.has('policy.read') ? db.run(nearLimits, { ...inWorkspace, day: periods.day, month: periods.month }) : [],
    isAdmin ? db.run(suspended, {}) : [],
  ])
  return {
    currency: deps.config.CURRENCY,
    by_day: dates.map((date) => {
      const row = byDay.find((candidate) => candidate.date === date)
      return { date, count: row?.count ?? 0, amount_minor: formatMinor(row?.amountMinor ?? 0n) }
    }),
    needs: [
      ...uncertain.map(ofUnknown),
      ...alike.map(ofRepeated),
      ...refusals.map(ofRefused),
      ...names.map(ofOtherNames),
      ...limits.map(ofLimit),
      ...suspense.map(ofSuspended),
    ],
  }
}
