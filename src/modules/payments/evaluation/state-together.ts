import { together } from '../../../db/together.ts'
import { readState, type StateQuery } from './state.ts'

const merged = (queries: readonly StateQuery[]): StateQuery => {
  const all = <Item>(itemsOf: (query: StateQuery) => readonly Item[]): Item[] => [...new Set(queries.flatMap(itemsOf))]
  return {
    workspaceIds: all(({ workspaceIds }) => workspaceIds),
    grantIds: all(({ grantIds }) => grantIds),
    beneficiaryIds: all(({ beneficiaryIds }) => beneficiaryIds),
    accountReferences: all(({ accountReferences }) => accountReferences),
    periods: all(({ periods }) => periods),
    withSigners: queries.some(({ withSigners }) => withSigners),
  }
}

/** The same for who only looks: what several look at in one turn is one state, of which each takes its own part and changes nothing. */
export const readStateTogether = together(async (db, queries: readonly StateQuery[]) => {
  const state = await readState(db, merged(queries))
  return queries.map(() => state)
})
