import { and, eq } from 'drizzle-orm'
import { first, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { prepare } from '../../db/prepare.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { grants } from '../../db/tables/grants.ts'
import { conflict, notFound, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { requireAllowable } from '../beneficiaries/queries.ts'
import { walletKey } from '../identity/identities/proof.ts'
import { findIdentity } from '../identity/identities/queries.ts'
import { workspaceStatus } from '../workspaces/present.ts'
import { findPersonalWorkspaceId, shareWorkspace } from '../workspaces/queries.ts'
import type { MandateTerms } from './schema.ts'

const statusOf = prepare('accounts.status', { id: 'uuid' }, (orm, at) =>
  orm.select({ id: accounts.id, status: accounts.status }).from(accounts).where(eq(accounts.id, at.id)),
)
const shareGrant = prepare('grants.share_of_account', { id: 'uuid', accountId: 'uuid', workspaceId: 'uuid' }, (orm, at) =>
  orm
    .select()
    .from(grants)
    .where(and(eq(grants.id, at.id), eq(grants.accountId, at.accountId), eq(grants.workspaceId, at.workspaceId)))
    .for('share'),
)

/** The account to which the wallet is linked now. */
export const signingAccount = async (tx: Tx, signer: string) => {
  const identity = await findIdentity(tx, walletKey(signer))
  if (!identity) return undefined
  return first(tx, statusOf, { id: identity.accountId })
}

/** An active grant of this account in this workspace; another account's grant is answered with the same 404 as none. */
const requireGrant = async (tx: Tx, id: Uuid, accountId: Uuid, workspaceId: Uuid, at: Date): Promise<void> => {
  const grant = await first(tx, shareGrant, { id, accountId, workspaceId })
  if (!grant) throw notFound('terms.grant_id')
  if (grantLife(grant, at) !== 'active') throw conflict('This grant has ended.', 'grant_ended')
}

/** Only the owner of the money can agree to spending it: the workspace must belong to the signer's account. */
export const requireScope = async (tx: Tx, terms: MandateTerms, accountId: Uuid, at: Date): Promise<Uuid> => {
  const workspaceId = terms.workspaceId ?? (await findPersonalWorkspaceId(tx, accountId))
  const workspace = await shareWorkspace(tx, workspaceId)
  if (workspace?.owningAccountId !== accountId) throw notFound('terms.workspace_id')
  if (workspaceStatus(workspace) !== 'active') throw new Refusal('workspace_frozen')
  if (terms.grantId) await requireGrant(tx, terms.grantId, accountId, workspaceId, at)
  await requireAllowable(tx, workspaceId, terms.beneficiaryIds, 'terms.beneficiary_ids')
  return workspaceId
}
