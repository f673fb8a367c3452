import { eq } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { sessions } from '../../db/tables/sessions.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { accessDisabled } from '../../events/types.ts'
import { type Balance, lockBalance } from '../../ledger/ledger.ts'
import { conflict, found } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { revokeGrantsOf } from '../delegation/revoke-service.ts'
import { type Operator, refuseOwnAccount } from '../operators.ts'
import type { Parts } from '../parts.ts'
import { endInvitationsOf } from '../workspaces/member-service.ts'
import { publishWorkspaceStatusEvent } from '../workspaces/membership.ts'
import { workspacesOnBalance } from '../workspaces/queries.ts'
import { requireOtherOwners } from '../workspaces/service.ts'
import { type AccountRecord, findAccount, listMembershipsOf, lockAccountRow } from './accounts/queries.ts'
import { detachIdentities } from './identities/link.ts'
import { listPasskeys, removePasskey } from './passkeys/service.ts'
import type { AdministerAccount } from './schema.ts'
import { revokeSessions } from './sessions/service.ts'

type AdministerDeps = Pick<Parts, 'config' | 'onAuthorityLost' | 'onGrantsRevoked'>

type Capabilities = NonNullable<AdministerAccount['capabilities']>
const columns = {
  topups: 'topupsEnabled',
  payments: 'paymentsEnabled',
  api_keys: 'apiKeysEnabled',
  oauth: 'oauthEnabled',
} as const satisfies Record<keyof Capabilities, keyof AccountRecord>

const capabilities = Object.keys(columns) as (keyof Capabilities)[]

const capabilityChange = (changes: Capabilities): Partial<AccountRecord> =>
  Object.fromEntries(capabilities.flatMap((name) => (changes[name] ? [[columns[name], changes[name] === 'active']] : [])))

const auditView = (account: AccountRecord) => ({
  status: account.status,
  capabilities: Object.fromEntries(capabilities.map((name) => [name, account[columns[name]]])),
})

const liftsRestriction = (before: AccountRecord, after: AccountRecord): boolean =>
  (before.status !== 'active' && after.status === 'active') || Object.values(columns).some((name) => !before[name] && after[name])

/** Refuses to close an account with money: its owner could not sign in to withdraw it. Pay it out or adjust the balance first. */
const refuseToClose = ({ availableMinor, heldMinor }: Balance): void => {
  if (availableMinor !== 0n || heldMinor !== 0n) throw conflict('An account with a balance cannot be closed.', 'balance')
}

const endCredentials = async (tx: Tx, deps: AdministerDeps, operator: Operator, id: Uuid): Promise<void> => {
  await endInvitationsOf(tx, operator, id)
  await revokeSessions(tx, deps.config, operator, { accountId: id })
  await revokeGrantsOf(tx, deps.onGrantsRevoked, operator, { accountId: id, workspaceId: null })
}

/** Locks the balance first, so that a payment that is being decided concurrently is not sent afterwards. */
export const administerAccount = async (tx: Tx, deps: AdministerDeps, operator: Operator, id: Uuid, input: AdministerAccount) => {
  found(await findAccount(tx, id))
  const balance = await lockBalance(tx, id)
  const before = await lockAccountRow(tx, id)
  const status = input.status ?? before.status
  if (status !== before.status && operator.accountId === id)
    throw conflict('Administrators cannot freeze or close their own account.', 'self')
  if (status === 'closed' && before.status !== 'closed') {
    refuseToClose(balance)
    await requireOtherOwners(tx, id)
  }
  const after: AccountRecord = { ...before, ...capabilityChange(input.capabilities ?? {}), status }
  if (liftsRestriction(before, after)) await refuseOwnAccount(tx, operator, id)
  if (JSON.stringify(auditView(after)) === JSON.stringify(auditView(before))) return before
  const { at } = tx
  const { topupsEnabled, paymentsEnabled, apiKeysEnabled, oauthEnabled } = after
  const onBalance = await tx.run(workspacesOnBalance, { holderId: id })
  updateRow(tx, accounts, { id }, { status, topupsEnabled, paymentsEnabled, apiKeysEnabled, oauthEnabled, updatedAt: at })
  for (const workspace of onBalance) await publishWorkspaceStatusEvent(tx, deps.config, workspace)
  if (!apiKeysEnabled || !oauthEnabled)
    await appendEvents(tx, [{ type: accessDisabled, accountId: id, workspaceId: null, data: null }])
  audit(tx, operator, 'admin.account_update', {
    workspaceId: null,
    subject: id,
    before: auditView(before),
    after: { ...auditView(after), reason: input.reason },
  })
  if (status === 'closed' && before.status !== 'closed') await endCredentials(tx, deps, operator, id)
  if (status !== 'active') await deps.onAuthorityLost(tx, operator, id)
  return { ...after, updatedAt: at }
}

export const setAdministrator = async (tx: Tx, operator: Operator, id: Uuid, isAdmin: boolean): Promise<boolean> => {
  const account = await lockAccountRow(tx, id)
  if (account.isAdmin === isAdmin) return false
  updateRow(tx, accounts, { id }, { isAdmin, updatedAt: tx.at })
  audit(tx, operator, isAdmin ? 'admin.grant' : 'admin.revoke', {
    workspaceId: null,
    subject: id,
    before: { is_admin: account.isAdmin },
    after: { is_admin: isAdmin },
  })
  return true
}

type CloseDeps = Pick<Parts, 'config' | 'onAccountClosed' | 'onAuthorityLost' | 'onGrantsRevoked' | 'onRequesterLost'>

const forgetSessions = prepareWrite('sessions.forget_origins', { accountId: 'uuid' }, (orm, param) =>
  orm.update(sessions).set({ ip: null, userAgent: null, browserHash: null }).where(eq(sessions.accountId, param.accountId)),
)

/**
 * Erases the person's data. The books, signed texts, receipts and the audit log are kept. A later sign-in with the same method
 * creates a new account.
 */
export const closeOwnAccount = async (tx: Tx, deps: CloseDeps, principal: Principal): Promise<void> => {
  const { accountId } = principal
  refuseToClose(await lockBalance(tx, accountId))
  await requireOtherOwners(tx, accountId)
  const account = await lockAccountRow(tx, accountId)
  if (principal.isAdmin) throw conflict('Administrators cannot close their own account.', 'self')
  await endCredentials(tx, deps, principal, accountId)
  for (const { id } of await listPasskeys(tx, { accountId })) await removePasskey(tx, deps.onAuthorityLost, principal, id)
  await detachIdentities(tx, deps, principal, 'all')
  const onBalance = await tx.run(workspacesOnBalance, { holderId: accountId })
  updateRow(tx, accounts, { id: accountId }, { status: 'closed', email: null, displayName: null, updatedAt: tx.at })
  for (const workspace of onBalance) await publishWorkspaceStatusEvent(tx, deps.config, workspace)
  tx.defer(tx.run(forgetSessions, { accountId }))
  audit(tx, principal, 'account.close', {
    workspaceId: null,
    subject: accountId,
    before: { status: account.status },
    after: { status: 'closed' },
  })
  const workspaceIds = (await listMembershipsOf(tx, { accountId })).map(({ workspaceId }) => workspaceId)
  await deps.onRequesterLost(tx, principal, { accountId, workspaceIds })
  await deps.onAuthorityLost(tx, principal, accountId)
  await deps.onAccountClosed(tx, accountId)
}
