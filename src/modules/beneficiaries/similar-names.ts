import { and, desc, eq, isNull, or, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import type { Uuid } from '../../lib/ids.ts'
import { mapInChunks } from '../../lib/lists.ts'
import { memoised } from '../../lib/memoised.ts'
import { looksAlike, shapeOfName } from '../../lib/names/look-alike.ts'
import type { BeneficiaryRecord } from './queries.ts'

const maxNames = 5_000

/** Includes archived beneficiaries. Otherwise, archiving one and recreating it with another number would raise no warning. */
const newestNames = prepare('beneficiaries.newest_names', { workspaceId: 'uuid' }, 'pool', (orm, param) =>
  orm
    .select({ id: beneficiaries.id, payeeId: beneficiaries.payeeId, name: beneficiaries.displayName })
    .from(beneficiaries)
    .where(eq(beneficiaries.workspaceId, param.workspaceId))
    .orderBy(desc(beneficiaries.id))
    .limit(maxNames),
)

/** Marks both beneficiaries: a payment to one warns if the other was paid before. The other one keeps an earlier mark. */
export const markSimilar = prepareWrite('beneficiaries.mark_similar', { id: 'uuid', similar: 'uuid|null' }, (orm, param) =>
  orm
    .update(beneficiaries)
    .set({ similarToId: sql`case when ${beneficiaries.id} = ${param.id} then ${param.similar} else ${param.id} end` })
    .where(
      and(
        sql`${beneficiaries.id} in (${param.id}, ${param.similar})`,
        or(eq(beneficiaries.id, param.id), isNull(beneficiaries.similarToId)),
      ),
    ),
)

/** Computing a shape takes as long as comparing it with twenty others, so shapes are cached. */
const shapeOf = memoised(shapeOfName, 20_000)

/** Names per chunk. A chunk takes about 2 ms if none of its shapes is cached. */
const chunkSize = 256

/**
 * Runs without the account's lock, because comparing thousands of names would hold the lock for too long. If two beneficiaries
 * are created at the same time, the later check sees both.
 */
export const findSimilar = async (db: Db, { workspaceId, payeeId, displayName }: BeneficiaryRecord): Promise<Uuid | null> => {
  const shape = shapeOf(displayName)
  let found: Uuid | null = null
  // The last match wins: the oldest beneficiary is most likely the one that people know.
  const compare = (other: { id: Uuid; payeeId: Uuid; name: string }) => {
    if (other.payeeId !== payeeId && looksAlike(shape, shapeOf(other.name))) found = other.id
  }
  await mapInChunks(await db.run(newestNames, { workspaceId }), compare, chunkSize)
  return found
}
