import { eq, inArray } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import type { Tx } from '../../db/client.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { workspaces } from '../../db/tables/workspaces.ts'
import type { Uuid } from '../../lib/ids.ts'
import { destinationContext } from './service.ts'

/** Overwrites where the payees of an account's workspaces are paid, for good: the account was closed, and nothing can be paid from it. */
export const forgetDestinations = async (tx: Tx, { vault }: { vault: Vault }, owner: Uuid): Promise<void> => {
  const owned = tx.orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.owningAccountId, owner))
  const rows = await tx.orm
    .select({ id: beneficiaries.id, workspaceId: beneficiaries.workspaceId })
    .from(beneficiaries)
    .where(inArray(beneficiaries.workspaceId, owned))
  for (const { id, workspaceId } of rows) {
    const { ciphertext, keyId } = vault.seal('', destinationContext(id, workspaceId))
    await tx.orm
      .update(beneficiaries)
      .set({ destinationCiphertext: ciphertext, destinationKeyId: keyId })
      .where(eq(beneficiaries.id, id))
  }
}
