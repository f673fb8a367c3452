import type { Vault } from './auth/vault.ts'
import type { Config } from './config.ts'
import type { Clock } from './lib/clock.ts'
import { forgetDestinations } from './modules/beneficiaries/service.ts'
import { detachLinkedBy } from './modules/identity/identities/link.ts'
import { removeMailData } from './modules/mail/settings-service.ts'
import { revokeUnsignedMandates } from './modules/mandates/end.ts'
import { endUnauthorizedPayments } from './modules/payments/approvals/unauthorized.ts'
import { ownersRelyingOn, voidLostDecisions } from './modules/payments/approvals/void.ts'
import type { OnAccountClosed, OnAuthorityLost, OnGrantsRevoked, OnRequesterLost } from './modules/ports.ts'

/** Connects features that cannot import each other. `modules/ports.ts` documents when each of these functions is called. */
export const connectFeatures = (parts: { clock: Clock; config: Config; vault: Vault }) => {
  const onAuthorityLost: OnAuthorityLost = async (tx, actor, accountId) => {
    await revokeUnsignedMandates(tx, actor, accountId)
    await voidLostDecisions(tx, actor, accountId)
  }
  const onRequesterLost: OnRequesterLost = endUnauthorizedPayments
  const onGrantsRevoked: OnGrantsRevoked = async (tx, actor, ended) => {
    await detachLinkedBy(tx, { ...parts, onAuthorityLost }, actor, ended)
    await onRequesterLost(tx, actor, ended)
  }
  const onAccountClosed: OnAccountClosed = async (tx, accountId) => {
    await Promise.all([forgetDestinations(tx, parts, accountId), removeMailData(tx, accountId)])
  }
  return { onGrantsRevoked, onAuthorityLost, onRequesterLost, onAccountClosed, ownersRelyingOn }
}
