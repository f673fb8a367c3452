import type { Permission } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import { sha256 } from '../auth/secrets.ts'
import { grantLife } from '../db/credential-life.ts'
import { statement } from '../db/statement.ts'
import { conflict, type ErrorDetails, type Refusal } from '../lib/errors.ts'
import { formatId, type Uuid } from '../lib/ids.ts'
import { assertPresent } from '../lib/lists.ts'
import { unpackAnswer } from '../lib/packed-text.ts'
import { type KeyScope, type Keys, keyReused } from './idempotency-keys.ts'

/** The lineage of the grant that used a key, root first. Null for a person. */
export type KeyUser = { lineage: readonly Uuid[]; revokedAt: Date | null; expiresAt: Date | null } | null

/** `text`: the response at creation. */
export type RecordAnswer = { id: Uuid; text: string; usedBy: KeyUser }

export const keyUserOf = ({ grant }: Principal): KeyUser => grant && { lineage: grant.lineage, revokedAt: null, expiresAt: null }

/** The scope consists of owning account, workspace and path, independent of the credential. */
export const recordScope = (path: string, { accountId, workspaceId }: KeyScope, key: string): Buffer =>
  sha256(JSON.stringify([path, accountId, workspaceId, key]))

type Row = {
  workspaceId: Uuid
  id: Uuid
  key: string
  bodyHash: Buffer
  packed: Buffer
  grantId: Uuid | null
  lineage: Uuid[]
  revokedAt: Date | null
  expiresAt: Date | null
}

const isIn = (lineage: readonly Uuid[], id: Uuid | undefined): boolean => id !== undefined && lineage.includes(id)

/** A person, or the key's grant, its ancestors or descendants. After that grant has ended: anyone, such as its replacement. */
const mayRepeat = (by: KeyUser, { grant }: Principal, at: Date): boolean =>
  grant === null ||
  (by !== null && (isIn(by.lineage, grant.id) || isIn(grant.lineage, by.lineage.at(-1)) || grantLife(by, at) !== 'active'))

/** Stored in the records forever, so that a program with a new API key or after a week does not pay twice. */
export const recordKeys = (
  table: 'payments' | 'payment_batches' | 'topups',
  { path, kind, permission }: { path: string; kind: 'payment' | 'payment_batch' | 'topup'; permission: Permission },
): Keys<RecordAnswer, Principal> => {
  // `offset 0` searches for each row separately. A join planned for few rows would read the keys of all workspaces.
  const find = statement(`idempotency.${table}`)`
  select r.id, r.workspace_id as "workspaceId", r.idempotency_key as key, r.request_hash as "bodyHash",
       r.snapshot as packed, r.grant_id as "grantId", array_remove(g.ancestor_ids || g.id, null) as lineage,
       g.revoked_at as "revokedAt", g.expires_at as "expiresAt"
     from rows from (unnest($1::uuid[]), unnest($2::text[])) as used(workspace, key)
     cross join lateral (select * from ${table} where workspace_id = used.workspace and idempotency_key = used.key offset 0) as r
     left join grants g on g.id = r.grant_id`
  const detailsFor = ({ id }: RecordAnswer, { permissions }: Principal): ErrorDetails =>
    permissions.has(permission) ? { [`existing_${kind}_id`]: formatId(kind, id) } : {}
  return {
    read: async (db, all) => {
      if (all.length === 0) return []
      const rows = await db.query<Row>(find, [all.map(({ place }) => place.workspaceId), all.map(({ key }) => key)])
      // The key stays with its owner, even if the workspace was separated since and another account paid.
      const owners = new Map(all.map(({ place }) => [place.workspaceId, place.accountId]))
      return rows.map(({ id, packed, key, bodyHash, grantId, lineage, revokedAt, expiresAt, workspaceId }) => ({
        once: {
          scope: recordScope(
            path,
            { workspaceId, accountId: assertPresent(owners.get(workspaceId), 'a key that was not requested') },
            key,
          ),
          bodyHash,
        },
        answer: { id, text: unpackAnswer(packed), usedBy: grantId === null ? null : { lineage, revokedAt, expiresAt } },
      }))
    },
    keep: async () => undefined,
    refusal: ({ answer, sameBody }, caller, at): Refusal | undefined => {
      const details = detailsFor(answer, caller)
      if (!sameBody) return keyReused(details)
      if (mayRepeat(answer.usedBy, caller, at)) return undefined
      return conflict('This Idempotency-Key was used by another credential.', 'idempotency', details)
    },
  }
}
