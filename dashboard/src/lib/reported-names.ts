import type { Schemas } from '../../../client/src/route-types.ts'
import { compareNames } from '../../../src/lib/names/compare.ts'

type Check = Pick<Schemas['NameCheck'], 'name' | 'checked_at'>
type Named = Check & { name: string }

const isNamed = (check: Check): check is Named => check.name !== null

/**
 * The last name that was reported, and the one before it that is another person's: a number may have been given to someone else. A name
 * with hidden letters is no other name than the whole one that it fits.
 */
export const nameBefore = (newestFirst: readonly Check[]): { last: Named; before: Named } | null => {
  const [last, ...earlier] = newestFirst.filter(isNamed)
  const before = last && earlier.find(({ name }) => compareNames(last.name, name) === 'no_match')
  return before ? { last, before } : null
}
