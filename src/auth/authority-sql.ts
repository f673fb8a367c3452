import { namesSql } from '../db/tables/columns.ts'
import { decidingRoles, type Role, requestingRoles } from './permissions.ts'

/** Whether a wallet (its name: a contract's begins with its chain) is linked to an account now. */
export const walletIsLinked = (account: string, address: string): string =>
  `exists (select from identities i where i.provider = 'wallet' and i.account_id = ${account} and i.subject_key = lower(${address}))`

/** Whether an account has a passkey or a wallet to sign with. The reason at `statusOf` is why this selects single values. */
export const canSign = (account: string): string =>
  `coalesce((select true from passkeys k where k.account_id = ${account} limit 1),
     (select true from identities i where i.account_id = ${account} and i.provider = 'wallet' limit 1), false)`

/** Whether decision `d` was signed: with a passkey, with a wallet, or in advance with a mandate. */
export const isSigned = (d: string): string => `${d}.via <> 'credential'`

/** Whether a contract signed decision `d`. Its owners may change, so only its chain knows whether the signature is valid. */
export const isContractSigned = (d: string): string => `${d}.signer like 'eip155:%'`

const isMember = (account: string, workspace: string, roles: readonly Role[]): string =>
  `coalesce((select m.status = 'active' and m.role in ${namesSql(roles)} from members m
     where m.account_id = ${account} and m.workspace_id = ${workspace}), false)`

// Single values, not `exists`: a plan may answer many `exists` by reading all of a table once.
const statusOf = (account: string): string => `(select a.status from accounts a where a.id = ${account})`

/**
 * Whether policy or approval `rule` requires a second person. Loosening such a rule needs approval under the rule itself, and only
 * accounts that count under it (`countsUnder`) may decide.
 */
export const asksForTwo = (rule: string, count: 'required_approval_count' | 'required_approvals'): string =>
  `(${rule}.${count} > 1 or ${rule}.separation_of_duties or ${rule}.approval_proof = 'signature')`

/** Since when member `m` has had, without a break, a role to decide or request payments; if unrecorded, since it joined. */
export const roleSince = (m: string, act: 'deciding' | 'requesting' = 'deciding'): string =>
  `coalesce(${m}.${act}_since, ${m}.created_at)`

/**
 * Whether member `m` of workspace `w` counts as a second person under `rules` at a time. Without this check a person could invite
 * or raise a second account of their own, which approves their payments at once. The owning account always counts; others count
 * if their role began before each policy that asks for two, or 24 hours ago.
 */
export const countsUnder = (m: string, w: string, rules: string, at: string, since = roleSince(m)): string =>
  `(${m}.account_id = ${w}.owning_account_id or ${since} <= ${at} - interval '24 hours'
     or not exists (select from ${rules} as rule where rule.workspace_id = ${w}.id and rule.archived_at is null
       and ${asksForTwo('rule', 'required_approval_count')} and rule.created_at < ${since}))`

/** The time from which member `m` counts under all policies of workspace `w`; null: it counts now. */
export const countsFrom = (m: string, w: string): string =>
  `case when not ${countsUnder(m, w, 'spending_policies', "'-infinity'::timestamptz")} then ${roleSince(m)} + interval '24 hours' end`

export const hasDecidingRole = (account: string, workspace: string): string => isMember(account, workspace, decidingRoles)

const mayDecide = (account: string, workspace: string): string =>
  `(${hasDecidingRole(account, workspace)} and ${statusOf(account)} = 'active')`

/** Whether the requester of payment `p` may still ask for it. A freeze does not count, because it takes nothing away for good. */
export const mayStillRequest = (p: string): string =>
  `(${isMember(`${p}.initiator_account_id`, `${p}.workspace_id`, requestingRoles)}
     and ${statusOf(`${p}.initiator_account_id`)} <> 'closed'
     and (${p}.grant_id is null or (select g.revoked_at is null from grants g where g.id = ${p}.grant_id)))`

export const isNotSent = (p: string): string =>
  `(${p}.status in ('scheduled', 'pending_approval') or (${p}.status = 'processing'
     and not exists (select from rail_attempts t where t.subject_id = ${p}.id and t.state <> 'not_sent')))`

/**
 * All grants from which one of `seeds` (a query of ids) comes: grants above it, and the one that led to its session. `offset 0`
 * keeps each step a lookup by id: a plan made while the table was small would read all grants at each step.
 */
export const originsOf = (name: string, seeds: string): string =>
  `${name}(id) as (
     ${seeds}
     union
     select above from ${name} cross join lateral (select * from grants where grants.id = ${name}.id offset 0) as g
       cross join lateral unnest(g.ancestor_ids || g.derived_from_grant_id) as above
     where above is not null)`

/**
 * The authority that decision `d` on payment `p` has lost since, as one of `voidReasons`; null while it holds. Every kind of
 * decision has its condition here.
 */
export const lostBy = (d: string, p: string): string =>
  `case when not ${mayDecide(`${d}.account_id`, `${p}.workspace_id`)} then 'approver'
     when ${d}.via in ('signature', 'mandate') and not ${walletIsLinked(`${d}.account_id`, `${d}.signer`)} then 'wallet'
     when ${d}.via = 'passkey' and not exists (select from passkeys k where k.id = ${d}.passkey_id and k.account_id = ${d}.account_id) then 'passkey'
     when ${d}.via = 'mandate' and coalesce((select x.status from intent_mandates x where x.id = ${p}.mandate_id), 'revoked') = 'revoked' then 'mandate'
   end`

/** The latest decision of each account on an approval, if it was not voided. These decisions count while `lostBy` is null. */
export const currentDecisions = (approval: string): string =>
  `(select latest.* from (
      select distinct on (account_id) * from approval_decisions where approval_id = ${approval} order by account_id, decided_at desc, id desc) as latest
    where not exists (select from approval_voids v where v.decision_id = latest.id))`
