import type { App } from '../http/app-type.ts'
import { registerAdjustments } from './adjustments/routes.ts'
import { registerAuditLog } from './audit-log/routes.ts'
import type { Deps } from './deps.ts'
import { registerAdminAccounts } from './identity/accounts/admin-routes.ts'
import { registerAdminPayments } from './payments/admin-routes.ts'
import { registerReconciliation } from './reconciliation/routes.ts'
import { registerSuspense } from './suspense/routes.ts'
import { registerAdminLedger } from './trial-balance/routes.ts'
import { registerAdminWorkspaces } from './workspaces/admin-routes.ts'

/** For administrators in person. No other check is needed: the principal says who is an administrator. */
export const registerAdmin = (app: App, deps: Deps): void => {
  registerAdminAccounts(app, deps)
  registerAdminWorkspaces(app, deps)
  registerAdminPayments(app, deps)
  registerAdjustments(app, deps)
  registerAdminLedger(app, deps)
  registerSuspense(app, deps)
  registerReconciliation(app, deps)
  registerAuditLog(app, deps)
}
