import { eq } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { sessions } from '../../db/tables/sessions.ts'
import { audit } from '../../events/audit.ts'
import { lockBalance } from '../../ledger/ledger.ts'
import { conflict } from '../../lib/errors.ts'
import type { Parts } from '../parts.ts'
import { endCredentials, publishWorkspaceStatusEvents, refuseToClose } from './accounts/administer.ts'
import { listMembershipsOf, lockAccountRow } from './accounts/queries.ts'
import { detachThese } from './identities/link.ts'
import { removePasskeysOf } from './passkeys/service.ts'
import { requireSignInAuthority } from './sessions/authority.ts'

type CloseDeps = Pick<Parts, 'config' | 'onAccountClosed' | 'onAuthorityLost' | 'onGrantsRevoked' | 'onRequesterLost'>

const forgetSessions = prepareWrite('sessions.forget_origins', { accountId: 'uuid' }, (orm, at) =>
  orm.update(sessions).set({ ip: null, userAgent: null }).where(eq(sessions.accountId, at.accountId)),
)

/**
 * Closes the caller's own account for good, and forgets the person: e-mail, name, sign-in methods, where its sessions were, and where its payees
 * are paid. The books stay, and with them what was signed, receipts and the audit log. Someone who signs in the same way afterwards begins
 * a new account.
 */
export const closeOwnAccount = async (tx: Tx, deps: CloseDeps, principal: Principal): Promise<void> => {
  const { accountId } = principal
  const { at } = tx
  await requireSignInAuthority(tx, deps.config, principal)
  refuseToClose(await lockBalance(tx, accountId))
  const account = await lockAccountRow(tx, accountId)
  if (principal.isAdmin) throw conflict('Administrators cannot close their own account.', 'self')
  await endCredentials(tx, deps, principal, accountId)
  await removePasskeysOf(tx, deps.onAuthorityLost, principal)
  await detachThese(tx, deps, principal, 'all')
  await publishWorkspaceStatusEvents(tx, deps.config, accountId, async () => {
    updateRow(tx, accounts, { id: accountId }, { status: 'closed', email: null, displayName: null, updatedAt: at })
  })
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
