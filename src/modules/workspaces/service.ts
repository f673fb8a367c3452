import type { Tx } from '../../db/client.ts'
import { members, workspaces } from '../../db/tables/workspaces.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Deps } from '../deps.ts'

export const defaultTimeZone = 'Africa/Nairobi'

export const createPersonalWorkspace = (tx: Tx, deps: Deps, accountId: Uuid): Promise<Uuid> =>
  insertWorkspace(tx, deps, { ownerId: accountId, name: 'Personal', kind: 'personal', timeZone: defaultTimeZone })

export const insertWorkspace = async (
  tx: Tx,
  deps: Deps,
  workspace: { ownerId: Uuid; name: string; kind: 'personal' | 'team'; timeZone: string },
): Promise<Uuid> => {
  const at = deps.clock.now()
  const id = newId()
  const { ownerId, name, kind, timeZone } = workspace
  await tx.orm.insert(workspaces).values({ id, name, kind, timeZone, owningAccountId: ownerId, createdAt: at, updatedAt: at })
  await tx.orm
    .insert(members)
    .values({ id: newId(), workspaceId: id, accountId: ownerId, role: 'owner', createdAt: at, updatedAt: at })
  return id
}
