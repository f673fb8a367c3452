import { accounts, identities } from './tables/accounts.ts'
import { adjustments } from './tables/adjustments.ts'
import { approvalDecisions, approvals } from './tables/approvals.ts'
import { beneficiaries, payees } from './tables/beneficiaries.ts'
import { auditLog, auditSeals, events, idempotencyKeys } from './tables/events.ts'
import { apiKeys, grants } from './tables/grants.ts'
import { ledgerAccounts, ledgerTransfers } from './tables/ledger.ts'
import { intentMandates } from './tables/mandates.ts'
import { oauthAccessTokens, oauthAuthorizations, oauthClients, oauthGrants } from './tables/oauth.ts'
import { callbackDeliveries, payments, railAttempts, topups } from './tables/payments.ts'
import { spendingPolicies, spendingPolicyVersions, usageCounters } from './tables/policies.ts'
import { railPauses, reconciliationDifferences, reconciliations, suspenseItems, verifyPoints } from './tables/rails.ts'
import { schedules } from './tables/schedules.ts'
import { dashboardTokens, nonces, sessions } from './tables/sessions.ts'
import { signInFlows } from './tables/sign-in-flows.ts'
import { invitations, members, workspaces } from './tables/workspaces.ts'

export const tables = {
  accounts,
  identities,
  adjustments,
  approvals,
  approvalDecisions,
  beneficiaries,
  payees,
  auditLog,
  auditSeals,
  events,
  idempotencyKeys,
  apiKeys,
  grants,
  ledgerAccounts,
  ledgerTransfers,
  intentMandates,
  oauthClients,
  oauthAuthorizations,
  oauthGrants,
  oauthAccessTokens,
  callbackDeliveries,
  payments,
  railAttempts,
  railPauses,
  reconciliations,
  reconciliationDifferences,
  suspenseItems,
  verifyPoints,
  topups,
  spendingPolicies,
  spendingPolicyVersions,
  usageCounters,
  schedules,
  dashboardTokens,
  nonces,
  sessions,
  signInFlows,
  invitations,
  members,
  workspaces,
}
