import { lockNames } from '../db/account-lock.ts'
import { type Statement, statement, type Tx } from '../db/client.ts'
import { grantIsActive, keyIsActive } from '../db/credential-life.ts'
import { conflict } from '../lib/errors.ts'
import type { Uuid } from '../lib/ids.ts'

/** `timed`: the query counts only rows that are active at the transaction's time. */
type Bound = { max: number; count: Statement; sentence: string; timed?: true }

/** Maximum numbers of rows per account or workspace. Lowering a bound removes no rows. A count stops at the bound. */
const bounds = {
  workspaces: {
    max: 20,
    count: statement('bounds.workspaces')`
  select count(*)::int as count from (select from workspaces w
       where w.owning_account_id = $1 and w.kind = 'team' and w.closed_at is null limit $2) counted`,
    sentence: 'An account owns at most 20 team workspaces.',
  },
  members: {
    max: 200,
    count: statement('bounds.members')`
  select count(*)::int as count from (select from members m where m.workspace_id = $1 union all select from invitations i
       where i.workspace_id = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > $3 limit $2) counted`,
    timed: true,
    sentence: 'A workspace has at most 200 members and open invitations: remove or revoke one first.',
  },
  rootKeys: {
    max: 200,
    count: statement('bounds.root_keys')`
  with active as materialized (select k.grant_id from api_keys k where k.account_id = $1 and ${keyIsActive('k', '$3')}),
    roots as materialized (select g.id from grants g where g.id = any(array(select grant_id from active)) and g.parent_grant_id is null)
  select count(*)::int as count from (select from active where grant_id in (select id from roots) limit $2) counted`,
    timed: true,
    sentence: 'An account has at most 200 active API keys that no other key made: revoke one first.',
  },
  keysOfGrant: {
    max: 100,
    count: statement('bounds.keys_of_grant')`
  select count(*)::int as count from (select from api_keys k where k.grant_id = $1 and ${keyIsActive('k', '$3')} limit $2) counted`,
    timed: true,
    sentence: 'At most 100 keys of one grant can be active at once: rotate without an overlap, or wait until an overlap ends.',
  },
  /** Limits and requests are counted at the root. A grant has several active keys while a rotated key overlaps its successor. */
  belowRoot: {
    max: 100,
    count: statement('bounds.below_root')`
  select count(*)::int as count from (select from grants g left join api_keys k on k.grant_id = g.id and ${keyIsActive('k', '$3')}
       where g.ancestor_ids[1] = $1 and ${grantIsActive('g', '$3')} limit $2) counted`,
    timed: true,
    sentence: 'At most 100 active keys and agents can be below one key: revoke some first.',
  },
  identities: {
    max: 50,
    count: statement('bounds.identities')`
  select count(*)::int as count from (select from identities i where i.account_id = $1 limit $2) counted`,
    sentence: 'An account has at most 50 sign-in methods: unlink one first.',
  },
  newInvitations: {
    max: 200,
    count: statement('bounds.new_invitations')`
  select count(*)::int as count from (select from invitations i
       where i.workspace_id = $1 and i.created_at > $3::timestamptz - interval '24 hours' limit $2) counted`,
    timed: true,
    sentence: 'A workspace sends at most 200 invitations in 24 hours: try again later.',
  },
  /** All workspaces share the eight-digit numbers, and a number is never used again. Seven days: how long a top-up waits. */
  depositCodes: {
    max: 10_000,
    count: statement('bounds.deposit_codes')`
  select count(*)::int as count from (select from topups t where t.workspace_id = $1
       and t.id >= first_id_at($3::timestamptz - interval '7 days') and t.deposit_code is not null limit $2) counted`,
    timed: true,
    sentence:
      'A workspace gets at most 10,000 numbers for deposits in 7 days: use an earlier one again, because each stays valid.',
  },
  beneficiaries: {
    max: 50_000,
    count: statement('bounds.beneficiaries')`
  select count(*)::int as count from (select from beneficiaries b
       where b.workspace_id = $1 and b.archived_at is null limit $2) counted`,
    sentence: 'A workspace has at most 50,000 beneficiaries: archive some first.',
  },
  /** Bounds the work for each payment, which evaluates all active policies and names the deciding ones. */
  policies: {
    max: 100,
    count: statement('bounds.policies')`
  select count(*)::int as count from (select from spending_policies p
       where p.workspace_id = $1 and p.archived_at is null limit $2) counted`,
    sentence: 'A workspace has at most 100 active policies: archive some first.',
  },
} as const satisfies Record<string, Bound>

/**
 * Throws if `added` more rows would exceed the bound. Its lock is the last in the lock order. Without it, two concurrent writes
 * would miss each other's rows.
 */
export const requireBelowBound = async (tx: Tx, name: keyof typeof bounds, owner: Uuid, added = 1): Promise<void> => {
  if (added === 0) return
  const { max, count, sentence, ...bound } = bounds[name]
  const [, [found]] = await Promise.all([
    lockNames(tx, `bound of ${name} ${owner}`),
    tx.query<{ count: number }>(count, [owner, max, ...('timed' in bound ? [tx.at] : [])]),
  ])
  if ((found?.count ?? 0) + added > max) throw conflict(sentence, 'limit_reached')
}
