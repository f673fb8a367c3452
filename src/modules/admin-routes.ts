import type { App } from '../http/app-type.ts'
import { registerAuditLog } from './audit-log/routes.ts'
import { registerAdminPayments } from './exceptions/payments-routes.ts'
import { registerAdjustments, registerReconciliation, registerSuspense } from './exceptions/routes.ts'
import { registerAdminAccounts } from './identity/accounts/admin-routes.ts'
import type { Parts } from './parts.ts'
import { registerAdminLedger } from './trial-balance/routes.ts'
import { registerAdminWorkspaces } from './workspaces/routes.ts'

export type AdminDeps = Parts

/** For administrators in person. No other check is needed: the principal says who is an administrator. */
export const registerAdmin = (app: App, deps: AdminDeps): void => {
  registerAdminAccounts(app, deps)
  registerAdminWorkspaces(app, deps)
  registerAdminPayments(app, deps)
  registerAdjustments(app, deps)
  registerAdminLedger(app, deps)
  registerSuspense(app, deps)
  registerReconciliation(app, deps)
  registerAuditLog(app, deps)
}
