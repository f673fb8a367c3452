import type { App } from '../http/app-type.ts'
import { registerAdmin } from './admin-routes.ts'
import { registerWorkspaceAuditLog } from './audit-log/routes.ts'
import { registerBeneficiaries } from './beneficiaries/routes.ts'
import { registerCredentials } from './credentials/routes.ts'
import { registerApiKeys } from './delegation/api-keys/routes.ts'
import { registerGrants } from './delegation/grants/routes.ts'
import { revokeGrantsOf } from './delegation/grants/service.ts'
import { registerWorkspaceGrants } from './delegation/grants/workspace-routes.ts'
import type { Deps } from './deps.ts'
import { registerAccounts } from './identity/accounts/routes.ts'
import { registerIdentities } from './identity/identities/routes.ts'
import { registerSessions } from './identity/sessions/routes.ts'
import { registerSignIn } from './identity/sign-in/routes.ts'
import { registerMandates } from './mandates/routes.ts'
import { registerNotifications } from './notifications/routes.ts'
import { oauthCatalogue } from './oauth/errors.ts'
import { registerOAuth } from './oauth/routes.ts'
import { registerApprovals } from './payments/approvals/routes.ts'
import { registerPayments } from './payments/routes.ts'
import { registerPolicies } from './policies/routes.ts'
import { registerSimulation } from './simulation/routes.ts'
import { registerTopups } from './topups/routes.ts'
import { registerInvitations } from './workspaces/invitations/routes.ts'
import { registerMembers } from './workspaces/members/routes.ts'
import { registerWorkspaces } from './workspaces/routes.ts'

/** The codes of OAuth's endpoints: each has a page beside those of our own codes. */
export const oauthCodes = Object.entries(oauthCatalogue).map(([code, [status, sentence]]) => ({ code, status, sentence }))

/** Every feature's routes, in the order of the contract. */
export const registerModules = (app: App, deps: Deps): void => {
  registerAccounts(app, deps)
  registerCredentials(app, deps)
  registerGrants(app, deps)
  registerApiKeys(app, deps)
  registerIdentities(app, deps)
  registerSessions(app, deps)
  registerSignIn(app, deps)
  registerOAuth(app, deps)
  registerWorkspaces(app, deps)
  registerMembers(app, deps, (tx, actor, member) => revokeGrantsOf(tx, deps, actor, member))
  registerInvitations(app, deps)
  registerWorkspaceGrants(app, deps)
  registerWorkspaceAuditLog(app, deps)
  registerBeneficiaries(app, deps)
  registerPolicies(app, deps)
  registerNotifications(app, deps)
  registerPayments(app, deps)
  registerSimulation(app, deps)
  registerApprovals(app, deps)
  registerMandates(app, deps)
  registerTopups(app, deps)
  registerAdmin(app, deps)
}
