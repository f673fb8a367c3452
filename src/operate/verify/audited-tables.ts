import { owningAccountSql } from '../../db/tables/workspaces.ts'
import { parseAnyId } from '../../lib/ids.ts'
import { parseWithoutTrace } from '../../lib/packed-text.ts'
import { SpendingControls } from '../../modules/delegation/schema.ts'
import type { AuditedTable, Fields } from './audit-log.ts'

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

const notRevoked = () => ({ revoked: false })

const noControls: Fields = Object.fromEntries(Object.keys(SpendingControls.shape).map((name) => [name, null]))

/** Additional fields for a value, if the log has that value. */
const when = (value: unknown, fields: Fields): Fields => (value === undefined ? {} : fields)

const makers = ({ created_by, changed_by }: Fields): Fields => {
  const columns = (name: string, maker: unknown) => {
    const { account_id = null, grant_id = null, label = null } = fieldsOf(maker)
    return when(maker, { [name]: account_id, [`${name}_grant_id`]: grant_id, [`${name}_label`]: label })
  }
  return { ...columns('created_by', created_by), ...columns('changed_by', changed_by) }
}

const pending = (value: unknown): Fields => {
  const {
    change = null,
    requested_by = null,
    effective_at = null,
    version = null,
    result = null,
    message = null,
  } = fieldsOf(value)
  return when(value, {
    pending_change: change,
    pending_change_by: requested_by,
    pending_change_effective_at: effective_at,
    ...{ pending_version: version, pending_terms: result, pending_text: message },
  })
}

/** Columns that an earlier release does not clear when a change ends. */
const pendingColumns = Object.entries({
  pending_version: 'to_jsonb(t.pending_change_version)',
  pending_terms: "t.pending_change_result -> 'terms'",
  pending_text: 'to_jsonb(t.pending_change_message)',
}).map(
  ([name, value]) =>
    `'${name}', case when t.pending_change is not null and t.pending_change_result is not null then ${value} end`,
)

/** Fields of the creation response that can change later. */
const passing = [
  ...['status', 'approval_id', 'updated_at', 'completed_at', 'late_success', 'counts', 'received_minor'],
  ...['provider_receipt', 'failure_code', 'failure_message', 'provider_code'],
]

/** The creation response stored in the row, as bytes or as the text of a bytea column. */
const kept = ({ snapshot }: Fields): Fields => {
  if (snapshot === null) return { idempotency_key: null }
  const bytes = snapshot instanceof Buffer ? snapshot : Buffer.from(String(snapshot).slice(2), 'hex')
  const answer = fieldsOf(parseWithoutTrace(bytes))
  const { account_id, grant_id } = fieldsOf(answer.initiated_by)
  return {
    ...Object.fromEntries(Object.entries(answer).filter(([name]) => !passing.includes(name))),
    ...when(answer.payment_rail, { rail: answer.payment_rail }),
    ...when(answer.initiated_by, { initiator_account_id: account_id, grant_id }),
    ...when(answer.phone_number_mask, { phone_mask: answer.phone_number_mask }),
    // A fee of zero is stored as null.
    ...Object.fromEntries(['fee_minor', 'fees_minor'].flatMap((name) => (answer[name] === '0' ? [[name, null]] : []))),
    provider_receipt: null,
  }
}

