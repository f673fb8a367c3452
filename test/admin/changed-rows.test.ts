import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tx } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { version } from '../../src/lib/version.ts'
import { createTestClock } from '../harness/clock.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches, findBreachesOf } from '../harness/verify.ts'
import { pay } from '../rails-flows/scene.ts'
import { fillDatabase } from '../upgrade/story.ts'

// Changes by an owner of the database, row by row, and `verify`'s answer to each. The data are the long story of the upgrade
// test: every table has rows.

let database: TestDatabase
let service: TestService

beforeAll(async () => {
  database = await createEmptyDatabase()
  await migrate(database.url)
  const about = await fillDatabase(database, version)
  service = await startService({ database, env: about.settings, clock: createTestClock(new Date(about.now)) })
  const person = await signIn(service.api)
  await fund(service, person, 5_000_000n)
  await newBeneficiary(person.api, { payment_rail: 'MPESA_B2B', destination: '888880', account_reference: '777' })
  const key = await createKey(person, { spending_controls: { daily_limit_minor: '3000000' } })
  await createKey(key)
  const gone = await createKey(person)
  expect((await person.api.delete(`/v1/accounts/me/api-keys/${gone.id}`)).status).toBe(200)
  await pay(person, { payment_rail: 'MPESA_B2C', destination: '254700000001' })
  await service.settle()
  await service.deps.jobs.sweep()
  await service.settle()
  service.clock.advance(60)
})
afterAll(async () => {
  await service.close()
  await database.drop()
})

class Undone extends Error {}

/** Runs work in a transaction that is undone, as an owner of the database, whom no trigger and no foreign key stops. */
const undone = async (work: (tx: Tx) => Promise<void>): Promise<void> => {
  await service.deps.db
    .transaction(async (tx: Tx) => {
      await tx.query('set local session_replication_role = replica')
      await work(tx)
      throw new Undone()
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error
    })
}

const one = (table: string, where = 'true') => `id = (select id from ${table} where ${where} order by id limit 1)`
const live = 'revoked_at is null'
const told = (table: string, names: string) => `every row of ${table} matches the audit log: .*(${names})`
const missing = (table: string) => `every row of ${table} matches the audit log: [0-9a-f-]+: missing`

