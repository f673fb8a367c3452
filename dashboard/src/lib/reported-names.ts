import type { Schemas } from '../../../client/src/route-types.ts'
import { compareNames } from '../../../src/lib/names/compare.ts'

type Check = Pick<Schemas['NameCheck'], 'name' | 'checked_at'>
type Named = Check & { name: string }

const isNamed = (check: Check): check is Named => check.name !== null

/**
 * The latest registered name, and the latest earlier one that differs: the number may have a new holder. A partly masked name
 * counts as equal to a full name that fits it.
 */
export const nameBefore = (newestFirst: readonly Check[]): { last: Named; before: Named } | null => {
  const [last, ...earlier] = newestFirst.filter(isNamed)
  const before = last && earlier.find(({ name }) => compareNames(last.name, name) === 'no_match')
  return before ? { last, before } : null
}
