import type { App } from '../http/app-type.ts'
import type { Deps as AuditLogDeps } from './audit-log/deps.ts'
import { registerAuditLog } from './audit-log/routes.ts'
import type { Deps as ExceptionsDeps } from './exceptions/deps.ts'
import { registerAdjustments, registerReconciliation, registerSuspense } from './exceptions/routes.ts'
import { registerAdminAccounts } from './identity/accounts/admin-routes.ts'
import type { Deps as IdentityDeps } from './identity/deps.ts'
import { registerAdminPayments } from './payments/admin-routes.ts'
import type { Deps as PaymentsDeps } from './payments/deps.ts'
import type { Deps as TopupsDeps } from './topups/deps.ts'
import type { Deps as TrialBalanceDeps } from './trial-balance/deps.ts'
import { registerAdminLedger } from './trial-balance/routes.ts'
import { registerAdminWorkspaces } from './workspaces/admin-routes.ts'
import type { Deps as WorkspacesDeps } from './workspaces/deps.ts'

export type AdminDeps = AuditLogDeps &
  ExceptionsDeps &
  IdentityDeps &
  PaymentsDeps &
  TopupsDeps &
  TrialBalanceDeps &
  WorkspacesDeps

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
