import { z } from 'zod'
import type { Exchange } from './exchange.ts'
import { createKeptAnswers, type KnownAnswer } from './kept-answers.ts'

/** What is asked for, as far as the list depends on it. */
type Asking = Pick<Exchange, 'body' | 'how'>

const ListTools = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(100), z.int()]),
  method: z.literal('tools/list'),
  params: z.unknown().optional(),
})

/** Most requests call a tool, and a schema that refuses costs more than one that does not. */
const isList = (body: unknown): boolean => (body as { method?: unknown } | null)?.method === 'tools/list'

/** Clients of a few kinds ask, each in its own way, and each list has 30 KB. */
const mostWays = 32

/**
 * The list of tools, ready to be sent: it is the same for every caller, and its schemas take a millisecond to build. A caller is authenticated
 * before. Undefined for every other request. `answer`: what the protocol's own code answers with.
 */
export const createToolList = () => {
  const kept = createKeptAnswers({ most: mostWays, after: 0 })
  return async <Asked extends Asking>(
    exchange: Asked,
    answer: (changed: Asked) => Promise<Response>,
  ): Promise<KnownAnswer | undefined> => {
    if (!isList(exchange.body)) return undefined
    const asked = ListTools.safeParse(exchange.body)
    if (!asked.success) return undefined
    const { id, params } = asked.data
    const way = JSON.stringify(params === undefined ? [exchange.how] : [exchange.how, params])
    const fill = await kept(way, ['id'], (markers) => answer({ ...exchange, body: { ...asked.data, id: markers.id } }))
    return fill?.({ id: JSON.stringify(id) })
  }
}