/** The name of the change, the change, and the breach that `verify` names. */
const corruptions: readonly (readonly [what: string, change: string, breach: string])[] = [
  // Keys and grants
  [
    'a key un-revoked',
    `update api_keys set revoked_at = null where ${one('api_keys', 'revoked_at is not null')}`,
    told('api_keys', 'revoked'),
  ],
  [
    'a key that ends later',
    `update api_keys set revoked_at = revoked_at + interval '1 year' where ${one('api_keys', 'revoked_at is not null')}`,
    told('api_keys', 'revoked_at'),
  ],
  [
    'a key with another secret',
    `update api_keys set hash = sha256('mine') where ${one('api_keys', live)}`,
    told('api_keys', 'secret_digest'),
  ],
  [
    'a key of another grant',
    `update api_keys set grant_id = (select id from grants order by id desc limit 1) where ${one('api_keys', live)}`,
    told('api_keys', 'grant_id'),
  ],
  [
    'a key of another account',
    `update api_keys set account_id = gen_random_uuid() where ${one('api_keys', live)}`,
    told('api_keys', 'account_id'),
  ],
  [
    'a key of another workspace',
    `update api_keys set workspace_id = gen_random_uuid() where ${one('api_keys', live)}`,
    told('api_keys', 'workspace_id'),
  ],
  [
    'a planted key',
    `insert into api_keys (id, account_id, workspace_id, grant_id, name, lookup, salt, hash, last_four, created_at) select gen_random_uuid(), account_id, workspace_id, grant_id, name, 'aaaaaaaaaaaa', salt, sha256('mine'), last_four, created_at from api_keys limit 1`,
    'every row of api_keys matches the audit log: [0-9a-f-]+: not in the audit log',
  ],
  ['a key taken out', `delete from api_keys where ${one('api_keys')}`, missing('api_keys')],
  [
    'a grant un-revoked',
    `update grants set revoked_at = null where ${one('grants', 'revoked_at is not null')}`,
    told('grants', 'revoked'),
  ],
  [
    'a grant with more permissions',
    `update grants set permissions = permissions || '{account.manage}'::text[] where ${one('grants', live)}`,
    told('grants', 'permissions'),
  ],
  [
    'a grant without its daily limit',
    `update grants set daily_limit_minor = null where ${one('grants', 'daily_limit_minor is not null and revoked_at is null')}`,
    told('grants', 'daily_limit_minor'),
  ],
  [
    'a grant with a higher limit of a payment',
    `update grants set per_payment_limit_minor = per_payment_limit_minor * 10 where ${one('grants', 'per_payment_limit_minor is not null')}`,
    told('grants', 'per_payment_limit_minor'),
  ],
  [
    'a grant without its monthly limit',
    `update grants set monthly_limit_minor = null where ${one('grants', 'monthly_limit_minor is not null')}`,
    told('grants', 'monthly_limit_minor'),
  ],
  [
    'a grant that asks later',
    `update grants set approval_threshold_minor = 900000000 where ${one('grants', live)}`,
    told('grants', 'approval_threshold_minor'),
  ],
  [
    'a grant that may pay anybody new',
    `update grants set new_payees = 'allow' where ${one('grants', live)}`,
    told('grants', 'new_payees'),
  ],
  [
    'a grant that never expires',
    `update grants set expires_at = null where ${one('grants', 'expires_at is not null')}`,
    told('grants', 'expires_at') + '|the start of every right to decide',
  ],
  [
    'a grant without its parent',
    `update grants set parent_grant_id = null, ancestor_ids = '{}' where ${one('grants', 'parent_grant_id is not null')}`,
    told('grants', 'parent_grant_id'),
  ],
  [
    'a grant of another account',
    `update grants set account_id = gen_random_uuid() where ${one('grants', live)}`,
    told('grants', 'account_id'),
  ],
  [
    'a grant of another workspace',
    `update grants set workspace_id = gen_random_uuid() where ${one('grants', live)}`,
    told('grants', 'workspace_id'),
  ],
  ['a grant for another client', `update oauth_grants set client_id = gen_random_uuid()`, told('grants', 'client_id')],
  [
    'a grant for another server',
    `update oauth_grants set resources = '{https://elsewhere.example}'`,
    told('grants', 'resources'),
  ],
  [
    'a client that returns elsewhere',
    `update oauth_clients set redirect_uris = '{https://elsewhere.example}' where ${one('oauth_clients', 'url is null')}`,
    told('oauth_clients', 'redirect_uris'),
  ],
  // Sessions, identities, passkeys, accounts
  [
    'a session un-revoked',
    `update sessions set revoked_at = null where ${one('sessions', 'revoked_at is not null')}`,
    told('sessions', 'revoked'),
  ],
  [
    'a session that lasts',
    `update sessions set expires_at = expires_at + interval '1 year' where ${one('sessions', live)}`,
    told('sessions', 'expires_at'),
  ],
  [
    'a session with another token',
    `update sessions set token_hash = sha256('mine') where ${one('sessions', live)}`,
    told('sessions', 'secret_digest'),
  ],
  [
    'a session that was proven later',
    `update sessions set proven_at = proven_at + interval '1 day' where ${one('sessions', live)}`,
    told('sessions', 'proven_at'),
  ],
  [
    'a session of another account',
    `update sessions set account_id = gen_random_uuid() where ${one('sessions', live)}`,
    told('sessions', 'account_id'),
  ],
  [
    'a wallet replaced',
    `update identities set subject = '0x0725F2e76b1a2329812474f68EE29c0f43c8D277' where ${one('identities', `provider = 'wallet'`)}`,
    told('identities', 'subject'),
  ],
  [
    'the key of a wallet replaced',
    `update identities set subject_key = '0x0725f2e76b1a2329812474f68ee29c0f43c8d277' where ${one('identities', `provider = 'wallet'`)}`,
    'the lookup key of every identity is derived from its subject',
  ],
  [
    'an identity of another account',
    `update identities set account_id = gen_random_uuid() where ${one('identities')}`,
    told('identities', 'account_id'),
  ],
  [
    'a planted identity',
    `insert into identities (id, account_id, provider, issuer, subject, subject_key, email_verified, created_at) select gen_random_uuid(), account_id, 'google', 'i', 's', 's', false, created_at from identities limit 1`,
    'every row of identities matches the audit log: [0-9a-f-]+: not in',
  ],
  [
    'a passkey with another key',
    `update passkeys set public_key = '{"kty":"mine"}' where ${one('passkeys')}`,
    told('passkeys', 'public_key'),
  ],
  [
    'a passkey of another account',
    `update passkeys set account_id = gen_random_uuid() where ${one('passkeys')}`,
    told('passkeys', 'account_id'),
  ],
  [
    'a removed passkey put back',
    `insert into passkeys (id, account_id, name, credential_id, cose_key, public_key, sign_count, backup_eligible, backed_up, created_at) select a.subject_id, p.account_id, p.name, 'again', p.cose_key, p.public_key, 0, false, false, p.created_at from passkeys p, audit_log a where a.action = 'passkey.remove' limit 1`,
    told('passkeys', 'gone'),
  ],
  [
    'an account unfrozen',
    `update accounts set status = 'active' where ${one('accounts', `status = 'frozen'`)}`,
    told('accounts', 'status'),
  ],
  [
    'an account that is an administrator',
    `update accounts set is_admin = true where ${one('accounts', 'not is_admin')}`,
    told('accounts', 'is_admin'),
  ],
  // Workspaces, members, invitations
  [
    'a member with another role',
    `update members set role = 'owner' where ${one('members', `role <> 'owner'`)}`,
    told('members', 'role'),
  ],
  [
    'a member unsuspended or suspended',
    `update members set status = 'suspended' where ${one('members', `role <> 'owner'`)}`,
    told('members', 'status'),
  ],
  [
    'a planted member',
    `insert into members (id, workspace_id, account_id, role, status, created_at, updated_at) select gen_random_uuid(), m.workspace_id, (select id from accounts order by id desc limit 1), 'approver', 'active', m.created_at, m.updated_at from members m order by id limit 1`,
    told('members', 'role'),
  ],
  [
    'a member who decides since long ago',
    `update members set deciding_since = '2020-01-01' where ${one('members', `deciding_since is not null and role <> 'owner'`)}`,
    'the start of every right to decide',
  ],
  [
    'a workspace of another owner',
    `update workspaces set owning_account_id = (select id from accounts order by id desc limit 1) where ${one('workspaces', `kind = 'team'`)}`,
    told('workspaces', 'owning_account_id'),
  ],
  [
    'a workspace unfrozen',
    `update workspaces set frozen_at = now() where ${one('workspaces', 'frozen_at is null')}`,
    told('workspaces', 'frozen'),
  ],
  [
    'a workspace suspended without a word',
    `update workspaces set suspended_at = now() where ${one('workspaces', 'suspended_at is null')}`,
    told('workspaces', 'suspended'),
  ],
  [
    'an invitation to a higher role',
    `update invitations set role = 'owner' where ${one('invitations', `role <> 'owner'`)}`,
    told('invitations', 'role'),
  ],
  [
    'an invitation un-revoked',
    `update invitations set revoked_at = null where ${one('invitations', 'revoked_at is not null')}`,
    told('invitations', 'revoked'),
  ],
  [
    'an invitation with another token',
    `update invitations set token_hash = sha256('mine') where ${one('invitations')}`,
    told('invitations', 'secret_digest'),
  ],
  // Policies
  [
    'a policy with a higher limit',
    `update spending_policies set daily_limit_minor = daily_limit_minor * 100 where ${one('spending_policies', 'daily_limit_minor is not null')}`,
    told('spending_policies', 'daily_limit_minor'),
  ],
  [
    'a policy that asks later',
    `update spending_policies set approval_threshold_minor = 900000000 where ${one('spending_policies', 'approval_threshold_minor is not null')}`,
    told('spending_policies', 'approval_threshold_minor'),
  ],
  [
    'a policy that asks fewer people',
    `update spending_policies set required_approval_count = 1 where ${one('spending_policies', 'required_approval_count = 2')}`,
    told('spending_policies', 'required_approval_count'),
  ],
  [
    'a policy archived without a word',
    `update spending_policies set archived_at = now() where ${one('spending_policies', 'archived_at is null')}`,
    told('spending_policies', 'archived'),
  ],
  [
    'a policy restored',
    `update spending_policies set archived_at = null where ${one('spending_policies', 'archived_at is not null')}`,
    told('spending_policies', 'archived'),
  ],
  [
    'a policy that binds one grant only',
    `update spending_policies set binds_grant_id = (select id from grants limit 1) where ${one('spending_policies', 'archived_at is null')}`,
    told('spending_policies', 'binds_grant_id'),
  ],
  [
    'a policy for one payee only',
    `update spending_policies set beneficiary_ids = array[gen_random_uuid()] where ${one('spending_policies', 'archived_at is null')}`,
    told('spending_policies', 'beneficiary_ids'),
  ],
  [
    'a policy taken out',
    `delete from spending_policies where ${one('spending_policies', 'archived_at is null')}`,
    missing('spending_policies'),
  ],
  [
    'a version of a policy changed',
    `update spending_policy_versions set document = jsonb_set(document, '{daily_limit_minor}', '"1"')`,
    'every version of a policy',
  ],
  [
    'a loosening that holds earlier',
    `update spending_policies set pending_change = '{"status":"archived"}', pending_change_by = created_by, pending_change_at = created_at, pending_change_effective_at = created_at where ${one('spending_policies', 'archived_at is null')}`,
    told('spending_policies', 'pending_change'),
  ],
  // Mandates
  [
    'a mandate over a higher sum',
    `update intent_mandates set max_total_minor = max_total_minor * 10 where ${one('intent_mandates')}`,
    told('intent_mandates', 'max_total_minor'),
  ],
  [
    'a mandate that ends later',
    `update intent_mandates set expires_at = expires_at + interval '1 year' where ${one('intent_mandates')}`,
    told('intent_mandates', 'expires_at'),
  ],
  [
    'a mandate un-revoked',
    `update intent_mandates set status = 'active', revoked_at = null where ${one('intent_mandates', `status = 'revoked'`)}`,
    told('intent_mandates', 'status'),
  ],
  [
    'a mandate for other payees',
    `update intent_mandates set beneficiary_ids = array[gen_random_uuid()] where ${one('intent_mandates')}`,
    told('intent_mandates', 'beneficiary_ids'),
  ],
  [
    'a mandate of another signer',
    `update intent_mandates set signer = '0x0725F2e76b1a2329812474f68EE29c0f43c8D277' where ${one('intent_mandates')}`,
    'every mandate matches the text that its wallet signed',
  ],
  [
    'a mandate with another text',
    `update intent_mandates set message = replace(message, '1,000.00', '9,000.00') where ${one('intent_mandates')}`,
    'every mandate matches the text that its wallet signed',
  ],
  // Payees
  [
    'an archived payee restored',
    `update beneficiaries set archived_at = null where ${one('beneficiaries', 'archived_at is not null')}`,
    told('beneficiaries', 'archived'),
  ],
  [
    'a payee confirmed by nobody',
    `update beneficiaries set confirmed_at = null where ${one('beneficiaries', 'confirmed_at is not null')}`,
    told('beneficiaries', 'confirmed'),
  ],
  [
    'a payee with another name',
    `update beneficiaries set display_name = 'Me' where ${one('beneficiaries')}`,
    told('beneficiaries', 'display_name'),
  ],
  [
    'a payee at another destination',
    `update beneficiaries b set destination_ciphertext = o.destination_ciphertext from beneficiaries o where b.id <> o.id and b.${one('beneficiaries')}`,
    'the destination of every beneficiary',
  ],
  [
    'a payee with the fingerprint of another',
    `update payees y set fingerprint = sha256('mine') where ${one('payees')}`,
    'the destination of every beneficiary',
  ],
  [
    'a beneficiary of another payee',
    `update beneficiaries set payee_id = (select id from payees order by id desc limit 1) where ${one('beneficiaries')}`,
    'the destination of every beneficiary',
  ],
  [
    'an account at a paybill changed',
    `update beneficiaries set account_reference = '778' where account_reference is not null`,
    told('beneficiaries', 'account_reference'),
  ],
  [
    'a payee frozen without a word',
    `update payees set frozen_at = now() where ${one('payees', 'frozen_at is null and paybill_id is null')}`,
    told('payees', 'frozen'),
  ],
  [
    'a name that matches without a check',
    `update beneficiaries set verification = 'match' where ${one('beneficiaries', 'reported_name is null')}`,
    'the registered name of every beneficiary',
  ],
  // Approvals
  [
    'an approval by fewer people',
    `update approvals set required_approvals = 1 where ${one('approvals', 'required_approvals = 2')}`,
    told('approvals', 'required_approvals'),
  ],
  [
    'an approval that its requester may give',
    `update approvals set separation_of_duties = true, approval_proof = 'signature' where ${one('approvals')}`,
    told('approvals', 'approval_proof'),
  ],
  [
    'a planted decision',
    `insert into approval_decisions (id, approval_id, owning_account_id, account_id, decision, via, decided_at) select gen_random_uuid(), id, account_id, account_id, 'approve', 'credential', created_at from approvals where status = 'pending' limit 1`,
    'approval decisions and their voids',
  ],
  [
    'a decision turned round',
    `update approval_decisions set decision = 'reject' where id = (select d.id from approval_decisions d where decision = 'approve' and via = 'credential' order by id limit 1)`,
    'approval decisions and their voids',
  ],
  ['a decision un-voided', `delete from approval_voids`, 'approval decisions and their voids'],
  [
    'an approval with the text of another sum',
    `update approvals set approve_message = regexp_replace(approve_message, 'Amount in minor units: ', 'Amount in minor units: 1') where batch_id is null`,
    'the text of every approval',
  ],
  [
    'a signed decision by another signer',
    `update approval_decisions set signer = '0x0725F2e76b1a2329812474f68EE29c0f43c8D277' where via = 'signature'`,
    'every signed decision',
  ],
  // Payments, batches, attempts, receipts, events
  [
    'a payment of another sum',
    `update payments set amount_minor = amount_minor + 1 where ${one('payments', `status = 'pending_approval'`)}`,
    told('payments', 'amount_minor'),
  ],
  [
    'a payment to another payee',
    `update payments set beneficiary_id = (select id from beneficiaries order by id desc limit 1) where ${one('payments', `status = 'pending_approval'`)}`,
    told('payments', 'beneficiary_id'),
  ],
  [
    'a payment with another receipt',
    `update payments set provider_receipt = 'QWERTYUIOP' where ${one('payments', `status = 'succeeded'`)}`,
    told('payments', 'provider_receipt'),
  ],
  [
    'a payment with another reference',
    `update payments set account_reference = 'MINE' where ${one('payments')}`,
    told('payments', 'account_reference'),
  ],
  [
    'a payment by somebody else',
    `update payments set initiator_account_id = (select id from accounts order by id desc limit 1), grant_id = null where ${one('payments', 'grant_id is not null')}`,
    told('payments', 'initiator_account_id'),
  ],
  [
    'a payment due on another day',
    `update payments set execute_at = execute_at - interval '1 day' where ${one('payments', `status = 'scheduled'`)}`,
    told('payments', 'execute_at'),
  ],
  [
    'a payment with the answer of another',
    `update payments p set snapshot = o.snapshot from payments o where o.id <> p.id and p.${one('payments')}`,
    told('payments', 'id'),
  ],
  [
    'a failure with another reason',
    `update payments set failure_code = 'resolved_by_operator' where ${one('payments', `status = 'failed'`)}`,
    told('payments', 'failure_code'),
  ],
  ['a batch of another sum', `update payment_batches set total_minor = total_minor + 1`, told('payment_batches', 'total_minor')],
  ['a batch of another root', `update payment_batches set merkle_root = repeat('0', 64)`, 'the count, total and Merkle root'],
  [
    'an item of another sum',
    `update payments set amount_minor = amount_minor + 1 where ${one('payments', 'batch_id is not null')}`,
    'the count, total and Merkle root',
  ],
  [
    'an item taken out',
    `update payments set batch_id = null, batch_index = null, batch_leaf = null where ${one('payments', 'batch_id is not null')}`,
    'the count, total and Merkle root',
  ],
  [
    'a leaf changed',
    `update payments set batch_leaf = replace(batch_leaf, '"payee":"', '"payee":"Me ') where batch_id is not null`,
    'the count, total and Merkle root',
  ],
  [
    'an attempt of another sum',
    `update rail_attempts set amount_minor = amount_minor + 1 where ${one('rail_attempts')}`,
    'every attempt matches',
  ],
  [
    'an attempt under another reference',
    `update rail_attempts set reference = '999999999999' where ${one('rail_attempts')}`,
    'every attempt matches',
  ],
  [
    'an attempt of another payment',
    `update rail_attempts set subject_id = (select id from payments order by id desc limit 1) where ${one('rail_attempts', `kind = 'payment' and subject_id <> (select max(id::text)::uuid from payments)`)}`,
    'every attempt matches',
  ],
  [
    'a top-up with another receipt',
    `update topups set provider_receipt = 'QWERTYUIOP' where ${one('topups', `status = 'succeeded'`)}`,
    told('topups', 'provider_receipt'),
  ],
  ['an event taken out', `delete from events where type = 'policy.created'`, 'has a policy.created event'],
  [
    'an event with a wider limit',
    `update events set data = jsonb_set(data::jsonb, '{daily_limit_minor}', '"999999999"')::json where type = 'policy.updated'`,
    'every event matches the change',
  ],
  [
    'an event with another receipt',
    `update events set data = jsonb_set(data::jsonb, '{provider_receipt}', '"QWERTYUIOP"')::json where type = 'payment.succeeded'`,
    'every event matches the change',
  ],
  [
    'an event moved to another workspace',
    `update events set workspace_id = gen_random_uuid() where type = 'beneficiary.created'`,
    'every event matches the change',
  ],
  // Administrators' decisions
  [
    'an adjustment of another sum',
    `update adjustments set amount_minor = amount_minor * 2 where ${one('adjustments')}`,
    told('adjustments', 'amount_minor'),
  ],
  [
    'an adjustment by another administrator',
    `update adjustments set decided_by = requested_by where ${one('adjustments', `status = 'posted' and decided_by <> requested_by`)}`,
    told('adjustments', 'decided_by'),
  ],
  [
    'suspense resolved by nobody',
    `update suspense_items set resolved_at = now(), outcome = 'explained' where ${one('suspense_items', 'resolved_at is null')}`,
    told('suspense_items', 'resolved'),
  ],
  [
    'suspense of another sum',
    `update suspense_items set amount_minor = amount_minor * 2 where ${one('suspense_items')}`,
    told('suspense_items', 'amount_minor'),
  ],
  ['a pause lifted', `delete from rail_pauses where cause = 'operator'`, 'paused rails'],
  [
    'a pause that began earlier',
    `update rail_pauses set paused_at = paused_at - interval '1 day' where cause = 'operator'`,
    'paused rails',
  ],
  ['a comparison taken out', `delete from reconciliations where ${one('reconciliations')}`, missing('reconciliations')],
  [
    'a comparison that found less',
    `update reconciliations set matched = matched + 1 where ${one('reconciliations')}`,
    told('reconciliations', 'matched'),
  ],
  [
    'a difference taken out',
    `delete from reconciliation_differences where ${one('reconciliation_differences')}`,
    'as many differences as it reported',
  ],
  [
    'suspense of another payment',
    `update suspense_items set subject_kind = 'payment', subject_id = gen_random_uuid() where ${one('suspense_items')}`,
    told('suspense_items', 'subject_id'),
  ],
  // Consequences of a request, and a provider's messages about it
  ...['gen_random_uuid()', 'null'].map((grant): [string, string, string] => [
    `an approval asked for through another grant: ${grant}`,
    `update approvals set initiating_grant_id = ${grant} where ${one('approvals', 'initiating_grant_id is not null')}`,
    'names the grant that requested it',
  ]),
  ...['gen_random_uuid()', 'null'].map((approval): [string, string, string] => [
    `a batch with another approval: ${approval}`,
    `update payment_batches set approval_id = ${approval} where approval_id is not null`,
    'names the grant that requested it',
  ]),
  ...['workspace_id', 'account_id'].map((owner): [string, string, string] => [
    `every payment event moved to another tenant: ${owner}`,
    `update events set ${owner} = gen_random_uuid() where ${one('events', `type = 'payment.succeeded'`)}`,
    'every payment event',
  ]),
  ...['pending', 'post', 'void', 'direct'].map((kind): [string, string, string] => [
    `a transfer of another day: ${kind}`,
    `update ledger_transfers set created_at = created_at - interval '1 day' where ${one('ledger_transfers', `kind = '${kind}' and reference_type in ('payment', 'topup')`)}`,
    'every transfer has the time',
  ]),
  ...['pending', 'post', 'void', 'direct'].map((kind): [string, string, string] => [
    `a transfer that left more: ${kind}`,
    `update ledger_transfers set available_after_minor = available_after_minor + 137 where ${one('ledger_transfers', `kind = '${kind}' and available_after_minor is not null`)}`,
    'the available balance after every transfer',
  ]),
  ...['payments', 'topups'].map((table): [string, string, string] => [
    `one that ended on another day: ${table}`,
    `update ${table} set completed_at = completed_at + interval '1 day' where ${one(table, `status = 'succeeded'`)}`,
    told(table, 'completed_at'),
  ]),
  [
    'a delivery with another body',
    `update callback_bodies set body_ciphertext = set_byte(body_ciphertext, 20, 255 - get_byte(body_ciphertext, 20)) where ${one('callback_bodies')}`,
    'every callback is stored as it arrived',
  ],
  [
    'a delivery taken out',
    `delete from callback_deliveries where ${one('callback_deliveries', 'authentic')}`,
    'every callback is stored as it arrived',
  ],
  [
    'a delivery with another verdict',
    `update callback_deliveries set verdict = 'ignored' where ${one('callback_deliveries', `verdict = 'applied'`)}`,
    'every settlement by a callback',
  ],
  [
    'two attempts with the provider’s names of each other',
    `with told as (select a.id, a.provider_request, a.provider_conversation from rail_attempts a
       where exists (select from callback_deliveries d where d.attempt_id = a.id and d.verdict = 'applied')),
       ends as (select min(id::text)::uuid as one, max(id::text)::uuid as other from told)
     update rail_attempts a set provider_request = t.provider_request, provider_conversation = t.provider_conversation
     from told t, ends e where (a.id, t.id) in ((e.one, e.other), (e.other, e.one))`,
    'every callback is stored as it arrived',
  ],
  [
    'a guard switched off',
    `update pg_trigger set tgenabled = 'D' where tgname = 'payments_identity'`,
    'every trigger that protects a table is enabled',
  ],
  // Zones and checks
  [
    'a workspace in another zone',
    `update workspaces set time_zone = 'UTC' where ${one('workspaces')}`,
    'time zones of every workspace',
  ],
  [
    'a workspace with another zone to come',
    `update workspaces set next_time_zone = 'UTC', next_time_zone_from = now() where ${one('workspaces', `kind = 'team'`)}`,
    'time zones of every workspace',
  ],
  [
    'a zone that was not there',
    `insert into workspace_time_zones (workspace_id, from_at, time_zone) select id, created_at + interval '1 day', 'UTC' from workspaces limit 1`,
    'time zones of every workspace',
  ],
  [
    'a sweep put off',
    `update schedules set next_run_at = now() + interval '1 year' where name = 'approvals.expire'`,
    'every sweep is due',
  ],
  ['a check that is still to come', `update verify_points set at = '2030-01-01' where name = 'whole'`, 'every sweep is due'],
  [
    'a planted duplicate check',
    `insert into duplicate_checks (rail, account, passed_by, passed_at) values ('PESALINK', '1', 'me', now())`,
    'paused rails',
  ],
]

