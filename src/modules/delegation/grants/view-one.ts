import type { Db } from '../../../db/client.ts'
import { together } from '../../../db/together.ts'
import { viewGrants } from './present.ts'
import type { GrantRecord } from './queries.ts'
import type { Grant } from './schema.ts'

type Asked = { at: Date; grant: GrantRecord }

/** Requests that read one grant in one turn of the event loop read together what is used of theirs. */
const view: (db: Db, asked: Asked) => Promise<Grant | undefined> = together(async (db, asked: readonly Asked[]) => {
  const [first] = asked
  return first
    ? viewGrants(
        db,
        first.at,
        asked.map(({ grant }) => grant),
      )
    : []
})

/** One grant as REST returns it now. */
export const viewOneGrant = async (db: Db, at: Date, grant: GrantRecord): Promise<Grant> => {
  const found = await view(db, { at, grant })
  if (!found) throw new Error('a grant that was read has no presentation')
  return found
}
