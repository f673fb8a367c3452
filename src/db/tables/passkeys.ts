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
    /** The public key as the authenticator encodes it (COSE); `publicKey` is the same key as receipts carry it. */
    coseKey: bytes().notNull(),
    publicKey: jsonb().$type<PasskeyKey>().notNull(),
    /** How often it has signed, where the authenticator counts: a copy of it is found by a count that does not grow. */
    signCount: bigint({ mode: 'number' }).notNull(),
    /** Whether it can be synchronised between devices; the next column: whether it was when it last signed. */
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
