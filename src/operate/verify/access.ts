import { currentDecisions, isSigned, lostAuthority, mayStillRequest, walletIsLinked } from '../../auth/authority-sql.ts'
import { sqlChecks } from '../../db/check.ts'
import { keyIsActive } from '../../db/credential-life.ts'
import { namesSql } from '../../db/tables/columns.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import { sealedColumns } from './sealed-columns.ts'

/** Audit log actions that move money or give permissions. */
const authorizedActions = namesSql([
  'payment.create',
  'approval.approve',
  'topup.initiate',
  'api_key.create',
  'grant.create',
  'mandate.create',
  'identity.link',
] satisfies AuditAction[])

/** The longest wait for a lock. An action that follows the end of a credential by more than this was accepted after the end. */
const maxLockWait = `interval '10 seconds'`

const endedCredentials = `select subject_id as id, min(transaction) as transaction, min(at) as at from audit_log
  where action in ('session.revoke', 'grant.revoke') group by 1`

/** Number of approvals on `a` that counted when attempt `t` of payment `p` was recorded. */
const approversWhenSent = `(
  select count(*) from (
    select distinct on (d.account_id) d.id, d.decision, d.via from approval_decisions d
    where d.approval_id = p.approval_id and d.decided_at <= t.created_at order by d.account_id, d.decided_at desc, d.id desc) as latest
  where latest.decision = 'approve' and (a.approval_proof = 'any' or ${isSigned('latest')})
    and not exists (select from approval_voids v where v.decision_id = latest.id and v.voided_at < t.created_at))`

