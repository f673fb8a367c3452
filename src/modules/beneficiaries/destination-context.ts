import type { Uuid } from '../../lib/ids.ts'

/** The context that a sealed destination is bound to: moved to another row or workspace it cannot be opened. */
export const destinationContext = (beneficiaryId: Uuid, workspaceId: Uuid): readonly string[] => [
  'beneficiary',
  beneficiaryId,
  workspaceId,
]
