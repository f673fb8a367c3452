import type { App } from '../../http/app-type.ts'
import { accepted, ok } from '../../http/idempotency.ts'
import { routesOf } from '../../http/routes.ts'
import type { Parts } from '../parts.ts'
import { ConfirmSeparation, SeparateBalance, SeparationView } from './schema.ts'
import { confirmSeparation, proveSeparation, requestSeparation, viewSeparation, withdrawSeparation } from './separate-service.ts'

const path = '/v1/workspaces/current/separate-balance'

export const registerBalances = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const { CURRENCY: currency } = deps.config
  routes.post(path, 'workspaces.separate_balance', {
    freshProof: 'always',
    access: 'undelegated',
    permission: 'workspace.manage',
    idempotent: true,
    refuses: ['forbidden', 'insufficient_funds'],
    summary: 'Give the workspace its own balance',
    description:
      'For a team of an earlier version, whose `balance_shared` is true: moves a sum of the shared balance into one of its own, once. Its payments, top-ups and scheduled payments use that from then on; payments under way are settled on the old one. Only the owning account can. Where a rule of a workspace on that balance asks for two people or a signature, it waits (202, `pending_separation`).',
    body: SeparateBalance,
    response: { 200: SeparationView, 202: SeparationView },
    work: async (tx, { principal, body }) => {
      const waits = await requestSeparation(tx, deps.config, principal, body.amount_minor)
      return (waits ? accepted : ok)(await viewSeparation(tx, currency, principal))
    },
  })
  routes.get(path, 'workspaces.read_separation', {
    permission: 'workspace.read',
    summary: 'Read the separation that waits',
    description: 'Of this workspace, else of another one on the balance that it draws on. Null where none waits.',
    response: { 200: SeparationView },
    read: ({ principal }) => viewSeparation(deps.db, currency, principal),
  })
  routes.post(`${path}/confirm`, 'workspaces.confirm_separation', {
    freshProof: 'always',
    access: 'undelegated',
    permission: 'approval.decide',
    refuses: ['forbidden', 'invalid_signature', 'separation_of_duties', 'conflict'],
    summary: 'Confirm the separation that waits',
    description:
      'Confirms the pending separation of the current workspace. The caller must be an approver who counts under the rule and did not request the separation, and must sign if a policy requires signatures. If there is no other approver, the account that requested it signs. The separation takes effect with the last confirmation.',
    body: ConfirmSeparation,
    response: { 200: SeparationView },
    before: ({ principal, body }) => proveSeparation(deps, principal, body),
    work: async (tx, { principal }, proof) => {
      await confirmSeparation(tx, deps.config, principal, proof)
      return ok(await viewSeparation(tx, currency, principal))
    },
  })
  routes.delete(path, 'workspaces.withdraw_separation', {
    permission: ['approval.decide', 'workspace.manage'],
    whileFrozen: true,
    summary: 'Withdraw the separation that waits',
    description: 'Nothing moves. The account that asked for it may, and every approver of a workspace on that balance.',
    response: { 200: SeparationView },
    work: async (tx, { principal }) => {
      await withdrawSeparation(tx, deps.config, principal)
      return ok(await viewSeparation(tx, currency, principal))
    },
  })
}
