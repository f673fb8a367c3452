import type { Db } from '../../../db/client.ts'
import { together } from '../../../db/together.ts'
import { type ContextQuery, contextOf, type PaymentContext } from './context.ts'
import { readPast } from './past.ts'
import { readState, type StateQuery } from './state.ts'

// What decisions depend on, for who only looks: nothing is locked, and what several ask for in one turn is read once.

const merged = (queries: readonly StateQuery[]): StateQuery => {
  const all = <Item>(itemsOf: (query: StateQuery) => readonly Item[]): Item[] => [...new Set(queries.flatMap(itemsOf))]
  return {
    workspaceIds: all(({ workspaceIds }) => workspaceIds),
    grantIds: all(({ grantIds }) => grantIds),
    beneficiaryIds: all(({ beneficiaryIds }) => beneficiaryIds),
    accountReferences: all(({ accountReferences }) => accountReferences),
    periods: all(({ periods }) => periods),
    at: new Date(Math.min(...queries.map(({ at }) => at.getTime()))),
    withSigners: queries.some(({ withSigners }) => withSigners),
  }
}

/** What several look at in one turn is one state, of which each takes its own part and changes nothing. */
export const readStateTogether = together(async (db, queries: readonly StateQuery[]) => {
  const state = await readState(db, merged(queries))
  return queries.map(() => state)
})

/** The context of one payment alone: for a simulation. */
export const loadContext = async (db: Db, query: ContextQuery & Pick<StateQuery, 'at'>): Promise<PaymentContext | undefined> => {
  const state = await readStateTogether(db, {
    workspaceIds: [query.workspaceId],
    grantIds: query.lineage,
    beneficiaryIds: [query.beneficiaryId],
    accountReferences: [query.accountReference],
    periods: [query.periods],
    at: query.at,
    withSigners: query.withSigners ?? false,
  })
  return contextOf(state, query)
}

/** What one payment's payee got before. */
export const readPastTogether = together(readPast)
