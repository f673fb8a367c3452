import { randomBytes } from 'node:crypto'
import { z } from 'zod'

/** What the protocol's own code answers a request with. */
export type AnswerBody = (body: unknown) => Promise<Response>

const ListTools = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(100), z.int()]),
  method: z.literal('tools/list'),
  params: z.unknown().optional(),
})

type Headers = Readonly<Record<string, string>>
type Kept = { headers: Headers; before: string; after: string }
type KnownAnswer = { headers: Headers; text: string }

/** Clients of a few kinds ask, each in its own way: of more ways than these, the oldest is forgotten. */
const mostWays = 32
const longestParameters = 2_000

/**
 * The list of tools, as text: it is the same for every caller, and 30 KB of schemas take a millisecond to build. The protocol's own code answers
 * each way of asking once, under an id that occurs nowhere else, and later requests get this text with their id in its place. A caller is
 * authenticated before.
 */
export const createToolList = () => {
  const ways = new Map<string, Promise<Kept | undefined>>()

  const keep = async (body: object, answer: AnswerBody): Promise<Kept | undefined> => {
    const id = randomBytes(16).toString('hex')
    const response = await answer({ ...body, id })
    const [before, after, ...more] = (await response.text()).split(JSON.stringify(id))
    if (response.status !== 200 || before === undefined || after === undefined || more.length > 0) return undefined
    return { headers: Object.fromEntries(response.headers), before, after }
  }

  /** `how`: the headers that the protocol reads. Undefined for every other request, which the protocol's own code answers. */
  return async (body: unknown, how: string, answer: AnswerBody): Promise<KnownAnswer | undefined> => {
    const asked = ListTools.safeParse(body)
    if (!asked.success) return undefined
    const way = JSON.stringify([how, asked.data.params])
    if (way.length > longestParameters) return undefined
    const kept = ways.get(way) ?? keep(asked.data, answer)
    ways.set(way, kept)
    const [oldest] = ways.keys()
    if (ways.size > mostWays && oldest !== undefined) ways.delete(oldest)
    const text = await kept.catch(() => undefined)
    if (text === undefined) {
      ways.delete(way)
      return undefined
    }
    return { headers: text.headers, text: text.before + JSON.stringify(asked.data.id) + text.after }
  }
}