/** The audited tables, by name. */
export const auditedTables: Readonly<Record<string, AuditedTable>> = {
  accounts: {
    before: () => ({
      status: 'active',
      is_admin: false,
      topups_enabled: true,
      payments_enabled: true,
      api_keys_enabled: true,
      oauth_enabled: true,
    }),
    // The name of a closed account is deleted.
    columns: ({ capabilities, display_name: _, ...after }) => ({
      ...after,
      ...Object.fromEntries(Object.entries(fieldsOf(capabilities)).map(([name, on]) => [`${name}_enabled`, on])),
    }),
  },
  identities: {
    made: ['identity.link'],
    owner: 'account_id',
    columns: (after) => ({ ...after, ...when(after.linked_by, { linked_by_grant_id: after.linked_by }) }),
  },
  passkeys: { made: ['passkey.add'], owner: 'account_id' },
  sessions: {
    made: ['session.create'],
    owner: 'account_id',
    secret: 'token_hash',
    before: ({ created_at }) => ({ ...notRevoked(), proven_at: created_at }),
  },
  api_keys: {
    made: ['api_key.create'],
    owner: 'account_id',
    secret: 'hash',
    before: notRevoked,
    // A grant's new name is logged under the grant.
    columns: ({ name: _, ...after }) => ({ ...after, ...when(after.revoked_at, { revoked: true }) }),
  },
  grants: {
    made: ['grant.create'],
    owner: 'account_id',
    more: `coalesce((select to_jsonb(o) - 'expires_at' from oauth_grants o where o.grant_id = t.id), '{}')`,
    before: () => ({ ...notRevoked(), frozen: false }),
    columns: ({ spending_controls, client_id, expires_at, permissions, resources, generation, ...after }, action) => ({
      ...after,
      // A token may have fewer resources than its grant, and a replayed token is from an earlier generation.
      ...(action === 'oauth_consent.approve' && when(resources, { resources })),
      ...(action === 'oauth_token.refresh' && { generation }),
      ...when(after.kind, { permissions }),
      ...when(spending_controls, { ...noControls, ...fieldsOf(spending_controls) }),
      // The log may identify a client by URL, and a refresh extends its grant.
      ...(typeof client_id === 'string' && parseAnyId(client_id) && { client_id }),
      ...(after.kind !== 'oauth' && when(expires_at, { expires_at })),
    }),
  },
  oauth_clients: {
    columns: (after) => ({
      ...after,
      ...when(after.token_endpoint_auth_method, { auth_method: after.token_endpoint_auth_method }),
    }),
  },
  workspaces: {
    before: () => ({ kind: 'personal', frozen: false, suspended: false }),
    columns: ({ owning_account, time_zone, time_zone_from, ...after }) => ({
      ...after,
      ...when(owning_account, { owning_account_id: owning_account, kind: 'team' }),
    }),
  },
  invitations: {
    made: ['invitation.create'],
    owner: 'invited_by',
    secret: 'token_hash',
    before: () => ({ ...notRevoked(), accepted: false, email: null, wallet_address: null }),
    columns: (after) => ({ ...after, ...when(after.wallet, { wallet_address: after.wallet }) }),
  },
  members: {
    also: 'array(select i.id from invitations i where i.accepted_by = t.account_id and i.workspace_id = t.workspace_id)',
    more: `jsonb_build_object('owns', exists (select from workspaces w where w.id = t.workspace_id and w.owning_account_id = t.account_id))`,
    before: ({ owns }) => ({ status: 'active', role: owns === true ? 'owner' : 'none' }),
    columns: ({ role, status, account }) => ({
      ...when(role, { role }),
      ...when(status, { status }),
      ...when(account, { account_id: account }),
    }),
  },
  spending_policies: {
    made: ['policy.created'],
    more: `jsonb_build_object(${pendingColumns.join(', ')})`,
    columns: ({ binds, status, pending_change, created_by, changed_by, approver_ids, ...after }) => ({
      ...after,
      ...when(approver_ids, { approver_ids: Array.isArray(approver_ids) && approver_ids.length > 0 ? approver_ids : null }),
      ...when(binds, { binds_grant_id: fieldsOf(binds).grant_id ?? null }),
      ...when(status, { archived: status === 'archived' }),
      ...pending(pending_change),
      ...makers({ created_by, changed_by }),
    }),
  },
  intent_mandates: {
    made: ['mandate.create'],
    owner: 'account_id',
    before: notRevoked,
    // A revocation has a signature of its own.
    columns: ({ revoked_at: _, ...after }) => (after.id === undefined ? { status: after.status } : after),
  },
  beneficiaries: {
    made: ['beneficiary.created'],
    columns: ({ status, confirmation, verification, updated_at, created_by, changed_by, ...after }) => ({
      ...after,
      ...when(status, { archived: status === 'archived' }),
      ...when(confirmation, { confirmed: confirmation === 'confirmed' }),
      ...makers({ created_by, changed_by }),
    }),
  },
  payees: {
    // Freezing a payee is logged under all of its beneficiaries. An account at a paybill is also frozen with the paybill.
    also: 'array(select b.id from beneficiaries b where b.payee_id = t.id and t.paybill_id is null)',
    columns: ({ status }) => (status === 'active' || status === 'frozen' ? { frozen: status === 'frozen' } : {}),
  },
  adjustments: {
    made: ['admin.adjustment_request'],
    more: `jsonb_build_object('account_id', ${owningAccountSql('t.account_id')},
      'workspace_id', (select h.holder_of_workspace_id from accounts h where h.id = t.account_id))`,
    columns: (after) => ({
      ...after,
      ...when(after.amount_minor, { amount_minor: `${after.direction === 'debit' ? '-' : ''}${after.amount_minor}` }),
    }),
  },
  suspense_items: {
    made: ['suspense.record'],
    before: () => ({ resolved: false }),
    // A request that waits for a second administrator has no outcome yet. The row keeps the note of its resolution.
    columns: ({ note, ...after }, action) => {
      if (action === 'admin.resolve_suspense_request') return {}
      return action === 'admin.enter_suspense_amount' ? after : { ...after, ...when(note, { note }) }
    },
  },
  reconciliation_differences: {},
  reconciliations: { made: ['admin.reconcile'] },
  provider_alerts: { before: () => ({ resolved: false }) },
  provider_movements: {
    made: ['admin.name_movement'],
    columns: ({ direction, amount_minor, provider_receipt, ...after }) => ({
      ...after,
      receipt: provider_receipt,
      amount_minor: `${direction === 'out' ? '-' : ''}${amount_minor}`,
    }),
  },
  approvals: {
    since: 'updated_at',
    more: `jsonb_build_object('snapshot', (select p.snapshot from payments p where p.id = t.payment_id and p.execute_at is null))`,
    before: ({ snapshot, batch_id }) => {
      const { required_approvals, separation_of_duties, approval_proof } =
        batch_id === null ? fieldsOf(kept({ snapshot }).decision) : {}
      return { status: 'pending', ...when(required_approvals, { required_approvals, separation_of_duties, approval_proof }) }
    },
    columns: () => ({}),
  },
  payment_batches: {
    made: ['payment_batch.create'],
    since: 'updated_at',
    before: kept,
    columns: (after) => ({ ...after, ...when(after.items, { items_count: after.items }) }),
  },
  payments: {
    made: ['payment.create'],
    since: 'updated_at',
    before: kept,
    columns: ({ provider_receipt, amount_minor, ...after }, action) => {
      if (action === 'payment.late_success')
        return { ...after, late_success_receipt: provider_receipt, late_success_amount_minor: amount_minor }
      // The resolution of a late success repeats the receipt that an earlier entry reported.
      if (action.startsWith('payment.late_success_') || action === 'admin.payment_resolve') return after
      return { ...after, ...when(provider_receipt, { provider_receipt }), ...when(amount_minor, { amount_minor }) }
    },
  },
  topups: {
    made: ['topup.initiate'],
    since: 'updated_at',
    before: kept,
    // A further deposit to the top-up changes none of its fields.
    columns: (after, action) =>
      action === 'topup.deposit' ? {} : { ...after, ...when(after.phone_number_mask, { phone_mask: after.phone_number_mask }) },
  },
}
