import type { App } from '../http/app-type.ts'
import { registerAccounts } from './accounts/routes.ts'
import { registerAdmin } from './admin/routes.ts'
import { registerApiKeys } from './api-keys/routes.ts'
import { registerApprovals } from './approvals/routes.ts'
import { registerBeneficiaries } from './beneficiaries/routes.ts'
import type { Deps } from './deps.ts'
import { registerGrants } from './grants/routes.ts'
import { registerIdentities } from './identities/routes.ts'
import { registerMandates } from './mandates/routes.ts'
import { registerNotifications } from './notifications/routes.ts'
import { registerOAuth } from './oauth/routes.ts'
import { registerPayments } from './payments/routes.ts'
import { registerPolicies } from './policies/routes.ts'
import { registerSessions } from './sessions/routes.ts'
import { registerSignIn } from './sign-in/routes.ts'
import { registerTopups } from './topups/routes.ts'
import { registerWorkspaces } from './workspaces/routes.ts'

/** Every feature's routes, in the order of the contract. */
export const registerModules = (app: App, deps: Deps): void => {
  registerAccounts(app, deps)
  registerGrants(app, deps)
  registerApiKeys(app, deps)
  registerIdentities(app, deps)
  registerSessions(app, deps)
  registerSignIn(app, deps)
  registerOAuth(app, deps)
  registerWorkspaces(app, deps)
  registerBeneficiaries(app, deps)
  registerPolicies(app, deps)
  registerNotifications(app, deps)
  registerPayments(app, deps)
  registerApprovals(app, deps)
  registerMandates(app, deps)
  registerTopups(app, deps)
  registerAdmin(app, deps)
}