test('the data of a long story keep every promise', async () => {
  expect(await findBreaches(service)).toEqual([])
})

test.each(corruptions)('%s is noticed', async (_what, change, breach) => {
  await undone(async (tx) => {
    const rows = await tx.query(`${change} returning 1`)
    expect([change, rows.length > 0]).toEqual([change, true])
    expect((await findBreachesOf(service, tx, breach)).join('\n')).toMatch(new RegExp(breach))
  })
})

/** Changes that no trigger may let through, whatever the writer's role. */
const refused: readonly string[] = [
  'update approvals set initiating_grant_id = gen_random_uuid()',
  'update approvals set required_approvals = required_approvals + 1',
  `update payments set idempotency_key = 'moved', request_hash = sha256('mine')`,
  'update payments set amount_minor = amount_minor + 1',
  `update payment_batches set merkle_root = repeat('0', 64)`,
  'update payment_batches set approval_id = null',
  `update topups set created_at = created_at + interval '1 day'`,
  'update rail_attempts set subject_id = gen_random_uuid()',
  `update rail_attempts set provider_conversation = 'another'`,
  `update rail_attempts set state = 'lost'`,
  `update callback_deliveries set verdict = 'ignored'`,
  'update callback_deliveries set attempt_id = null',
  'update suspense_items set subject_id = gen_random_uuid()',
  'update suspense_items set amount_minor = amount_minor * 2',
  'update reconciliation_differences set booked_minor = coalesce(booked_minor, 0) + 1',
  'update reconciliations set matched = matched + 1',
  'delete from callback_deliveries',
  ...['approvals', 'payments', 'payment_batches', 'topups', 'rail_attempts', 'suspense_items', 'provider_alerts'].map(
    (table) => `delete from ${table}`,
  ),
  ...['reconciliations', 'reconciliation_differences', 'provider_movements', 'receipt_claims'].map(
    (table) => `delete from ${table}`,
  ),
]

