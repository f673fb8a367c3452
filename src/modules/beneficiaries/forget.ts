import { eq } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import { statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { workspaces } from '../../db/tables/workspaces.ts'
import type { Uuid } from '../../lib/ids.ts'
import { destinationContext } from './destination-context.ts'

const ofOwner = prepare(
  'beneficiaries.of_owner',
  { owner: 'uuid' },
  (orm, at) =>
    orm
      .select({ id: beneficiaries.id, workspaceId: beneficiaries.workspaceId })
      .from(workspaces)
      .innerJoin(beneficiaries, eq(beneficiaries.workspaceId, workspaces.id))
      .where(eq(workspaces.owningAccountId, at.owner)),
  'pool',
)
// Nothing is left to ask a rail about.
const overwrite = statement(
  'beneficiaries.overwrite_destinations',
  `update beneficiaries b set destination_ciphertext = x.ciphertext, destination_key_id = $3, name_check_due_at = null
   from unnest($1::uuid[], $2::bytea[]) as x(id, ciphertext) where b.id = x.id`,
)

/** Overwrites where the payees of an account's workspaces are paid, for good: the account was closed, and nothing can be paid from it. */
export const forgetDestinations = async (tx: Tx, { vault }: { vault: Vault }, owner: Uuid): Promise<void> => {
  const rows = await tx.run(ofOwner, { owner })
  const sealed = rows.map(({ id, workspaceId }) => vault.seal('', destinationContext(id, workspaceId)))
  const [first] = sealed
  if (!first) return
  await tx.query(overwrite, [rows.map(({ id }) => id), sealed.map(({ ciphertext }) => ciphertext), first.keyId])
}
