import { and, asc, eq } from 'drizzle-orm'
import { type Db, first } from '../../../db/client.ts'
import { newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { identities } from '../../../db/tables/accounts.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type IdentityRecord = typeof identities.$inferSelect

const ofAccount = prepare(
  'identities.of_account',
  { accountId: 'uuid' },
  (orm, at) => orm.select().from(identities).where(eq(identities.accountId, at.accountId)).orderBy(asc(identities.id)),
  'joined',
)

/** All identities of an account, the oldest first. */
export const listIdentities = (db: Db, accountId: Uuid): Promise<IdentityRecord[]> => db.run(ofAccount, { accountId })

const page = prepare(
  'identities.page',
  { accountId: 'uuid', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(identities),
      { owner: identities.accountId, id: identities.id },
      at,
      ownedBy(identities.accountId, at.accountId),
    ),
  'page',
)

export const pageIdentities = (db: Db, accountId: Uuid, request: PageRequest): Promise<IdentityRecord[]> =>
  db.run(page, { accountId, ...request })

const byKey = prepare('identities.by_key', { provider: 'text', issuer: 'text', subjectKey: 'text' }, (orm, at) =>
  orm
    .select()
    .from(identities)
    .where(and(eq(identities.provider, at.provider), eq(identities.issuer, at.issuer), eq(identities.subjectKey, at.subjectKey))),
)

export const findIdentity = (
  db: Db,
  { provider, issuer, subjectKey }: Pick<IdentityRecord, 'provider' | 'issuer' | 'subjectKey'>,
): Promise<IdentityRecord | undefined> => first(db, byKey, { provider, issuer, subjectKey })
