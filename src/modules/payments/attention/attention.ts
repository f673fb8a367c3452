import type { Principal } from '../../../auth/principal.ts'
import { daysAfter, isoTime, lastDays } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import { effectiveTimeZone, periodsAt } from '../../../policy/calendar.ts'
import type { Deps } from '../request.ts'
import {
  type NearLimit,
  type OtherNames,
  type Refused,
  type Repeated,
  readNearLimits,
  readOtherNames,
  readRefused,
  readRepeated,
  readSpentByDay,
  readSuspended,
  readUnknown,
  type Suspended,
} from './queries.ts'
import type { Attention } from './schema.ts'

type Need = Attention['needs'][number]

const days = 30

const byOf = ({ accountId, grantId, label }: Pick<Repeated, 'accountId' | 'grantId' | 'label'>) => ({
  account_id: formatId('account', accountId),
  grant_id: grantId && formatId('grant', grantId),
  label,
})
const payeeOf = ({ id, name }: Repeated['payee']) => ({ id: formatId('beneficiary', id), display_name: name })

const ofRepeated = (row: Repeated): Need => ({
  kind: 'repeated_payments',
  count: row.count,
  beneficiary: payeeOf(row.payee),
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
    beneficiary: row.payee && payeeOf(row.payee),
    amount_minor: formatMinor(row.amountMinor),
    message: row.message,
    created_at: isoTime(row.at),
  },
})

const ofOtherNames = ({ count, payee, reportedName }: OtherNames): Need => ({
  kind: 'names_differ',
  count,
  beneficiary: payeeOf(payee),
  reported_name: reportedName,
})

const ofSuspended = ({ count, amountMinor, oldestAt }: Suspended): Need => ({
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
  const yesterday = daysAfter(at, -1)
  await deps.refusals.settled()
  const [byDay, unknown, repeated, refused, names, limits, suspense] = await Promise.all([
    readSpentByDay(db, workspace.id, dates[0] ?? ''),
    readUnknown(db, workspace.id),
    readRepeated(db, workspace.id, yesterday),
    readRefused(db, workspace.id, yesterday, grant?.id ?? null),
    permissions.has('beneficiary.read') ? readOtherNames(db, workspace.id) : null,
    permissions.has('policy.read') ? readNearLimits(db, workspace.id, periods) : [],
    isAdmin ? readSuspended(db) : null,
  ])
  return {
    currency: deps.config.CURRENCY,
    by_day: dates.map((date) => {
      const row = byDay.find((candidate) => candidate.date === date)
      return { date, count: row?.count ?? 0, amount_minor: formatMinor(row?.amountMinor ?? 0n) }
    }),
    needs: [
      ...(unknown.oldest === null
        ? []
        : [
            {
              kind: 'unknown_payments' as const,
              count: unknown.count,
              amount_minor: formatMinor(unknown.amountMinor),
              payment_id: formatId('payment', unknown.oldest),
            },
          ]),
      ...repeated.map(ofRepeated),
      ...refused.map(ofRefused),
      ...(names ? [ofOtherNames(names)] : []),
      ...limits.map(ofLimit),
      ...(suspense ? [ofSuspended(suspense)] : []),
    ],
  }
}
