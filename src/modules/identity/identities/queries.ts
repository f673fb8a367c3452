import { and, asc, desc, eq, lt } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { identities } from '../../../db/tables/accounts.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type IdentityRecord = typeof identities.$inferSelect

/** All identities of an account, the oldest first. */
export const listIdentities = (db: Db, accountId: Uuid): Promise<IdentityRecord[]> =>
  db.orm.select().from(identities).where(eq(identities.accountId, accountId)).orderBy(asc(identities.id))

export const pageIdentities = (db: Db, accountId: Uuid, page: PageRequest): Promise<IdentityRecord[]> =>
  db.orm
    .select()
    .from(identities)
    .where(and(eq(identities.accountId, accountId), page.before === null ? undefined : lt(identities.id, page.before)))
    .orderBy(desc(identities.id))
    .limit(page.take)

export const findIdentity = async (
  db: Db,
  { provider, issuer, subjectKey }: Pick<IdentityRecord, 'provider' | 'issuer' | 'subjectKey'>,
): Promise<IdentityRecord | undefined> =>
  (
    await db.orm
      .select()
      .from(identities)
      .where(and(eq(identities.provider, provider), eq(identities.issuer, issuer), eq(identities.subjectKey, subjectKey)))
  )[0]
