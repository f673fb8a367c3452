import type { Db } from '../../db/client.ts'
import { invalidFields } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Limits } from '../../policy/types.ts'

/** A grant's spending controls as they are stored; null = no such limit from this grant. */
export type Controls = Limits & { paymentTypes: string[] | null; beneficiaryIds: Uuid[] | null }

export const noControls: Controls = {
  perPaymentLimitMinor: null,
  dailyLimitMinor: null,
  monthlyLimitMinor: null,
  approvalThresholdMinor: null,
  paymentTypes: null,
  beneficiaryIds: null,
}

/** Beneficiaries that a list names must be of the workspace: else 400 with the list's path, the same for another tenant's as for none. */
export const requireBeneficiaries = async (
  db: Db,
  workspaceId: Uuid,
  ids: readonly Uuid[] | null,
  path: string,
): Promise<void> => {
  if (!ids || ids.length === 0) return
  const found = await db.query<{ id: Uuid }>('select id from beneficiaries where workspace_id = $1 and id = any($2::uuid[])', [
    workspaceId,
    ids,
  ])
  const known = new Set(found.map(({ id }) => id))
  const missing = ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: `${path}.${index}`, message: 'is no beneficiary of this workspace' }],
  )
  if (missing.length > 0) throw invalidFields(...missing)
}
