import { and, desc, eq, isNull, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import type { Uuid } from '../../lib/ids.ts'
import { inPortions } from '../../lib/lists.ts'
import { memoised } from '../../lib/memoised.ts'
import { looksAlike, shapeOfName } from '../../lib/names/look-alike.ts'

const mostNames = 5_000

/** Archived ones too: who archives a payee and creates it anew with another number has its name. */
const newestNames = prepare(
  'beneficiaries.newest_names',
  { workspaceId: 'uuid' },
  (orm, at) =>
    orm
      .select({ id: beneficiaries.id, payeeId: beneficiaries.payeeId, name: beneficiaries.displayName })
      .from(beneficiaries)
      .where(eq(beneficiaries.workspaceId, at.workspaceId))
      .orderBy(desc(beneficiaries.id))
      .limit(mostNames),
  'pool',
)
/** On the other one only where nothing is noted yet. */
const note = prepareWrite('beneficiaries.note_similar', { id: 'uuid', similar: 'uuid|null' }, (orm, at) =>
  orm
    .update(beneficiaries)
    .set({ similarToId: sql`case when ${beneficiaries.id} = ${at.id} then ${at.similar} else ${at.id} end` })
    .where(
      and(
        sql`${beneficiaries.id} in (${at.id}, ${at.similar})`,
        or(eq(beneficiaries.id, at.id), isNull(beneficiaries.similarToId)),
      ),
    ),
)

type Named = { id: Uuid; workspaceId: Uuid; payeeId: Uuid; displayName: string }

/** Of a name the shape is the same for ever. Making it takes as long as comparing it with twenty others. */
const shapeOf = memoised(shapeOfName, 20_000)

/** About two milliseconds of shapes that are made for the first time. */
const portionSize = 256

/**
 * The other payee whose name looks like this one's. Asked without the account's lock, because comparing thousands of names takes longer than it may be
 * held: of two that are created or renamed at once, the check of the later one sees both.
 */
export const findSimilar = async (db: Db, { workspaceId, payeeId, displayName }: Named): Promise<Uuid | null> => {
  const shape = shapeOf(displayName)
  let found: Uuid | null = null
  // The oldest is most likely the one that people know.
  await inPortions(await db.run(newestNames, { workspaceId }), portionSize, (other) => {
    if (other.payeeId !== payeeId && looksAlike(shape, shapeOf(other.name))) found = other.id
  })
  return found
}

/** Notes it on both: a payment to one warns where the other was paid before. */
export const noteSimilar = async (
  tx: Tx,
  { id, similarToId }: { id: Uuid; similarToId: Uuid | null },
  found: Uuid | null,
): Promise<void> => {
  if (found !== similarToId) await tx.run(note, { id, similar: found })
}
