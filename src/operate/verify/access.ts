import { sqlCheck } from '../../db/check.ts'
import { keyIsActive } from '../../db/credential-life.ts'

export const accessChecks = [
  sqlCheck(
    'I15',
    'no payment was made by a grant after it was revoked',
    `select p.id::text as subject from payments p join grants g on g.id = p.grant_id where g.revoked_at is not null and p.created_at > g.revoked_at`,
  ),
  sqlCheck(
    'I5',
    'every account has one personal workspace, and every workspace its owning account as an active owner',
    `select a.id::text as subject from accounts a
     where (select count(*) from workspaces w where w.owning_account_id = a.id and w.kind = 'personal') <> 1
     union all
     select w.id::text from workspaces w where not exists (
       select from members m where m.workspace_id = w.id and m.account_id = w.owning_account_id and m.role = 'owner' and m.status = 'active')`,
  ),
  sqlCheck(
    'I5',
    'nothing below a revoked grant lives, no live grant belongs to an account that left, and no key outlives its grant',
    `select g.id::text as subject from grants g
     where g.revoked_at is null and (
       exists (select from grants above where above.id = any(g.ancestor_ids) and above.revoked_at is not null)
       or not exists (select from members m where m.workspace_id = g.workspace_id and m.account_id = g.account_id))
     union all
     select k.id::text from api_keys k join grants g on g.id = k.grant_id
     where g.revoked_at is not null and ${keyIsActive('k', 'g.revoked_at')}`,
  ),
  sqlCheck(
    'I5',
    'nothing that a revoked grant linked, derived or opened lives on, but the last way into an account',
    `select 'identity ' || i.id as subject from identities i join grants g on g.id = i.linked_by_grant_id
     where g.revoked_at is not null and exists (select from identities o where o.account_id = i.account_id and o.id <> i.id)
     union all
     select 'session ' || s.id from sessions s join identities i on i.id = s.identity_id join grants g on g.id = i.linked_by_grant_id
     where g.revoked_at is not null and s.revoked_at is null and s.created_at < g.revoked_at
     union all
     select 'grant ' || d.id from grants d join grants g on g.id = d.derived_from_grant_id where g.revoked_at is not null and d.revoked_at is null
     union all
     select 'session ' || s.id from sessions s where s.identity_id is null and s.revoked_at is null
     union all
     select 'grant ' || g.id from grants g where 'account.manage' = any(g.permissions)
       and num_nonnulls(g.per_payment_limit_minor, g.daily_limit_minor, g.monthly_limit_minor, g.approval_threshold_minor, g.payment_types, g.beneficiary_ids) > 0`,
  ),
  sqlCheck(
    'I5',
    'a closed account has no session, no grant and no money',
    `select a.id::text as subject from accounts a
     where a.status = 'closed' and (exists (select from sessions s where s.account_id = a.id and s.revoked_at is null)
       or exists (select from grants g where g.account_id = a.id and g.revoked_at is null))`,
  ),
  sqlCheck(
    'I10',
    'a nonce that a mandate was signed over is used up',
    `select m.id::text as subject from intent_mandates m join nonces n on n.nonce = m.nonce where n.consumed_at is null`,
  ),
  sqlCheck(
    'I7',
    'every sealed value can be opened with a key that is configured',
    `select 'beneficiary ' || id as subject from beneficiaries where destination_key_id <> all ($1::text[])
     union all select 'topup ' || id from topups where phone_key_id <> all ($1::text[])
     union all select 'deposit ' || id from deposits where body_key_id <> all ($1::text[])
     union all select 'delivery ' || id from callback_bodies where body_key_id <> all ($1::text[])`,
    ({ encryptionKeyIds }) => [encryptionKeyIds],
  ),
  sqlCheck(
    'I7',
    'every payee can be found by a secret that is configured',
    `select id::text as subject from payees where fingerprint_key_id <> all ($1::text[])`,
    ({ tokenSecretIds }) => [tokenSecretIds],
  ),
]
