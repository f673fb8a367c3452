import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { PasskeyKey } from '../../lib/passkey-proof.ts'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant, originSession } from './columns.ts'

/** Passkeys sign approvals (WebAuthn). They are not used to sign in. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    name: text().notNull(),
    /** The authenticator's id for the passkey, in base64url. */
    credentialId: text().notNull(),
    /** The public key in the authenticator's encoding (COSE). `publicKey` is the same key as a JWK, for receipts. */
    coseKey: bytes().notNull(),
    publicKey: jsonb().$type<PasskeyKey>().notNull(),
    /** The authenticator's signature counter, if it has one. If the counter does not increase, the passkey was copied. */
    signCount: bigint({ mode: 'number' }).notNull(),
    /** Whether the passkey can be synced. `backedUp`: whether it was synced at its last signature. */
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
