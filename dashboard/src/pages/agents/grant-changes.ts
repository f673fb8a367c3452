import type { Schemas } from '../../../../client/src/route-types.ts'
import { isRecord } from '../../api/error.ts'
import { tRule } from '../../lib/rule-texts.ts'
import { compareMinor, moneyText } from '../../lib/words.ts'
import { tAgent } from './texts.ts'

type Controls = Schemas['SpendingControls']
/** Changeable state of a key or an agent, as in events and audit entries. */
export type GrantState = { label: string; frozen: boolean; spending_controls: Controls }

/** One change, with its states before and after. `by`: the account, if known. */
export type GrantChange = { id: string; at: string; by: string | null; before: GrantState | null; after: GrantState | null }

const isState = (value: unknown): value is GrantState =>
  isRecord(value) && typeof value.label === 'string' && typeof value.frozen === 'boolean' && isRecord(value.spending_controls)

const stateOf = (value: unknown): GrantState | null => (isState(value) ? value : null)

/** Changes from the audit log, which only owners and administrators can read. It names the account of each change. */
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

/** Changes from the person's own events, newest first. The state before a change is in the previous event. */
export const changesInEvents = (events: readonly Schemas['Event'][], grantId: string): GrantChange[] => {
  const own = events.filter(({ data }) => isRecord(data) && 'id' in data && data.id === grantId)
  return own.flatMap(({ id, type, created_at: at, data }, index): GrantChange[] => {
    const before = stateOf(own[index + 1]?.data)
    if (type === 'grant.revoked') return [{ id, at, by: null, before, after: null }]
    return type === 'grant.updated' && before ? [{ id, at, by: null, before, after: stateOf(data) }] : []
  })
}

type Sides = { before: Controls; after: Controls }
const limits = ['per_payment_limit', 'daily_limit', 'monthly_limit', 'total_limit', 'approval_threshold'] as const

const limitWords = (name: (typeof limits)[number], { before, after }: Sides, currency: string): string[] => {
  const [old, now] = [before[`${name}_minor`], after[`${name}_minor`]]
  if (old === now) return []
  const limit = tRule(`raise.${name}`)
  if (now === undefined) return [tAgent('change.removed', { limit })]
  const to = moneyText(now, currency)
  if (old === undefined) return [tAgent('change.set', { limit, to })]
  const key = compareMinor(now, old) > 0 ? 'change.raised' : 'change.lowered'
  return [tAgent(key, { limit, from: moneyText(old, currency), to })]
}

const others = ['payment_types', 'beneficiary_ids', 'new_payees', 'on_duplicate'] as const
const differ = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) !== JSON.stringify(b ?? null)

/** "frozen", "daily limit raised from KES 500.00 to KES 900.00". Empty if no setting that people see has changed. */
export const changeWords = ({ before, after }: GrantChange, currency: string): string[] => {
  if (!after) return [tAgent('change.revoked')]
  if (!before) return [tAgent('change.changed')]
  const sides = { before: before.spending_controls, after: after.spending_controls }
  const words = [
    ...(before.frozen === after.frozen ? [] : [tAgent(after.frozen ? 'change.frozen' : 'change.unfrozen')]),
    ...(before.label === after.label ? [] : [tAgent('change.renamed', { label: before.label })]),
    ...limits.flatMap((name) => limitWords(name, sides, currency)),
    ...(others.some((key) => differ(sides.before[key], sides.after[key])) ? [tAgent('change.others')] : []),
  ]
  // A workspace manager froze the agent in addition to the member's own freeze.
  return words.length === 0 && after.frozen ? [tAgent('change.frozen')] : words
}
