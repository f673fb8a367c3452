import { type Db, statement } from '../db/client.ts'
import { earlier, secondsAfter } from '../lib/clock.ts'
import { emailKey, emailKeySql } from '../lib/email-key.ts'
import type { Uuid } from '../lib/ids.ts'
import { parseWalletName, walletKeySql, walletKeys } from '../lib/wallet-name.ts'

/** Whether account `a` is an administrator: flagged in the database, or in `names` (ADMIN_ACCOUNTS) by a verified e-mail or a wallet. */
export const isAdministratorSql = (names: string): string => `a.is_admin or cardinality(${names}::text[]) > 0 and array(
  select case when i.provider = 'wallet' then ${walletKeySql('i')} when i.email_verified then ${emailKeySql('i.email')} end
   from identities i where i.account_id = a.id) && ${names}::text[]`

const among = statement('auth.administrators')`
  select a.id from accounts a where a.id = any($1::uuid[]) and (${isAdministratorSql('$2')})`

/** An administrator's session ends after this time, in case it was left open somewhere. */
export const administratorsSessionHours = 12

export const sessionExpiry = ({ createdAt, expiresAt }: { createdAt: Date; expiresAt: Date }, isAdmin: boolean): Date =>
  isAdmin ? earlier(expiresAt, secondsAfter(createdAt, administratorsSessionHours * 3600)) : expiresAt

export const administratorNames = (configured: readonly string[]): string[] =>
  configured.flatMap((name) => {
    const wallet = parseWalletName(name)
    return wallet ? walletKeys(wallet) : [emailKey(name)]
  })

export const administratorsAmong = async (db: Db, ids: readonly Uuid[], configured: readonly string[]): Promise<Set<Uuid>> => {
  const rows = await db.query<{ id: Uuid }>(among, [ids, administratorNames(configured)])
  return new Set(rows.map(({ id }) => id))
}
