import type { Db } from '../../../db/client.ts'
import { together } from '../../../db/together.ts'
import { viewGrants } from './present.ts'
import type { GrantRecord } from './queries.ts'
import type { Grant } from './schema.ts'

type Asked = { at: Date; grants: readonly GrantRecord[] }

/** As many lists as are read together, of up to a hundred grants each. */
const mostLists = 16

const view = together<Asked, Grant[]>(async (db, asked) => {
  const [first] = asked
  if (!first) return []
  const views = await viewGrants(
    db,
    first.at,
    asked.flatMap(({ grants }) => grants),
  )
  let end = 0
  return asked.map(({ grants }) => {
    const start = end
    end += grants.length
    return views.slice(start, end)
  })
}, mostLists)

/** Grants as REST returns them now, in the order given. Requests that ask in one turn of the event loop read together what is used of theirs. */
export const viewTogether = (db: Db, at: Date, grants: readonly GrantRecord[]): Promise<Grant[]> => view(db, { at, grants })

export const viewOneGrant = async (db: Db, at: Date, grant: GrantRecord): Promise<Grant> => {
  const [found] = await viewTogether(db, at, [grant])
  if (!found) throw new Error('a grant that was read has no presentation')
  return found
}
