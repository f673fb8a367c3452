import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { identities } from '../../db/tables/accounts.ts'
import type { Uuid } from '../../lib/ids.ts'

export type IdentityRecord = typeof identities.$inferSelect

export const walletIssuer = 'eip155'

export const listIdentities = (db: Db, accountId: Uuid): Promise<IdentityRecord[]> =>
  db.orm.select().from(identities).where(eq(identities.accountId, accountId)).orderBy(asc(identities.id))

export const findIdentity = async (
  db: Db,
  provider: IdentityRecord['provider'],
  issuer: string,
  subjectKey: string,
): Promise<IdentityRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(identities)
      .where(and(eq(identities.provider, provider), eq(identities.issuer, issuer), eq(identities.subjectKey, subjectKey)))
  )[0]
