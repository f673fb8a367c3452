import { decidingRoles } from '../../../auth/permissions.ts'
import type { Db } from '../../../db/client.ts'
import { referenceKey, takesAnyReference } from '../../../lib/account-reference.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { RailName } from '../../../lib/rail-names.ts'
import type { ZoneSchedule } from '../../../policy/calendar.ts'
import type { Charge, GrantRules, PayeeFacts, Periods, PolicyRules, UnapprovedAmount } from '../../../policy/types.ts'
import type { AccountRecord } from '../../identity/accounts/queries.ts'
import { readStateRow } from './state-query.ts'

export type WorkspaceState = ZoneSchedule & {
  id: Uuid
  balanceAccountId: Uuid
  owningAccountId: Uuid
  kind: 'personal' | 'team'
  name: string
  createdAt: Date
  frozen: boolean
  closed: boolean
  approvers: readonly ApproverState[]
}
/** `canSign`: false if no policy that may apply requires signatures. `notUnder`: policies under which it does not count yet. */
type ApproverState = { id: Uuid; canSign: boolean; notUnder: readonly Uuid[] }
export type BeneficiaryState = {
  id: Uuid
  workspaceId: Uuid
  payeeId: Uuid
  /** For an account at a paybill, the paybill's payee; otherwise the payee itself. */
  familyId: Uuid
  displayName: string
  rail: RailName
  destinationMask: string
  accountReferenceRequired: boolean
  accountReference: string | null
  takesAnyReference: boolean
  archived: boolean
  frozen: boolean
  payee: Omit<PayeeFacts, 'typicalAmountMinor'>
  /** Every beneficiary with the same payee, this one included. */
  payeeBeneficiaryIds: readonly Uuid[]
  /** Beneficiaries of the paybill, if the payee is an account at one. */
  paybillBeneficiaryIds: readonly Uuid[]
  /** Payees of the requested accounts at this paybill. */
  accounts: readonly AccountState[]
}
type AccountState = { referenceKey: string; payeeId: Uuid; frozen: boolean; beneficiaryIds: Uuid[] }
export type GrantState = Omit<GrantRules, 'usage'> & { ended: boolean; depth: number }
type PolicyState = Omit<PolicyRules, 'usage'> & { workspaceId: Uuid }

/** The state that decisions depend on, read after the locks. Each accepted payment adds to `usage` and `unapproved`. */
export type LockedState = {
  /** The accounts of the workspaces' balances. */
  holders: ReadonlyMap<Uuid, AccountRecord>
  workspaces: ReadonlyMap<Uuid, WorkspaceState>
  beneficiaries: ReadonlyMap<Uuid, BeneficiaryState>
  grants: ReadonlyMap<Uuid, GrantState>
  /** The policies that may apply to a payment to one of the beneficiaries. */
  policies: ReadonlyMap<Uuid, readonly PolicyState[]>
  usage: Map<string, Minor>
  /** Paid amounts by `familyDay` and number of approvals, for approval thresholds. Empty if no threshold may apply. */
  unapproved: Map<string, readonly UnapprovedAmount[]>
  /** The first local date of each day and month whose usage was read. */
  periodStarts: ReadonlySet<string>
}

/** `familyId`: the payee or, for an account at a paybill, the paybill's payee. */
export const familyDay = (familyId: Uuid, day: string): string => `${familyId} ${day}`

export const usageKey = (subjectId: Uuid, period: string, start: string | null): string => `${subjectId} ${period} ${start}`

export const addUsage = ({ usage }: LockedState, charges: readonly Charge[], amountMinor: Minor): void => {
  for (const { subjectId, period, periodStart } of charges) {
    const key = usageKey(subjectId, period, periodStart)
    usage.set(key, (usage.get(key) ?? 0n) + amountMinor)
  }
}

