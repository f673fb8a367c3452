import { sqlCheck } from '../../db/check.ts'
import { namesSql } from '../../db/tables/columns.ts'
import type { AuditAction } from '../../events/audit-actions.ts'

/** Actions of the audit log that move money or give rights. */
const actsAfterEnd = namesSql([
  'payment.create',
  'approval.approve',
  'topup.initiate',
  'api_key.create',
  'grant.create',
  'mandate.create',
  'identity.link',
] satisfies AuditAction[])

/** The longest wait for a lock: an action later than this after an end was accepted after the end. */
const lockWait = `interval '10 seconds'`

const endedCredentials = `select subject_id as id, min(transaction) as transaction, min(at) as at from audit_log
  where action in ('session.revoke', 'grant.revoke') group by 1`

/** The order is that of transactions: the lock of the account that is stopped puts them in the order of their effects. */
export const endedAccessChecks = [
  sqlCheck(
    'I15',
    'a stopped workspace made no payment and approved none',
    `with stopped as materialized (select distinct workspace_id from events where type = 'workspace.frozen')
     select published as subject from (
       select type, published, max(place) filter (where type = 'workspace.frozen') over earlier as stopped,
         max(place) filter (where type = 'workspace.unfrozen') over earlier as released
       from (
         select type, data->>'id' as published, workspace_id, row_number() over (partition by workspace_id order by events.transaction, events.id) as place
         from events where type in ('payment.created', 'approval.approved', 'workspace.frozen', 'workspace.unfrozen')
           and workspace_id in (select workspace_id from stopped)) as placed
       window earlier as (partition by workspace_id order by place)) as published
     where split_part(type, '.', 1) <> 'workspace' and stopped > coalesce(released, 0)`,
  ),
  sqlCheck(
    'I15',
    'nothing was let through by a session or a grant after its end',
    `with ended as (${endedCredentials})
     select a.subject_id::text as subject from ended e join audit_log a on a.credential_id = e.id
     where a.action in ${actsAfterEnd} and a.transaction > e.transaction and a.at > e.at + ${lockWait}
     union all
     select a.subject_id::text from ended e join audit_log a on a.grant_id = e.id
     where a.action in ${actsAfterEnd} and a.transaction > e.transaction and a.at > e.at + ${lockWait}`,
  ),
  sqlCheck(
    'I15',
    'a suspended member has delegated nothing since',
    `select made.subject_id::text as subject from members m
       join lateral (select max(transaction) as transaction from audit_log where subject_id = m.id and action = 'member.update') as suspended on true
       join grants g on g.workspace_id = m.workspace_id and g.account_id = m.account_id
       join audit_log made on made.subject_id = g.id and made.action = 'grant.create'
     where m.status = 'suspended' and made.transaction > suspended.transaction`,
  ),
  sqlCheck(
    'I15',
    'no key and no agent accepted an invitation for its person',
    `select subject_id::text as subject from audit_log where action = 'invitation.accept' and grant_id is not null`,
  ),
  sqlCheck(
    'I15',
    'no token was made from a credential that had ended',
    `select 'access token ' || t.id as subject from oauth_access_tokens t join grants g on g.id = t.grant_id where t.created_at > g.revoked_at + ${lockWait}
     union all
     select 'dashboard token ' || t.id from dashboard_tokens t join sessions s on s.id = t.session_id where t.created_at > s.revoked_at + ${lockWait}
     union all
     select 'dashboard token ' || t.id from dashboard_tokens t join grants g on g.id = t.grant_id where t.created_at > g.revoked_at + ${lockWait}`,
  ),
]
