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
      'Moves an amount from the shared balance to a new balance of the workspace, once. Only for teams of earlier versions, whose `balance_shared` is true, and only by the owning account. All later payments, top-ups and scheduled payments use the new balance; payments in progress settle on the old one. If a policy of a workspace on the shared balance requires two people or a signature, the separation waits (202, `pending_separation`).',
    body: SeparateBalance,
    response: { 200: SeparationView, 202: SeparationView },
    work: async (tx, { principal, body }) => {
      const waits = await requestSeparation(tx, deps.config, principal, body.amount_minor)
      const view = await viewSeparation(tx, currency, principal)
      // 202 while another approver must confirm.
      return waits ? accepted(view) : ok(view)
    },
  })
  routes.get(path, 'workspaces.read_separation', {
    permission: 'workspace.read',
    summary: 'Retrieve the pending separation',
    description:
      'Returns the pending separation of this workspace, or of another workspace on the same balance. Null if there is none.',
    response: { 200: SeparationView },
    read: ({ principal }) => viewSeparation(deps.db, currency, principal),
  })
  routes.post(`${path}/confirm`, 'workspaces.confirm_separation', {
    freshProof: 'always',
    access: 'undelegated',
    permission: 'approval.decide',
    idempotent: true,
    refuses: ['forbidden', 'insufficient_funds', 'invalid_signature', 'separation_of_duties'],
    summary: 'Confirm the pending separation',
    description:
      'Confirms the pending separation of the current workspace. The caller must be an approver who counts under the rule and did not request the separation, and must sign if a policy requires signatures. If there is no other approver, the account that requested it signs. The separation takes effect with the last confirmation. If the balance no longer covers the amount, nothing is confirmed (402).',
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
    summary: 'Withdraw the pending separation',
    description:
      'Withdraws the pending separation, so that no money moves. The account that requested it can do this, and so can every approver of a workspace on that balance.',
    response: { 200: SeparationView },
    work: async (tx, { principal }) => {
      await withdrawSeparation(tx, deps.config, principal)
      return ok(await viewSeparation(tx, currency, principal))
    },
  })
}