type StateRow = {
  workspaces: WorkspaceState[]
  holders: AccountRecord[]
  beneficiaries: Omit<BeneficiaryState, 'takesAnyReference'>[]
  grants: GrantState[]
  policies: PolicyState[]
  usage: { subjectId: Uuid; period: string; periodStart: string; usedMinor: Minor }[]
  unapproved: (UnapprovedAmount & { familyId: Uuid; day: string })[]
}

/** Converts JSON strings to amounts and times in place. Name endings select them, because a list of names could miss a column. */
const parseMoneyAndTimes = (row: Record<string, unknown>): void => {
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string') {
      if (name.endsWith('Minor')) row[name] = BigInt(value)
      else if (name === 'at' || /(At|Since|ZoneFrom)$/.test(name)) row[name] = new Date(value)
    } else if (Array.isArray(value)) {
      if (typeof value[0] === 'object') for (const each of value) parseMoneyAndTimes(each)
    } else if (typeof value === 'object' && value !== null) parseMoneyAndTimes(value as Record<string, unknown>)
  }
}

const unique = (items: readonly string[]): string[] => [...new Set(items)]

const byId = <Value extends { id: Uuid }>(rows: readonly Value[]): Map<Uuid, Value> =>
  new Map(rows.map((value) => [value.id, value]))

/** Adds the counters of all owning accounts that paid for a subject. */
const usageOf = (rows: StateRow['usage']): LockedState['usage'] => {
  const usage: LockedState['usage'] = new Map()
  for (const { subjectId, period, periodStart, usedMinor } of rows) {
    const key = usageKey(subjectId, period, period === 'total' ? null : periodStart)
    usage.set(key, (usage.get(key) ?? 0n) + usedMinor)
  }
  return usage
}

const unapprovedOf = (rows: StateRow['unapproved']): LockedState['unapproved'] => {
  const grouped = Map.groupBy(rows, ({ familyId, day }) => familyDay(familyId, day))
  return new Map([...grouped].map(([key, group]) => [key, group.map(({ familyId, day, ...row }) => row)]))
}

/** `accountReference`: the reference in the payment, not the beneficiary's. */
export type PaidTo = { workspaceId: Uuid; beneficiaryId: Uuid; accountReference: string | null }

export type StateQuery = {
  payments: readonly PaidTo[]
  /** The requesting grants and their ancestors. */
  grantIds: readonly Uuid[]
  periods: readonly Pick<Periods, 'day' | 'month'>[]
  /** Time of the decision. A new approver may count only after 24 hours. */
  at: Date
  /** Reads the rows that any rule needs, for a proposed policy, which is not stored. */
  includesProposedPolicy?: boolean
}

export const readState = async (db: Db, query: StateQuery): Promise<LockedState> => {
  const { payments } = query
  const periodStarts = new Set(query.periods.flatMap(({ day, month }) => [day, month]))
  const references = payments.flatMap(({ accountReference }) => (accountReference === null ? [] : referenceKey(accountReference)))
  const row = await readStateRow<StateRow>(db, {
    workspaceIds: unique(payments.map(({ workspaceId }) => workspaceId)),
    grantIds: unique(query.grantIds),
    beneficiaryIds: unique(payments.map(({ beneficiaryId }) => beneficiaryId)),
    days: [...periodStarts],
    roles: decidingRoles,
    references: unique(references),
    includesProposedPolicy: query.includesProposedPolicy ?? false,
    at: query.at,
  })
  parseMoneyAndTimes(row)
  return {
    holders: byId(row.holders),
    workspaces: byId(row.workspaces),
    beneficiaries: byId(
      row.beneficiaries.map((each) => ({ ...each, takesAnyReference: takesAnyReference({ ...each, paymentRail: each.rail }) })),
    ),
    grants: byId(row.grants),
    policies: Map.groupBy(row.policies, ({ workspaceId }) => workspaceId),
    usage: usageOf(row.usage),
    unapproved: unapprovedOf(row.unapproved),
    periodStarts,
  }
}
