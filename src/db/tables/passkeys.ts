import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { PasskeyKey } from '../../lib/passkey-proof.ts'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, originSession } from './columns.ts'

/** A passkey signs approvals (WebAuthn), and does not sign in. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    name: text().notNull(),
    /** The id that the authenticator gave it, in base64url. */
    credentialId: text().notNull(),
    /** The public key in the authenticator's encoding (COSE). `publicKey` is the same key in the encoding of receipts. */
    coseKey: bytes().notNull(),
    publicKey: jsonb().$type<PasskeyKey>().notNull(),
    /** The authenticator's count of signatures, if it counts. A count that does not grow reveals a copy of the passkey. */
    signCount: bigint({ mode: 'number' }).notNull(),
    /** Whether devices can synchronise it. The next column: whether they did, as of its last signature. */
    backupEligible: boolean().notNull(),
    backedUp: boolean().notNull(),
    createdAt: instant().notNull(),
    originSessionId: originSession(),
    lastUsedAt: instant(),
  },
  (t) => [
    uniqueIndex('passkeys_credential_key').on(t.credentialId),
    index('passkeys_account').on(t.accountId, t.id),
    index('passkeys_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
    check('passkeys_sign_count_check', sql`${t.signCount} >= 0`),
  ],
)
