import { asc } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { signingKeys } from '../../db/tables/events.ts'

export type SigningKeyRecord = typeof signingKeys.$inferSelect

const all = prepare('signing_keys.all', {}, (orm) =>
  orm.select().from(signingKeys).orderBy(asc(signingKeys.createdAt), asc(signingKeys.id)),
)

/** Every key that has signed or may sign, the oldest first. */
export const listSigningKeys = (db: Db): Promise<SigningKeyRecord[]> => db.run(all, {})
