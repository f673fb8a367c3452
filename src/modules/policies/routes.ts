import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { accepted, created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId, IdIn } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { ConfirmChange, confirmChange, isConfirmable, proveChange, withdrawChange } from './pending-change.ts'
import { presentPolicy } from './policy-present.ts'
import { findPolicy, type PolicyRecord, policyList, readUsage } from './queries.ts'
import { CreatePolicy, Policy, UpdatePolicy } from './schema.ts'
import { archivePolicy, createPolicy, updatePolicy } from './service.ts'

const path = '/v1/spending-policies'
const one = `${path}/:id`

const ListQuery = PageQuery.extend({
  made_by_grant_id: IdIn('grant').optional().describe('Only policies created or changed by this key or agent.'),
  status: z.enum(['active', 'all']).default('all'),
})

/** Answers 202 if the change is pending and the policy unchanged. */
const changed = (record: PolicyRecord, takesEffect: boolean) => (takesEffect ? ok : accepted)(presentPolicy(record))

export const registerPolicies = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.post(path, 'policies.create', {
    // A new policy allows nothing that another rule refuses, so an agent may create one: policy.create is enough.
    permission: ['policy.create', 'policy.manage'],
    idempotent: true,
    summary: 'Create a spending policy',
    description:
      'Adds a policy to the workspace: limits per payment, day and month, an approval threshold, and the payments that it applies to. It takes effect at once. A new policy never allows what another rule refuses, because the strictest of all applicable policies decides. A policy that binds everyone can replace the service’s own warnings. Test it with the simulation first.',
    body: CreatePolicy,
    response: { 201: Policy },
    work: async (tx, { principal, body }) => created(presentPolicy(await createPolicy(tx, principal, body))),
  })
  routes.list(path, 'policies.list', {
    permission: 'policy.read',
    summary: 'List spending policies',
    description: 'Returns the policies of the workspace. With `status=active`, archived policies are omitted.',
    querystring: ListQuery,
    response: { 200: pageOf(Policy) },
    read: (page, { principal, query: { status, made_by_grant_id: madeBy } }) =>
      deps.db.run(policyList, { workspaceId: principal.workspace.id, active: status === 'active', madeBy, ...page }),
    present: async (rows, { principal }, at) => {
      const ids = rows.map(({ id }) => id)
      const usageOf = await readUsage(deps.db, principal.workspace, at, ids)
      return rows.map((row) => presentPolicy(row, usageOf(row.id)))
    },
  })
  routes.get(one, 'policies.get', {
    permission: 'policy.read',
    summary: 'Retrieve a spending policy',
    description: 'Returns one policy with its version, which an update must contain.',
    params: byId('policy'),
    response: { 200: Policy },
    read: async ({ principal, params }) => {
      const { workspace } = principal
      const { id } = params
      const [record, usageOf] = await Promise.all([
        findPolicy(deps.db, { workspaceId: workspace.id, id }),
        readUsage(deps.db, workspace, deps.clock.now(), [id]),
      ])
      const policy = found(record)
      const shown = presentPolicy(policy, usageOf(id))
      if (!shown.pending_change) return shown
      const confirmable = await isConfirmable(deps.db, deps.clock.now(), principal, policy)
      return { ...shown, pending_change: { ...shown.pending_change, confirmable } }
    },
  })
  routes.patch(one, 'policies.update', {
    freshProof: 'by_content',
    permission: 'policy.manage',
    refuses: ['conflict'],
    summary: 'Update a spending policy',
    description:
      'Omitted fields keep their value; `null` removes a limit. `version` must be the current version, which prevents two people from overwriting each other’s changes (409). Pending payments are evaluated again before they are sent. Some changes that make the policy less strict wait for 24 hours, or until another approver confirms them (202, `pending_change`). This applies if the policy requires two approvals, separation of duties or signatures, and another member can decide.',
    params: byId('policy'),
    body: UpdatePolicy,
    response: { 200: Policy, 202: Policy },
    work: async (tx, { principal, params, body }) => {
      const { policy, waits } = await updatePolicy(tx, principal, params.id, body, deps.config.CURRENCY)
      return changed(policy, !waits)
    },
  })
  routes.delete(one, 'policies.archive', {
    freshProof: 'always',
    permission: 'policy.manage',
    whileFrozen: true,
    refuses: ['account_frozen', 'conflict'],
    summary: 'Archive a spending policy',
    description:
      'Ends a policy. Past decisions still refer to its version. Archiving waits (202) in the same cases as an update that makes the policy less strict.',
    params: byId('policy'),
    response: { 200: Policy, 202: Policy },
    work: async (tx, { principal, params }) => {
      const record = await archivePolicy(tx, principal, params.id, deps.config.CURRENCY)
      return changed(record, record.archivedAt !== null)
    },
  })
  routes.post(`${one}/pending-change/confirm`, 'policies.confirm_change', {
    freshProof: 'always',
    access: 'undelegated',
    permission: 'approval.decide',
    idempotent: true,
    refuses: ['invalid_signature', 'separation_of_duties'],
    summary: 'Confirm a pending change',
    description:
      'Confirms the `pending_change` of a policy, which then takes effect at once. The account that requested the change cannot confirm it. The approver must have had that role for 24 hours, or since before the policy was created. If the policy requires signatures, a passkey or a linked wallet signs `pending_change.message`. If the text changed because the policy changed, the step-up must be more recent than the text.',
    params: byId('policy'),
    body: ConfirmChange,
    response: { 200: Policy },
    before: ({ principal, params, body }) => proveChange(deps, principal, params.id, body),
    work: async (tx, { principal, params }, confirmation) =>
      ok(presentPolicy(await confirmChange(tx, principal, params.id, confirmation))),
    // Locks the requester's account, as does a transaction that removes its role.
    otherAccounts: async ({ principal, params }) =>
      [(await findPolicy(deps.db, { workspaceId: principal.workspace.id, id: params.id }))?.pendingChangeBy].filter(
        (by) => by != null,
      ),
  })
  routes.delete(`${one}/pending-change`, 'policies.withdraw_change', {
    permission: ['approval.decide', 'policy.manage'],
    whileFrozen: true,
    summary: 'Withdraw a pending change',
    description:
      'Discards the policy’s `pending_change` and leaves the policy as it is. Any approver can do this, and so can the account that requested the change.',
    params: byId('policy'),
    response: { 200: Policy },
    work: async (tx, { principal, params }) => ok(presentPolicy(await withdrawChange(tx, principal, params.id))),
  })
}
