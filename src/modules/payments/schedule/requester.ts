import type { Principal } from '../../../auth/principal.ts'
import type { Tx } from '../../../db/client.ts'
import { findWorkspace } from '../../workspaces/queries.ts'
import type { Authority } from '../evaluation/authority.ts'
import type { PaymentRecord } from '../queries.ts'

/**
 * Who asked for a scheduled payment, as its decision sees a caller: the account, and the grant with those above it. Nobody calls: what a
 * credential has beside these is empty, and whether the requester may still ask for it is `Authority`.
 */
export const requesterOf = async (
  tx: Tx,
  payment: PaymentRecord,
  { lineage, stop }: Pick<Authority, 'lineage' | 'stop'>,
): Promise<Principal> => {
  const workspace = await findWorkspace(tx, payment.workspaceId)
  if (!workspace) throw new Error('a payment has no workspace')
  const { id, owningAccountId, timeZone, nextTimeZone, nextTimeZoneFrom: nextFrom, kind, name, createdAt } = workspace
  return {
    accountId: payment.initiatorAccountId,
    accountStatus: stop === 'account' ? 'frozen' : 'active',
    capabilities: { topups: true, payments: stop !== 'payments', apiKeys: stop !== 'api_keys', oauth: stop !== 'oauth' },
    workspace: {
      id,
      owningAccountId,
      frozen: false,
      closed: false,
      zone: { timeZone, nextTimeZone, nextFrom },
      kind,
      name,
      createdAt,
    },
    role: null,
    memberId: null,
    memberStatus: null,
    memberSuspended: false,
    permissions: new Set(),
    grant: payment.grantId === null ? null : { id: payment.grantId, lineage, frozen: false },
    isAdmin: false,
    credential: { kind: 'session', id: payment.initiatorAccountId },
    proof: 'never',
    provenAt: null,
    expiresAt: null,
    origin: { ip: null, userAgent: null, requestId: null },
  }
}
