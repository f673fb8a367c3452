import type { OperationTexts } from '../http/operation-text.ts'
import { serviceOperations } from '../http/service-routes.ts'
import { auditLogOperations } from './audit-log/operations.ts'
import { beneficiariesOperations } from './beneficiaries/operations.ts'
import { credentialsOperations } from './credentials/operations.ts'
import { delegationOperations } from './delegation/operations.ts'
import { exceptionsOperations } from './exceptions/operations.ts'
import { identityOperations } from './identity/operations.ts'
import { mandatesOperations } from './mandates/operations.ts'
import { notificationsOperations } from './notifications/operations.ts'
import { oauthOperations } from './oauth/operations.ts'
import { paymentsOperations } from './payments/operations.ts'
import { policiesOperations } from './policies/operations.ts'
import { proofOperations } from './proof/operations.ts'
import { pushOperations } from './push/operations.ts'
import { requestLogOperations } from './request-log/operations.ts'
import { simulationOperations } from './simulation/operations.ts'
import { statementsOperations } from './statements/operations.ts'
import { topupsOperations } from './topups/operations.ts'
import { trialBalanceOperations } from './trial-balance/operations.ts'
import { workspacesOperations } from './workspaces/operations.ts'

/** The texts of every operation: each feature has its own beside its routes. */
export const operationTexts = {
  ...exceptionsOperations,
  ...auditLogOperations,
  ...beneficiariesOperations,
  ...credentialsOperations,
  ...delegationOperations,
  ...identityOperations,
  ...mandatesOperations,
  ...notificationsOperations,
  ...oauthOperations,
  ...paymentsOperations,
  ...policiesOperations,
  ...proofOperations,
  ...pushOperations,
  ...requestLogOperations,
  ...simulationOperations,
  ...statementsOperations,
  ...topupsOperations,
  ...trialBalanceOperations,
  ...workspacesOperations,
  ...serviceOperations,
} satisfies OperationTexts

type Described = { [Name in keyof typeof operationTexts]: true }

// A route that names an operation without a text does not compile.
declare module '../http/app-type.ts' {
  interface OperationNames extends Described {}
}
