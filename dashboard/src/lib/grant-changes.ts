import type { Schemas } from '../../../client/src/route-types.ts'
import { isRecord } from '../api/error.ts'
import { compareMinor, moneyText } from './words.ts'

type Controls = Schemas['SpendingControls']
/** What can change about a key or an agent, as an event and as an entry of the audit log have it. */
export type GrantState = { label: string; frozen: boolean; spending_controls: Controls }

/** One change: who made it, where that is known, and what was before and after it. */
export type GrantChange = { id: string; at: string; by: string | null; before: GrantState | null; after: GrantState | null }

const isState = (value: unknown): value is GrantState =>
  isRecord(value) && typeof value.label === 'string' && typeof value.frozen === 'boolean' && isRecord(value.spending_controls)

const stateOf = (value: unknown): GrantState | null => (isState(value) ? value : null)

/** Of the audit log, which only owners and administrators read: it names who made each change. */
export const changesInAudit = (entries: readonly Schemas['AuditEntry'][]): GrantChange[] =>
  entries
    .filter(({ action }) => action === 'grant.update' || action === 'grant.revoke')
    .map(({ id, action, created_at: at, account_id: by, before, after }) => ({
      id,
      at,
      by,
      before: stateOf(before),
      after: action === 'grant.revoke' ? null : stateOf(after),
    }))

/** Of one's own events, newest first: each has the state after it, so the one before it tells what changed. */
export const changesInEvents = (events: readonly Schemas['Event'][], grantId: string): GrantChange[] => {
  const own = events.filter(({ data }) => isRecord(data) && 'id' in data && data.id === grantId)
  return own.flatMap(({ id, type, created_at: at, data }, index): GrantChange[] => {
    const before = stateOf(own[index + 1]?.data)
    if (type === 'grant.revoked') return [{ id, at, by: null, before, after: null }]
    return type === 'grant.updated' && before ? [{ id, at, by: null, before, after: stateOf(data) }] : []
  })
}

const limits = [
  ['per_payment_limit_minor', 'per-payment limit'],
  ['daily_limit_minor', 'daily limit'],
  ['monthly_limit_minor', 'monthly limit'],
  ['total_limit_minor', 'total limit'],
  ['approval_threshold_minor', 'amount that needs approval'],
] as const

const limitWords = (name: string, before: string | undefined, after: string | undefined, currency: string): string[] => {
  if (before === after) return []
  if (after === undefined) return [`${name} removed`]
  if (before === undefined) return [`${name} set to ${moneyText(after, currency)}`]
  const verb = compareMinor(after, before) > 0 ? 'raised' : 'lowered'
  return [`${name} ${verb} from ${moneyText(before, currency)} to ${moneyText(after, currency)}`]
}

const others = ['payment_types', 'beneficiary_ids', 'new_payees', 'on_duplicate'] as const
const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) !== JSON.stringify(b ?? null)

/** "frozen", "daily limit raised from KES 500.00 to KES 900.00". Empty where nothing that people set has changed. */
export const changeWords = ({ before, after }: GrantChange, currency: string): string[] => {
  if (!after) return ['revoked']
  if (!before) return ['changed']
  const [old, now] = [before.spending_controls, after.spending_controls]
  const words = [
    ...(before.frozen === after.frozen ? [] : [after.frozen ? 'frozen' : 'unfrozen']),
    ...(before.label === after.label ? [] : [`renamed from “${before.label}”`]),
    ...limits.flatMap(([key, name]) => limitWords(name, old[key], now[key], currency)),
    ...(others.some((key) => differ(old[key], now[key])) ? ['what it may pay, and to whom, changed'] : []),
  ]
  // By who manages the workspace, beside its own person's freeze.
  return words.length === 0 && after.frozen ? ['frozen'] : words
}
