import type { App } from '../../http/app-type.ts'
import type { Deps } from '../deps.ts'
import { registerAdminAccounts } from './account-routes.ts'
import { registerAdjustments } from './adjustment-routes.ts'
import { registerAuditLog } from './audit-routes.ts'
import { registerAdminLedger } from './ledger-routes.ts'
import { registerAdminPayments } from './payment-routes.ts'
import { registerAdminWorkspaces } from './workspace-routes.ts'

/** For administrators in person. Each of them asks for nothing else: who is one is decided with the principal. */
export const registerAdmin = (app: App, deps: Deps): void => {
  registerAdminAccounts(app, deps)
  registerAdminWorkspaces(app, deps)
  registerAdminPayments(app, deps)
  registerAdjustments(app, deps)
  registerAdminLedger(app, deps)
  registerAuditLog(app, deps)
}
