import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { accepted, created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId, IdIn } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { ConfirmChange, confirmChange, proveChange, withdrawChange } from './pending-change.ts'
import { findPolicy, type PolicyRecord, policyList, presentPolicy, readUsage } from './queries.ts'
import { CreatePolicy, Policy, UpdatePolicy } from './schema.ts'
import { archivePolicy, createPolicy, updatePolicy } from './service.ts'

const path = '/v1/spending-policies'
const one = `${path}/:id`

const ListQuery = PageQuery.extend({
  made_by_grant_id: IdIn('grant').optional().describe('Created or changed by this key or agent.'),
  status: z.enum(['active', 'all']).default('all'),
})

/** 202: the change waits, and the policy is as it was. */
const changed = (record: PolicyRecord, holds: boolean) => (holds ? ok : accepted)(presentPolicy(record))

export const registerPolicies = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.post(path, 'policies.create', {
    // A new policy can only tighten, so an agent may create one: policy.create is enough.
    permission: ['policy.create', 'policy.manage'],
    idempotent: true,
    summary: 'Create a spending policy',
    description:
      'Adds a rule to the workspace: limits per payment, day and month, an amount from which approval is needed, and what it applies to. It takes effect at once and can only make the rules stricter: all policies that apply are evaluated, and the strictest decides. Test it with the simulation first.',
    body: CreatePolicy,
    response: { 201: Policy },
    work: async (tx, { principal, body }) => created(presentPolicy(await createPolicy(tx, principal, body))),
  })
  routes.list(path, 'policies.list', {
    permission: 'policy.read',
    summary: 'List spending policies',
    description: 'The policies of the workspace. Archived ones are left out unless they are requested.',
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
    summary: 'Read a spending policy',
    description: 'One policy with its version, which a change must name.',
    params: byId('policy'),
    response: { 200: Policy },
    read: async ({ principal, params }) => {
      const { workspace } = principal
      const { id } = params
      const [record, usageOf] = await Promise.all([
        findPolicy(deps.db, { workspaceId: workspace.id, id }),
        readUsage(deps.db, workspace, deps.clock.now(), [id]),
      ])
      return presentPolicy(found(record), usageOf(id))
    },
  })
  routes.patch(one, 'policies.update', {
    freshProof: 'by_content',
    permission: 'policy.manage',
    refuses: ['conflict'],
    summary: 'Change a spending policy',
    description:
      'Fields that are left out keep their value, `null` removes a limit. `version` must be the one that was read, so that two people who change the policy at the same time do not overwrite each other (409). Payments that wait for approval are decided again before they are sent. Where the policy asks for two approvals, separation of duties or signatures and another member may decide, a change that makes it less strict waits (202, `pending_change`) for 24 hours, or until another approver confirms it.',
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
      'Ends a policy. Decisions that it took part in still name the version that decided. It waits (202) in the same cases as a change that makes the policy less strict.',
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
    summary: 'Confirm a waiting change',
    description:
      'A second approver agrees to the `pending_change` of a policy, which then holds at once. Not the account that asked for it, and only an approver whose role is older than the policy or than 24 hours. Where the policy asks for signatures, a passkey or a linked wallet signs `pending_change.message`. A text that was made again because the policy changed needs a proof of who you are that is younger than the text.',
    params: byId('policy'),
    body: ConfirmChange,
    response: { 200: Policy },
    before: ({ principal, params, body }) => proveChange(deps, principal, params.id, body),
    work: async (tx, { principal, params }, confirmation) =>
      ok(presentPolicy(await confirmChange(tx, principal, params.id, confirmation))),
    // The requester's account: a transaction that takes its role away locks it.
    concerned: async ({ principal, params }) =>
      [(await findPolicy(deps.db, { workspaceId: principal.workspace.id, id: params.id }))?.pendingChangeBy].filter(
        (by) => by != null,
      ),
  })
  routes.delete(`${one}/pending-change`, 'policies.withdraw_change', {
    permission: ['approval.decide', 'policy.manage'],
    whileFrozen: true,
    summary: 'Withdraw a waiting change',
    description:
      'Ends the `pending_change` of a policy, which stays as it is. Any approver may, and the account that asked for the change.',
    params: byId('policy'),
    response: { 200: Policy },
    work: async (tx, { principal, params }) => ok(presentPolicy(await withdrawChange(tx, principal, params.id))),
  })
}
