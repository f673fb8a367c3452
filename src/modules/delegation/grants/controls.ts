import type { Db } from '../../../db/client.ts'
import { invalidFields } from '../../../lib/errors.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { missingBeneficiaries } from '../../beneficiaries/queries.ts'

/**
 * Beneficiaries in a list must belong to the workspace: else 400 with the list's path, the same for another tenant's beneficiary as for
 * none.
 */
export const requireBeneficiaries = async (
  db: Db,
  workspaceId: Uuid,
  ids: readonly Uuid[] | null,
  path: string,
): Promise<void> => {
  const missing = await missingBeneficiaries(db, workspaceId, ids ?? [])
  if (missing.length === 0) return
  throw invalidFields(
    ...missing.map((id) => ({ path, message: `${formatId('beneficiary', id)} is no beneficiary of this workspace` })),
  )
}
