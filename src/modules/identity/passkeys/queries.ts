import { asc, eq } from 'drizzle-orm'
import { type Db, first } from '../../../db/client.ts'
import { newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { passkeys } from '../../../db/tables/passkeys.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'

export type PasskeyRecord = typeof passkeys.$inferSelect

const ofAccount = prepare('passkeys.of_account', { accountId: 'uuid' }, (orm, at) =>
  orm.select().from(passkeys).where(eq(passkeys.accountId, at.accountId)).orderBy(asc(passkeys.id)),
)

export const listPasskeys = (db: Db, accountId: Uuid): Promise<PasskeyRecord[]> => db.run(ofAccount, { accountId })

const page = prepare(
  'passkeys.page',
  { accountId: 'uuid', before: 'uuid?', take: 'rows' },
  (orm, at) =>
    newestFirst(
      orm.select().from(passkeys),
      { owner: passkeys.accountId, id: passkeys.id },
      at,
      ownedBy(passkeys.accountId, at.accountId),
    ),
  'page',
)

export const pagePasskeys = (db: Db, accountId: Uuid, request: PageRequest): Promise<PasskeyRecord[]> =>
  db.run(page, { accountId, ...request })

const byCredential = prepare('passkeys.by_credential', { credentialId: 'text' }, (orm, at) =>
  orm.select().from(passkeys).where(eq(passkeys.credentialId, at.credentialId)),
)

export const findPasskeyByCredential = (db: Db, credentialId: string): Promise<PasskeyRecord | undefined> =>
  first(db, byCredential, { credentialId })