export const accessChecks = sqlChecks({
  I5: {
    'every account has exactly one personal workspace, and every workspace has its owning account as an active owner': `
      select a.id::text as subject from accounts a
      where a.holder_of_workspace_id is null and (select count(*) from workspaces w where w.owning_account_id = a.id and w.kind = 'personal') <> 1
      union all
      select w.id::text from workspaces w where not exists (
        select from members m where m.workspace_id = w.id and m.account_id = w.owning_account_id and m.role = 'owner' and m.status = 'active')`,
    'an account that holds the balance of a team belongs only to that team, and no person can sign in to it': `
      select a.id::text as subject from accounts a
      where a.holder_of_workspace_id is not null and (
        not exists (select from workspaces w where w.id = a.holder_of_workspace_id and w.balance_account_id = a.id)
        or a.status <> 'active' or a.is_admin or a.email is not null
        or exists (select from identities i where i.account_id = a.id) or exists (select from members m where m.account_id = a.id)
        or exists (select from sessions s where s.account_id = a.id) or exists (select from grants g where g.account_id = a.id)
        or exists (select from workspaces w where w.owning_account_id = a.id))
      union all
      select w.id::text from workspaces w where w.balance_account_id is not null
        and (w.kind <> 'team' or not exists (select from accounts a where a.id = w.balance_account_id and a.holder_of_workspace_id = w.id))`,
    'descendants and API keys of a revoked grant have ended, and no former member has an active grant': `
      select g.id::text as subject from grants g
      where g.revoked_at is null and (
        exists (select from grants above where above.id = any(g.ancestor_ids) and above.revoked_at is not null)
        or not exists (select from members m where m.workspace_id = g.workspace_id and m.account_id = g.account_id))
      union all
      select k.id::text from api_keys k join grants g on g.id = k.grant_id
      where g.revoked_at is not null and ${keyIsActive('k', 'g.revoked_at')}`,
    'identities, sessions and grants that a revoked grant created have ended, except the last sign-in method of an account': `
      select 'identity ' || i.id as subject from identities i join grants g on g.id = i.linked_by_grant_id
      where g.revoked_at is not null
        and exists (select from identities o where o.account_id = i.account_id and o.id <> i.id and o.created_at < g.revoked_at)
      union all
      select 'session ' || s.id from sessions s join identities i on i.id = s.identity_id join grants g on g.id = i.linked_by_grant_id
      where g.revoked_at is not null and s.revoked_at is null and s.created_at < g.revoked_at
      union all
      select 'grant ' || d.id from grants d join grants g on g.id = d.derived_from_grant_id where g.revoked_at is not null and d.revoked_at is null
      union all
      select 'session ' || s.id from sessions s where s.identity_id is null and s.revoked_at is null
      union all
      select 'grant ' || g.id from grants g where 'account.manage' = any(g.permissions)
        and num_nonnulls(g.per_payment_limit_minor, g.daily_limit_minor, g.monthly_limit_minor, g.total_limit_minor, g.approval_threshold_minor, g.payment_types, g.beneficiary_ids) > 0`,
    'a closed account has no active session and no active grant': `
      select a.id::text as subject from accounts a
      where a.status = 'closed' and (exists (select from sessions s where s.account_id = a.id and s.revoked_at is null)
        or exists (select from grants g where g.account_id = a.id and g.revoked_at is null))`,
  },
  I7: {
    'every encrypted value has a configured key': sealedColumns
      .map(
        ({ table, column }) =>
          `select '${table} ' || id as subject from ${table} where ${column}_key_id <> all ($encryption_keys)`,
      )
      .join(' union all '),
    'every payee fingerprint has a configured secret': `
      select id::text as subject from payees where fingerprint_key_id <> all ($token_secrets)`,
  },
  I10: {
    'the nonce of every mandate is consumed': `
      select m.id::text as subject from intent_mandates m join nonces n on n.nonce = m.nonce where n.consumed_at is null`,
  },
  I15: {
    'no grant made a payment after it was revoked': `
      select p.id::text as subject from payments p join grants g on g.id = p.grant_id where g.revoked_at is not null and p.created_at > g.revoked_at`,
    // Ordered by transaction, because the lock of the frozen account gives transactions the order of their effects.
    'a frozen workspace created no payment and approved none': `
      with stopped as materialized (select distinct workspace_id from events where type = 'workspace.frozen')
      select published as subject from (
        select type, published, max(place) filter (where type = 'workspace.frozen') over earlier as stopped,
          max(place) filter (where type = 'workspace.unfrozen') over earlier as released
        from (
          select type, data->>'id' as published, workspace_id, row_number() over (partition by workspace_id order by events.transaction, events.id) as place
          from events where type in ('payment.created', 'approval.approved', 'workspace.frozen', 'workspace.unfrozen')
            and workspace_id in (select workspace_id from stopped)) as placed
        window earlier as (partition by workspace_id order by place)) as published
      where split_part(type, '.', 1) <> 'workspace' and stopped > coalesce(released, 0)`,
    'no session or grant was used after it ended': `
      with ended as (${endedCredentials})
      select a.subject_id::text as subject from ended e join audit_log a on a.credential_id = e.id
      where a.action in ${authorizedActions} and a.transaction > e.transaction and a.at > e.at + ${maxLockWait}
      union all
      select a.subject_id::text from ended e join audit_log a on a.grant_id = e.id
      where a.action in ${authorizedActions} and a.transaction > e.transaction and a.at > e.at + ${maxLockWait}`,
    'a suspended member created no grant after the suspension': `
      select made.subject_id::text as subject from members m
        join lateral (select max(transaction) as transaction from audit_log where subject_id = m.id and action = 'member.update') as suspended on true
        join grants g on g.workspace_id = m.workspace_id and g.account_id = m.account_id
        join audit_log made on made.subject_id = g.id and made.action = 'grant.create'
      where m.status = 'suspended' and made.transaction > suspended.transaction`,
    'no key or agent accepted an invitation': `
      select subject_id::text as subject from audit_log where action = 'invitation.accept' and grant_id is not null`,
    'no token was issued from a credential that had ended': `
      select 'access token ' || t.id as subject from oauth_access_tokens t join grants g on g.id = t.grant_id where t.created_at > g.revoked_at + ${maxLockWait}
      union all
      select 'dashboard token ' || t.id from dashboard_tokens t join sessions s on s.id = t.session_id where t.created_at > s.revoked_at + ${maxLockWait}
      union all
      select 'dashboard token ' || t.id from dashboard_tokens t join grants g on g.id = t.grant_id where t.created_at > g.revoked_at + ${maxLockWait}`,
  },
  // Checks a payment's authority when its send was recorded, or now if it has not been sent.
  I17: {
    'no payment was sent with fewer valid approvals than it required': `
      select t.subject_id::text as subject from rail_attempts t join payments p on p.id = t.subject_id join approvals a on a.id = p.approval_id
      where t.created_at >= $since and t.state <> 'not_sent' and ${approversWhenSent} < a.required_approvals`,
    'no payment was sent under a mandate or a grant that had ended': `
      select t.subject_id::text as subject from rail_attempts t join payments p on p.id = t.subject_id
      left join intent_mandates m on m.id = p.mandate_id left join grants g on g.id = p.grant_id
      where t.created_at >= $since and t.state <> 'not_sent' and (m.revoked_at < t.created_at or g.revoked_at < t.created_at)`,
    'a decision is voided if its approver loses eligibility before the payment is sent': `
      select d.id::text as subject from payments p cross join lateral ${currentDecisions('p.approval_id')} as d
      where p.status = 'pending_approval' and d.decision = 'approve' and ${lostAuthority('d', 'p')} is not null`,
    'a pending approval is cancelled within an hour after its requester loses the right to request it': `
      select p.id::text as subject from approvals a join payments p on p.id = a.payment_id
      where a.status = 'pending' and a.updated_at < $now - interval '1 hour' and not ${mayStillRequest('p', `($now - interval '1 hour')`)}`,
    'a mandate is active only while the wallet that signed it is linked to its account': `
      select id::text as subject from intent_mandates where status = 'active' and not ${walletIsLinked('account_id', 'signer')}`,
  },
})
