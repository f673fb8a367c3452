import type { LastUsed } from '../../../auth/last-used.ts'
import type { Principal } from '../../../auth/principal.ts'
import { type Listing, type Page, type PageRequest, readPage } from '../../../http/pagination.ts'
import { type GrantScope, scopeOf } from './queries.ts'

type OwnListing<Row, Item> = Pick<Listing<Row, Item>, 'idOf' | 'present'> & {
  read: (scope: GrantScope, page: PageRequest) => Promise<readonly Row[]>
}

/** A page of what the caller may see of its account's grants or keys, with every use until now: the notes of uses are written first. */
export const readOwn = async <Row, Item>(
  deps: { lastUsed: LastUsed } & Parameters<typeof readPage>[0],
  request: Parameters<typeof readPage>[1] & { principal: Principal },
  { read, ...listing }: OwnListing<Row, Item>,
): Promise<Page<Item>> => {
  await deps.lastUsed.flush()
  const scope = scopeOf(request.principal)
  return readPage(deps, request, { ...listing, of: scope.within ?? scope.accountId, read: (page) => read(scope, page) })
}
