import { statement, type Tx } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import { looksAlike, shapeOfName } from '../../lib/names/look-alike.ts'

/** The newest names of a workspace that others are compared with. */
const mostNames = 5_000

/** Archived ones too: who archives a payee and creates it anew with another number has its name. */
const others = statement(
  'beneficiaries.other_names',
  `select b.id, b.display_name as name from beneficiaries b
   where b.workspace_id = $1 and b.payee_id <> $2 order by b.id desc limit ${mostNames}`,
)
const note = statement(
  'beneficiaries.note_similar',
  `update beneficiaries set similar_to_id = case when id = $1 then $2::uuid else $1 end
   where id in ($1, $2) and (id = $1 or similar_to_id is null)`,
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
  const names = await tx.query<{ id: Uuid; name: string }>(others, [workspaceId, payeeId])
  const alike = names.filter(({ name }) => looksAlike(shape, shapeOfName(name)))
  // The oldest is most likely the one that people know.
  const found = alike.at(-1)?.id ?? null
  if (found !== similarToId) await tx.query(note, [id, found])
  return found
}
