import type { Feed } from '../events/feed.ts'
import type { App } from '../http/app-type.ts'
import { registerAuditLog, registerWorkspaceAuditLog } from './audit-log/routes.ts'
import { registerBalances } from './balances/routes.ts'
import { registerBeneficiaries } from './beneficiaries/routes.ts'
import { registerCredentials } from './credentials/routes.ts'
import { revokeGrantsOf } from './delegation/revoke-service.ts'
import { registerGrants, registerWorkspaceGrants } from './delegation/routes.ts'
import { registerEvidence } from './evidence/routes.ts'
import { registerCorrections, registerReconciliation } from './exceptions/routes.ts'
import { registerSuspense } from './exceptions/suspense-routes.ts'
import { registerAccounts, registerAdminAccounts } from './identity/accounts/routes.ts'
import { openHolder } from './identity/accounts/service.ts'
import { registerIdentities } from './identity/routes.ts'
import { registerSignIn } from './identity/sign-in/routes.ts'
import { registerNotificationSettings } from './mail/routes.ts'
import { registerMandates } from './mandates/routes.ts'
import { registerNotifications } from './notifications/routes.ts'
import { registerOAuth } from './oauth/routes.ts'
import { renewTexts } from './payments/approvals/renew.ts'
import { registerApprovals } from './payments/approvals/routes.ts'
import { registerPaymentBatches } from './payments/batch-routes.ts'
import type { Deps as PaymentsDeps } from './payments/request.ts'
import { registerPayments } from './payments/routes.ts'
import { registerPolicies } from './policies/routes.ts'
import { registerProof } from './proof/routes.ts'
import { registerPush } from './push/routes.ts'
import type { Push } from './push/send.ts'
import type { RequestLog } from './request-log/recorder.ts'
import { registerRequestLogRoutes } from './request-log/routes.ts'
import { registerSimulation } from './simulation/routes.ts'
import { registerStatements } from './statements/routes.ts'
import { registerTopups } from './topups/routes.ts'
import { registerAdminLedger } from './trial-balance/routes.ts'
import { registerAdminWorkspaces, registerWorkspaces } from './workspaces/routes.ts'

export type RoutesDeps = PaymentsDeps & { feed: Feed; push: Push | null; requestLog: RequestLog }

/** Registers every feature's routes, in the order of the API document. */
export const registerModules = (app: App, deps: RoutesDeps): void => {
  registerAccounts(app, deps)
  registerStatements(app, deps)
  registerRequestLogRoutes(app, deps)
  registerCredentials(app, deps)
  registerGrants(app, deps)
  registerIdentities(app, deps)
  registerSignIn(app, deps)
  registerOAuth(app, deps)
  registerWorkspaces(app, deps, {
    endDelegations: async (tx, actor, member) => void (await revokeGrantsOf(tx, deps.onGrantsRevoked, actor, member)),
    openHolder,
  })
  registerBalances(app, deps)
  registerWorkspaceGrants(app, deps)
  registerWorkspaceAuditLog(app, deps)
  registerEvidence(app, deps)
  registerBeneficiaries(app, { ...deps, onNameChanged: renewTexts })
  registerPolicies(app, deps)
  registerPush(app, deps)
  registerNotificationSettings(app, deps)
  registerNotifications(app, deps)
  registerPaymentBatches(app, deps)
  registerPayments(app, deps)
  registerProof(app, deps)
  registerSimulation(app, deps)
  registerApprovals(app, deps)
  registerMandates(app, deps)
  registerTopups(app, deps)
  // For administrators in person. The principal already identifies administrators, so no other check is needed.
  registerAdminAccounts(app, deps)
  registerAdminWorkspaces(app, deps)
  registerCorrections(app, deps)
  registerAdminLedger(app, deps)
  registerSuspense(app, deps)
  registerReconciliation(app, deps)
  registerAuditLog(app, deps)
}
