import type { Config } from '../../../config.ts'
import type { Tx } from '../../../db/client.ts'
import { updateRow } from '../../../db/prepare-write.ts'
import { accounts } from '../../../db/tables/accounts.ts'
import { audit } from '../../../events/audit.ts'
import { type Balance, lockBalance } from '../../../ledger/ledger.ts'
import { conflict, notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { revokeGrantsOf } from '../../delegation/service.ts'
import { type Operator, refuseOwnAccount } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { publishWorkspaceStatusEvent } from '../../workspaces/membership.ts'
import { findWorkspace } from '../../workspaces/queries.ts'
import type { AdministerAccount } from '../schema.ts'
import { revokeSessions } from '../sessions/service.ts'
import { type AccountRecord, findAccount, listOwnedWorkspaces, lockAccountRow } from './queries.ts'

type AdministerDeps = Pick<Parts, 'config' | 'onAuthorityLost' | 'onGrantsRevoked'>

type Capabilities = NonNullable<AdministerAccount['capabilities']>
const columns = {
  topups: 'topupsEnabled',
  payments: 'paymentsEnabled',
  api_keys: 'apiKeysEnabled',
  oauth: 'oauthEnabled',
} as const satisfies Record<keyof Capabilities, keyof AccountRecord>

const names = Object.keys(columns) as (keyof Capabilities)[]

const capabilityChange = (changes: Capabilities): Partial<AccountRecord> =>
  Object.fromEntries(names.flatMap((name) => (changes[name] ? [[columns[name], changes[name] === 'active']] : [])))

const auditView = ({ status, topupsEnabled, paymentsEnabled, apiKeysEnabled, oauthEnabled }: AccountRecord) => ({
  status,
  capabilities: { topups: topupsEnabled, payments: paymentsEnabled, api_keys: apiKeysEnabled, oauth: oauthEnabled },
})

/** Whether the account may do more afterwards. */
const lifts = (before: AccountRecord, after: AccountRecord): boolean =>
  (before.status !== 'active' && after.status === 'active') || Object.values(columns).some((name) => !before[name] && after[name])

/** Money in an account without a sign-in would be lost to its owner: it is paid out, or adjusted away, before the account is closed. */
export const refuseToClose = ({ availableMinor, heldMinor }: Balance): void => {
  if (availableMinor !== 0n || heldMinor !== 0n) throw conflict('An account with a balance cannot be closed.', 'balance')
}

export const endCredentials = async (tx: Tx, deps: AdministerDeps, operator: Operator, id: Uuid): Promise<void> => {
  await revokeSessions(tx, deps.config, operator, { accountId: id })
  await revokeGrantsOf(tx, deps.onGrantsRevoked, operator, { accountId: id, workspaceId: null })
}

export const publishWorkspaceStatusEvents = async (
  tx: Tx,
  config: Config,
  id: Uuid,
  change: () => Promise<void>,
): Promise<void> => {
  const owned = await listOwnedWorkspaces(tx, { owningAccountId: id })
  const before = await Promise.all(owned.map((workspace) => findWorkspace(tx, workspace.id)))
  await change()
  for (const workspace of before) if (workspace) await publishWorkspaceStatusEvent(tx, config, workspace)
}

/**
 * Freezes, closes or reactivates an account, and changes what it may do. Takes the lock of its money: a payment that is being decided at
 * the same time is not sent afterwards.
 */
export const administerAccount = async (
  tx: Tx,
  deps: AdministerDeps,
  operator: Operator,
  id: Uuid,
  input: AdministerAccount,
): Promise<AccountRecord> => {
  if (!(await findAccount(tx, id))) throw notFound()
  const balance = await lockBalance(tx, id)
  const before = await lockAccountRow(tx, id)
  const status = input.status ?? before.status
  if (status !== before.status && operator.accountId === id)
    throw conflict('Administrators cannot freeze or close their own account.', 'self')
  if (status === 'closed' && before.status !== 'closed') refuseToClose(balance)
  const after: AccountRecord = { ...before, ...capabilityChange(input.capabilities ?? {}), status }
  if (lifts(before, after)) await refuseOwnAccount(tx, operator, id)
  if (JSON.stringify(auditView(after)) === JSON.stringify(auditView(before))) return before
  const { at } = tx
  const { topupsEnabled, paymentsEnabled, apiKeysEnabled, oauthEnabled } = after
  await publishWorkspaceStatusEvents(tx, deps.config, id, async () => {
    updateRow(tx, accounts, { id }, { status, topupsEnabled, paymentsEnabled, apiKeysEnabled, oauthEnabled, updatedAt: at })
  })
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

/** Makes an account an administrator, or ends that. ADMIN_ACCOUNTS stays as it is. */
export const setAdministrator = async (tx: Tx, operator: Operator, id: Uuid, isAdmin: boolean): Promise<boolean> => {
  const account = await lockAccountRow(tx, id)
  if (account.isAdmin === isAdmin) return false
  const { at } = tx
  updateRow(tx, accounts, { id }, { isAdmin, updatedAt: at })
  audit(tx, operator, isAdmin ? 'admin.grant' : 'admin.revoke', {
    workspaceId: null,
    subject: id,
    before: { is_admin: account.isAdmin },
    after: { is_admin: isAdmin },
  })
  return true
}
