import { owningAccountSql } from '../../db/tables/workspaces.ts'
import { parseAnyId } from '../../lib/ids.ts'
import { parseWithoutTrace } from '../../lib/packed-text.ts'
import { SpendingControls } from '../../modules/delegation/schema.ts'
import type { AuditedTable, Fields } from './audit-log.ts'

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const asFields = (value: unknown): Fields => (isFields(value) ? value : {})

const notRevoked = () => ({ revoked: false })

const noControls: Fields = Object.fromEntries(Object.keys(SpendingControls.shape).map((name) => [name, null]))

/** Fields of the log whose columns have other names. */
const renamed = (after: Fields, columns: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(Object.entries(columns).flatMap(([name, column]) => (name in after ? [[column, after[name]]] : [])))

/** The fields, if the log has the value that implies them. */
const ifLogged = (value: unknown, fields: Fields): Fields => (value === undefined ? {} : fields)

const creatorColumns = ({ created_by, changed_by }: Fields): Fields => {
  const columns = (name: string, creator: unknown) => {
    const { account_id = null, grant_id = null, label = null } = asFields(creator)
    return ifLogged(creator, { [name]: account_id, [`${name}_grant_id`]: grant_id, [`${name}_label`]: label })
  }
  return { ...columns('created_by', created_by), ...columns('changed_by', changed_by) }
}

const pendingChangeColumns = (value: unknown): Fields => {
  const change = asFields(value)
  return ifLogged(value, {
    pending_change: change.change ?? null,
    pending_change_by: change.requested_by ?? null,
    pending_change_effective_at: change.effective_at ?? null,
    pending_version: change.version ?? null,
    pending_terms: change.result ?? null,
    pending_text: change.message ?? null,
  })
}

/** SQL for three columns of a pending change, which an earlier release does not clear when the change ends. */
const pendingChangeSql = Object.entries({
  pending_version: 'to_jsonb(t.pending_change_version)',
  pending_terms: "t.pending_change_result -> 'terms'",
  pending_text: 'to_jsonb(t.pending_change_message)',
}).map(
  ([name, value]) =>
    `'${name}', case when t.pending_change is not null and t.pending_change_result is not null then ${value} end`,
)

/** Fields of the creation response that can change later. */
const changingFields = [
  ...['status', 'approval_id', 'updated_at', 'completed_at', 'late_success', 'counts', 'received_minor'],
  ...['provider_receipt', 'failure_code', 'failure_message', 'provider_code'],
]

/** Fields of the creation response, which `snapshot` stores as bytes or as the text of a bytea column. */
const snapshotFields = ({ snapshot }: Fields): Fields => {
  if (snapshot === null) return { idempotency_key: null }
  const bytes = snapshot instanceof Buffer ? snapshot : Buffer.from(String(snapshot).slice(2), 'hex')
  const response = asFields(parseWithoutTrace(bytes))
  const { account_id, grant_id } = asFields(response.initiated_by)
  return {
    ...Object.fromEntries(Object.entries(response).filter(([name]) => !changingFields.includes(name))),
    ...renamed(response, { payment_rail: 'rail', phone_number_mask: 'phone_mask' }),
    ...ifLogged(response.initiated_by, { initiator_account_id: account_id, grant_id }),
    // A fee of zero is stored as null.
    ...Object.fromEntries(['fee_minor', 'fees_minor'].flatMap((name) => (response[name] === '0' ? [[name, null]] : []))),
    provider_receipt: null,
  }
}

/** The audited tables, by name. */
export const auditedTables: Readonly<Record<string, AuditedTable>> = {
  accounts: {
    initialFields: () => ({
      status: 'active',
      is_admin: false,
      topups_enabled: true,
      payments_enabled: true,
      api_keys_enabled: true,
      oauth_enabled: true,
    }),
    // The name of a closed account is deleted.
    columnsOf: ({ capabilities, display_name: _, ...after }) => ({
      ...after,
      ...Object.fromEntries(Object.entries(asFields(capabilities)).map(([name, on]) => [`${name}_enabled`, on])),
    }),
  },
  identities: {
    creationActions: ['identity.link'],
    creatorColumn: 'account_id',
    columnsOf: (after) => ({ ...after, ...renamed(after, { linked_by: 'linked_by_grant_id' }) }),
  },
  passkeys: { creationActions: ['passkey.add'], creatorColumn: 'account_id' },
  sessions: {
    creationActions: ['session.create'],
    creatorColumn: 'account_id',
    secretHashColumn: 'token_hash',
    initialFields: ({ created_at }) => ({ ...notRevoked(), proven_at: created_at }),
  },
  api_keys: {
    creationActions: ['api_key.create'],
    creatorColumn: 'account_id',
    secretHashColumn: 'hash',
    initialFields: notRevoked,
    // A grant's new name is logged under the grant.
    columnsOf: ({ name: _, ...after }) => ({ ...after, ...ifLogged(after.revoked_at, { revoked: true }) }),
  },
  grants: {
    creationActions: ['grant.create'],
    creatorColumn: 'account_id',
    extraFieldsSql: `coalesce((select to_jsonb(o) - 'expires_at' from oauth_grants o where o.grant_id = t.id), '{}')`,
    initialFields: () => ({ ...notRevoked(), frozen: false }),
    columnsOf: ({ spending_controls, client_id, expires_at, permissions, resources, generation, ...after }, action) => ({
      ...after,
      // A token may have fewer resources than its grant, and a replayed token is from an earlier generation.
      ...(action === 'oauth_consent.approve' && ifLogged(resources, { resources })),
      ...(action === 'oauth_token.refresh' && { generation }),
      ...ifLogged(after.kind, { permissions }),
      ...ifLogged(spending_controls, { ...noControls, ...asFields(spending_controls) }),
      // The log may identify a client by URL, and a refresh extends its grant.
      ...(typeof client_id === 'string' && parseAnyId(client_id) && { client_id }),
      ...(after.kind !== 'oauth' && ifLogged(expires_at, { expires_at })),
    }),
  },
  oauth_clients: {
    columnsOf: (after) => ({ ...after, ...renamed(after, { token_endpoint_auth_method: 'auth_method' }) }),
  },
  workspaces: {
    initialFields: () => ({ kind: 'personal', frozen: false, suspended: false }),
    // A planned change of time zone has not happened yet. log-entries.ts compares the time zones.
    columnsOf: ({ owning_account, time_zone, time_zone_from, ...after }) => ({
      ...after,
      ...ifLogged(owning_account, { owning_account_id: owning_account, kind: 'team' }),
    }),
  },
  invitations: {
    creationActions: ['invitation.create'],
    creatorColumn: 'invited_by',
    secretHashColumn: 'token_hash',
    initialFields: () => ({ ...notRevoked(), accepted: false, email: null, wallet_address: null }),
    columnsOf: (after) => ({ ...after, ...renamed(after, { wallet: 'wallet_address' }) }),
  },
  members: {
    furtherSubjectsSql:
      'array(select i.id from invitations i where i.accepted_by = t.account_id and i.workspace_id = t.workspace_id)',
    extraFieldsSql: `jsonb_build_object('owns', exists (select from workspaces w where w.id = t.workspace_id and w.owning_account_id = t.account_id))`,
    initialFields: ({ owns }) => ({ status: 'active', role: owns === true ? 'owner' : 'none' }),
    columnsOf: (after) => renamed(after, { role: 'role', status: 'status', account: 'account_id' }),
  },
  spending_policies: {
    creationActions: ['policy.created'],
    extraFieldsSql: `jsonb_build_object(${pendingChangeSql.join(', ')})`,
    columnsOf: ({ approver_ids, ...after }) => ({
      ...after,
      ...ifLogged(approver_ids, { approver_ids: Array.isArray(approver_ids) && approver_ids.length > 0 ? approver_ids : null }),
      ...ifLogged(after.binds, { binds_grant_id: asFields(after.binds).grant_id ?? null }),
      ...ifLogged(after.status, { archived: after.status === 'archived' }),
      ...pendingChangeColumns(after.pending_change),
      ...creatorColumns(after),
    }),
  },
  intent_mandates: {
    creationActions: ['mandate.create'],
    creatorColumn: 'account_id',
    initialFields: notRevoked,
    // A revocation has a signature of its own.
    columnsOf: ({ revoked_at: _, ...after }) => (after.id === undefined ? { status: after.status } : after),
  },
  beneficiaries: {
    creationActions: ['beneficiary.created'],
    // A name check, which has no entry, changes these two columns.
    columnsOf: ({ verification, updated_at, ...after }) => ({
      ...after,
      ...ifLogged(after.status, { archived: after.status === 'archived' }),
      ...ifLogged(after.confirmation, { confirmed: after.confirmation === 'confirmed' }),
      ...creatorColumns(after),
    }),
  },
  payees: {
    // Freezing a payee is logged under all of its beneficiaries. An account at a paybill is also frozen with the paybill.
    furtherSubjectsSql: 'array(select b.id from beneficiaries b where b.payee_id = t.id and t.paybill_id is null)',
    columnsOf: ({ status }) => (status === 'active' || status === 'frozen' ? { frozen: status === 'frozen' } : {}),
  },
  adjustments: {
    creationActions: ['admin.adjustment_request'],
    extraFieldsSql: `jsonb_build_object('account_id', ${owningAccountSql('t.account_id')},
      'workspace_id', (select h.holder_of_workspace_id from accounts h where h.id = t.account_id))`,
    columnsOf: (after) => ({
      ...after,
      ...ifLogged(after.amount_minor, { amount_minor: `${after.direction === 'debit' ? '-' : ''}${after.amount_minor}` }),
    }),
  },
  suspense_items: {
    creationActions: ['suspense.record'],
    initialFields: () => ({ resolved: false }),
    // A request that waits for a second administrator has no outcome yet. The row keeps the note of its resolution.
    columnsOf: ({ note, ...after }, action) => {
      if (action === 'admin.resolve_suspense_request') return {}
      return action === 'admin.enter_suspense_amount' ? after : { ...after, ...ifLogged(note, { note }) }
    },
  },
  reconciliation_differences: {},
  reconciliations: { creationActions: ['admin.reconcile'] },
  provider_alerts: { initialFields: () => ({ resolved: false }) },
  provider_movements: {
    creationActions: ['admin.name_movement'],
    columnsOf: ({ direction, amount_minor, provider_receipt, ...after }) => ({
      ...after,
      receipt: provider_receipt,
      amount_minor: `${direction === 'out' ? '-' : ''}${amount_minor}`,
    }),
  },
  approvals: {
    changedAtColumn: 'updated_at',
    extraFieldsSql: `jsonb_build_object('snapshot', (select p.snapshot from payments p where p.id = t.payment_id and p.execute_at is null))`,
    initialFields: ({ snapshot, batch_id }) => {
      const { required_approvals, separation_of_duties, approval_proof } =
        batch_id === null ? asFields(snapshotFields({ snapshot }).decision) : {}
      return { status: 'pending', ...ifLogged(required_approvals, { required_approvals, separation_of_duties, approval_proof }) }
    },
    columnsOf: () => ({}),
  },
  payment_batches: {
    creationActions: ['payment_batch.create'],
    changedAtColumn: 'updated_at',
    initialFields: snapshotFields,
    columnsOf: (after) => ({ ...after, ...renamed(after, { items: 'items_count' }) }),
  },
  payments: {
    creationActions: ['payment.create'],
    changedAtColumn: 'updated_at',
    initialFields: snapshotFields,
    columnsOf: ({ provider_receipt, amount_minor, ...after }, action) => {
      if (action === 'payment.late_success')
        return { ...after, late_success_receipt: provider_receipt, late_success_amount_minor: amount_minor }
      // The resolution of a late success repeats the receipt that an earlier entry reported.
      if (action.startsWith('payment.late_success_') || action === 'admin.payment_resolve') return after
      return { ...after, ...ifLogged(provider_receipt, { provider_receipt }), ...ifLogged(amount_minor, { amount_minor }) }
    },
  },
  topups: {
    creationActions: ['topup.initiate'],
    changedAtColumn: 'updated_at',
    initialFields: snapshotFields,
    // A further deposit to the top-up changes none of its fields.
    columnsOf: (after, action) =>
      action === 'topup.deposit' ? {} : { ...after, ...renamed(after, { phone_number_mask: 'phone_mask' }) },
  },
}
