import { and, desc, eq, isNull, ne, or, sql } from 'drizzle-orm'
import type { Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareWrite } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import type { Uuid } from '../../lib/ids.ts'
import { looksAlike, shapeOfName } from '../../lib/names/look-alike.ts'

/** The newest names of a workspace that others are compared with. */
const mostNames = 5_000

/** Archived ones too: who archives a payee and creates it anew with another number has its name. */
const others = prepare(
  'beneficiaries.other_names',
  { workspaceId: 'uuid', payeeId: 'uuid' },
  (orm, at) =>
    orm
      .select({ id: beneficiaries.id, name: beneficiaries.displayName })
      .from(beneficiaries)
      .where(and(eq(beneficiaries.workspaceId, at.workspaceId), ne(beneficiaries.payeeId, at.payeeId)))
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

type Named = { id: Uuid; workspaceId: Uuid; payeeId: Uuid; displayName: string; similarToId: Uuid | null }

/**
 * Notes, and answers, the other payee whose name looks like this one's, on both: a payment to one warns where the other was paid before. After the commit,
 * because comparing thousands of names takes longer than an account may be locked.
 */
export const noteSimilar = async (
  tx: Tx,
  { id, workspaceId, payeeId, displayName, similarToId }: Named,
): Promise<Uuid | null> => {
  const shape = shapeOfName(displayName)
  const names = await tx.run(others, { workspaceId, payeeId })
  const alike = names.filter(({ name }) => looksAlike(shape, shapeOfName(name)))
  // The oldest is most likely the one that people know.
  const found = alike.at(-1)?.id ?? null
  if (found !== similarToId) await tx.run(note, { id, similar: found })
  return found
}
