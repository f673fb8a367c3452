import { grantIsActive } from '../db/credential-life.ts'
import { namesSql } from '../db/tables/columns.ts'
import { balanceAccountSql } from '../db/tables/workspaces.ts'
import type { StateOf } from '../db/transitions.ts'
import { referenceKeySql } from '../lib/account-reference.ts'
import { decidingRoles, type Role, requestingRoles } from './permissions.ts'

/** Whether wallet `address` is currently linked to the account. A contract wallet's address begins with its chain. */
export const walletIsLinked = (account: string, address: string): string =>
  `exists (select from identities i where i.provider = 'wallet' and i.account_id = ${account} and i.subject_key = lower(${address}))`

// Selects single values, because Postgres may plan many `exists` as one full scan of the table.
const statusOf = (account: string): string => `(select a.status from accounts a where a.id = ${account})`

/** Whether an account has a passkey or wallet to sign with. Selects single values for the reason given at `statusOf`. */
export const canSign = (account: string): string =>
  `coalesce((select true from passkeys k where k.account_id = ${account} limit 1),
     (select true from identities i where i.account_id = ${account} and i.provider = 'wallet' limit 1), false)`

const isMember = (account: string, workspace: string, roles: readonly Role[]): string =>
  `coalesce((select m.status = 'active' and m.role in ${namesSql(roles)} from members m
     where m.account_id = ${account} and m.workspace_id = ${workspace}), false)`

export const hasDecidingRole = (account: string, workspace: string): string => isMember(account, workspace, decidingRoles)

const mayDecide = (account: string, workspace: string): string =>
  `(${hasDecidingRole(account, workspace)} and ${statusOf(account)} = 'active')`

/**
 * Whether policy or approval `rule` requires a second person. Loosening such a rule requires approval under the rule itself,
 * decided only by accounts that count under it (`countsUnder`).
 */
export const requiresSecondPerson = (rule: string, count: 'required_approval_count' | 'required_approvals'): string =>
  `(${rule}.${count} > 1 or ${rule}.separation_of_duties or ${rule}.approval_proof = 'signature')`

/** Since when member `m` has continuously had a role that decides (or requests) payments. If unrecorded: since joining. */
export const roleSince = (m: string, act: 'deciding' | 'requesting' = 'deciding'): string =>
  `coalesce(${m}.${act}_since, ${m}.created_at)`

/**
 * The ids of the `rules` under which member `m` of workspace `w` does not count as a second person at a given time. Otherwise a
 * person could add or promote a second account of their own and approve their own payments at once. The owning account always
 * counts. Any other account counts if its role began before the policy that requires two people, or at least 24 hours ago.
 */
export const rulesExcluding = (m: string, w: string, rules: string, at: string, since = roleSince(m)): string =>
  `(select rule.id from ${rules} as rule where ${m}.account_id <> ${w}.owning_account_id and ${since} > ${at} - interval '24 hours'
     and rule.workspace_id = ${w}.id and rule.archived_at is null
     and ${requiresSecondPerson('rule', 'required_approval_count')} and rule.created_at < ${since})`

export const countsUnder = (m: string, w: string, rules: string, at: string, since = roleSince(m)): string =>
  `(not exists ${rulesExcluding(m, w, rules, at, since)})`

/**
 * All grants from which a grant in `seeds` (an SQL query of ids) derives: its ancestors, and the grant behind its session.
 * `offset 0` forces a lookup by id at each step: a plan cached while the table was small would scan the table each time.
 */
export const originsOf = (name: string, seeds: string): string =>
  `${name}(id) as (
     ${seeds}
     union
     select above from ${name} cross join lateral (select * from grants where grants.id = ${name}.id offset 0) as g
       cross join lateral unnest(g.ancestor_ids || g.derived_from_grant_id) as above
     where above is not null)`

/** Whether a grant in `one` and a grant in `other` (SQL queries of ids) derive from the same grant. */
export const sharesOrigin = (one: string, other: string): string =>
  `(with recursive ${originsOf('one', one)}, ${originsOf('other', other)}
     select exists (select from one join other using (id)))`

/** Whether grant `row`, or one from which it comes, is frozen. Most grants come from no other, and read nothing more. */
export const grantIsFrozen = (row: string): string =>
  `(${row}.revoked_at is null and (${row}.frozen_at is not null
     or (cardinality(${row}.ancestor_ids) > 0 or ${row}.derived_from_grant_id is not null) and exists (
     with recursive ${originsOf('origin', `(select ${row}.id)`)}
     select from origin join grants above on above.id = origin.id where above.frozen_at is not null)))`

/**
 * The grant that linked identity `i`, unless it was revoked. Revoking a grant unlinks its identities, except an account's last
 * one, which belongs to the person from then on.
 */
export const linkerOf = (i: string): string =>
  `(select linker.id from grants linker where linker.id = ${i}.linked_by_grant_id and linker.revoked_at is null)`

/**
 * The grant behind payment `p`: the requester's own, or the grant that linked the sign-in method of the requester's session.
 * The second is stored only if the payment is scheduled or needs approval. `ofApproval`: the column of a joined approval.
 */
export const grantBehind = (
  p: string,
  ofApproval = `(select a.initiating_grant_id from approvals a where a.id = ${p}.approval_id)`,
): string => `coalesce(${p}.grant_id, ${p}.origin_grant_id, ${ofApproval})`

/** Whether the requester of payment `p` may still request it at `at`. A frozen requester may, because a freeze is temporary. */
export const mayStillRequest = (p: string, at: string): string =>
  `(${isMember(`${p}.initiator_account_id`, `${p}.workspace_id`, requestingRoles)}
     and ${statusOf(`${p}.initiator_account_id`)} <> 'closed'
     and coalesce((select ${grantIsActive('g', at)} from grants g where g.id = ${grantBehind(p)}), true))`

