import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { PasskeyKey } from '../../lib/passkey-proof.ts'
import { accounts } from './accounts.ts'
import { bytes, id, idOf, instant } from './columns.ts'

/** What signs approvals on a person's phone, computer or security key (WebAuthn). A passkey does not sign in. */
export const passkeys = pgTable(
  'passkeys',
  {
    id: id(),
    accountId: idOf(() => accounts.id).notNull(),
    name: text().notNull(),
    /** The authenticator's own id of it, in base64url. */
    credentialId: text().notNull(),
    /** The public key twice: as the authenticator encodes it (COSE), and as receipts carry it. */
    coseKey: bytes().notNull(),
    publicKey: jsonb().$type<PasskeyKey>().notNull(),
    /** How often it has signed, where the authenticator counts: a copy of it is found by a count that does not grow. */
    signCount: bigint({ mode: 'number' }).notNull(),
    /** Whether it can be synchronised between devices, and whether it was when it signed the last time. */
    backupEligible: boolean().notNull(),
    backedUp: boolean().notNull(),
    createdAt: instant().notNull(),
    /** The session in which it was made, as a plain id: the session's row may be gone. Null: not recorded, or not made in one. */
    originSessionId: uuid(),
    lastUsedAt: instant(),
  },
  (t) => [
    uniqueIndex('passkeys_credential_key').on(t.credentialId),
    index('passkeys_account').on(t.accountId, t.id),
    index('passkeys_origin_session').on(t.originSessionId).where(sql`${t.originSessionId} is not null`),
    check('passkeys_sign_count_check', sql`${t.signCount} >= 0`),
    check('passkeys_backup_check', sql`${t.backupEligible} or not ${t.backedUp}`),
  ],
)
