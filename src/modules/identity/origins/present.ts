import type { Tx } from '../../../db/client.ts'
import { viewKeys } from '../../delegation/api-keys/queries.ts'
import { viewGrants } from '../../delegation/grants/present.ts'
import { invitationStatus, presentInvitation } from '../../workspaces/invitations/present.ts'
import { presentIdentity } from '../identities/present.ts'
import { presentPasskey } from '../passkeys/present.ts'
import type { Begun } from './begun.ts'
import type { BeganHere } from './schema.ts'

/** An attacker chooses how much began there. */
const most = 100

/** Ids grow with time. */
const newest = <Row>(rows: readonly Row[], idOf: (row: Row) => string): Row[] =>
  rows.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1)).slice(0, most)

const idOf = ({ id }: { id: string }) => id

/** `ended`: as it is after this transaction has ended all of it. */
export const presentBegun = async (tx: Tx, begun: Begun, ended: boolean): Promise<BeganHere> => {
  const { at } = tx
  const revoked = ended ? { revokedAt: at } : {}
  const keys = newest(begun.apiKeys, ({ key }) => key.id).map(({ key, grant }) => ({ key: { ...key, ...revoked }, grant }))
  const grants = newest(begun.grants, idOf).map((grant) => ({ ...grant, ...revoked }))
  const [keyViews, grantViews] = await Promise.all([viewKeys(tx, at, keys), viewGrants(tx, at, grants)])
  return {
    identities: newest(begun.identities, idOf).map(presentIdentity),
    passkeys: newest(begun.passkeys, idOf).map(presentPasskey),
    api_keys: keyViews,
    grants: grantViews,
    invitations: newest(begun.invitations, idOf).map((invitation) =>
      presentInvitation(invitationStatus(invitation, at) === 'pending' ? { ...invitation, ...revoked } : invitation, at),
    ),
  }
}