/** The temporary stop of account `r` that requested with grant `g`, behind which is grant `origin`. Null: none. */
export const requesterStop = (r: string, g: string, origin: string): string =>
  `case when ${r}.status <> 'active' then 'account'
     when not ${r}.payments_enabled then 'payments'
     when ${g}.kind = 'api_key' and not ${r}.api_keys_enabled then 'api_keys'
     when not ${r}.oauth_enabled and (select bool_or(x.kind = 'oauth') from grants x where x.id = any(${g}.ancestor_ids || ${g}.id)) then 'oauth'
     when (select ${grantIsFrozen('x')} from grants x where x.id = ${origin}) then 'grant'
   end`

/** Whether payment `p` waits, or has no attempt but `unsent` ones. A recorded attempt may claim the right to send at any time. */
export const isNotSent = (p: string, unsent: readonly StateOf<'attempt'>[] = ['not_sent']): string =>
  `(${p}.status in ('scheduled', 'pending_approval') or (${p}.status = 'processing'
     and not exists (select from rail_attempts t where t.subject_id = ${p}.id and t.state not in ${namesSql(unsent)})))`

/** Whether decision `d` was signed with a passkey or a wallet, or in advance by a mandate. */
export const isSigned = (d: string): string => `${d}.via <> 'credential'`

/** Whether a contract wallet signed decision `d`. Its owners can change, so only the chain knows if a signature is valid. */
export const isContractSigned = (d: string): string => `${d}.signer like 'eip155:%'`

const mandateIsRevoked = (p: string): string =>
  `coalesce((select x.status from intent_mandates x where x.id = ${p}.mandate_id), 'revoked') = 'revoked'`

/**
 * The authority that decision `d` on payment `p` has lost since it was made, as one of `voidReasons`. Null while the decision is
 * valid. Every kind of decision needs a condition here.
 */
export const lostAuthority = (d: string, p: string): string =>
  `case when not ${mayDecide(`${d}.account_id`, `${p}.workspace_id`)} then 'approver'
     when ${d}.via in ('signature', 'mandate') and not ${walletIsLinked(`${d}.account_id`, `${d}.signer`)} then 'wallet'
     when ${d}.via = 'passkey' and not exists (select from passkeys k where k.id = ${d}.passkey_id and k.account_id = ${d}.account_id) then 'passkey'
     when ${d}.via = 'mandate' and ${mandateIsRevoked(p)} then 'mandate'
   end`

/** Whether the grant that linked the wallet of payment `p`'s mandate is frozen. The mandate approves nothing meanwhile. */
const mandateIsHeld = (p: string): string =>
  `coalesce((select ${grantIsFrozen('linker')} from intent_mandates m
     join identities i on i.provider = 'wallet' and i.account_id = m.account_id and i.subject_key = lower(m.signer)
     join grants linker on linker.id = i.linked_by_grant_id where m.id = ${p}.mandate_id), false)`

/** Whether approval `d` counts for payment `p` now: it has lost no authority, for good or for the time of a freeze. */
export const isCounted = (d: string, p: string): string =>
  `(${lostAuthority(d, p)} is null and (${d}.via <> 'mandate' or not ${mandateIsHeld(p)}))`

/** Each account's latest decision on an approval, unless it was voided. A decision counts while `lostAuthority` is null. */
export const currentDecisions = (approval: string): string =>
  `(select latest.* from (
      select distinct on (account_id) * from approval_decisions where approval_id = ${approval} order by account_id, decided_at desc, id desc) as latest
    where not exists (select from approval_voids v where v.decision_id = latest.id))`

/** Whether no freeze, of the payee of payment `p`, of its paybill or of its account there, stops payment `p`. */
const payeeIsPayable = (p: string): string =>
  `(select b.archived_at is null and not exists (select from payees y where y.frozen_at is not null and y.id in (${p}.payee_id, b.payee_id, payee.paybill_id))
       and not exists (select from payees y where y.frozen_at is not null and y.paybill_id = b.payee_id and y.reference_key = ${referenceKeySql(`${p}.account_reference`)})
     from beneficiaries b join payees payee on payee.id = b.payee_id where b.id = ${p}.beneficiary_id)`

/**
 * Whether nobody has stopped payment `p` since the check before sending (`payments/recheck.ts`), after which it was recorded. Reads
 * again what a person can end or freeze, so that an acknowledged stop holds until the first byte. A frozen workspace stops no
 * payment under way.
 */
export const mayStillBeSent = (p: string, at: string): string =>
  `(${mayStillRequest(p, at)}
     and (select ${requesterStop('r', 'g', grantBehind(p))} is null
         and not exists (select from grants x where x.id = any(g.ancestor_ids) and not ${grantIsActive('x', at)})
       from accounts r left join grants g on g.id = ${p}.grant_id where r.id = ${p}.initiator_account_id)
     and (select h.status = 'active' and h.payments_enabled from workspaces w join accounts h on h.id = ${balanceAccountSql('w')} where w.id = ${p}.workspace_id)
     and ${payeeIsPayable(p)}
     and (${p}.mandate_id is null or not ${mandateIsRevoked(p)} and (${p}.approval_id is not null or not ${mandateIsHeld(p)}))
     and (${p}.approval_id is null or (select count(*) >= max(a.required_approvals) from approvals a cross join lateral ${currentDecisions('a.id')} as d
       where a.id = ${p}.approval_id and d.decision = 'approve' and (a.approval_proof <> 'signature' or ${isSigned('d')}) and ${isCounted('d', p)})))`