test.each(refused)('the database refuses: %s', async (statement) => {
  await expect(service.deps.db.query(statement)).rejects.toThrow(/keeps|append-only/)
})

test('a pause that ended keeps its end', async () => {
  const pause = service.deps.db.transaction(async (tx) => {
    await tx.query(
      `insert into rail_pause_periods (id, rail, began_at, ended_at) values (gen_random_uuid(), 'MPESA_B2C', now(), now())`,
    )
    await tx.query(`update rail_pause_periods set ended_at = ended_at + interval '1 day'`)
  })
  await expect(pause).rejects.toThrow('keeps its end')
})

test('data in which all of that was changed are read to the end', async () => {
  await undone(async (tx) => {
    let made = 0
    for (const [, change] of corruptions) {
      await tx.query('savepoint before')
      // Some changes undo each other, or leave nothing for the next.
      const rows = await tx.query(`${change} returning 1`).catch(() => tx.query('rollback to savepoint before'))
      if (rows.length > 0) made += 1
    }
    expect(made).toBeGreaterThan(corruptions.length / 2)
    expect((await findBreaches(service, tx)).length).toBeGreaterThan(made / 2)
  })
})

test('nothing is noticed while the service works: keys, payees and policies change and payments end beside it', async () => {
  const person = await signIn(service.api)
  await fund(service, person, 5_000_000n)
  let isOver = false
  const work = async (): Promise<void> => {
    for (let round = 0; !isOver; round += 1) {
      const key = await createKey(person, { spending_controls: { daily_limit_minor: String(1_000_000 + round) } })
      await pay(key, { payment_rail: 'MPESA_B2C', destination: `2547000${String(10_000 + round)}` })
      const policy = await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '900000' })
      const stricter = { version: 1, approval_threshold_minor: String(800_000 - round) }
      expect((await person.api.patch(`/v1/spending-policies/${policy.body.id}`, stricter)).status).toBe(200)
      await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
      await service.settle()
    }
  }
  const working = work()
  const found: string[] = []
  for (let look = 0; look < 8; look += 1) found.push(...(await findBreaches(service)))
  isOver = true
  await working
  expect(found).toEqual([])
  expect(await findBreaches(service)).toEqual([])
})
