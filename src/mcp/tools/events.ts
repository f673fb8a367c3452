import { z } from 'zod'
import { guide } from '../next.ts'
import { answered, defineTool, reads } from '../tool.ts'

const Wire = z.object({ id: z.string(), type: z.string(), created_at: z.string(), data: z.unknown() })
const About = z.object({ id: z.string().optional().catch(undefined), status: z.string().optional().catch(undefined) })

const Event = z.object({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  resource_id: z.string().nullable().describe('What it is about.'),
  status: z.string().nullable(),
})

const list = defineTool({
  name: 'list_events',
  title: 'List recent events',
  description:
    'Recent events that this credential may read. With `after`, the events since that one, oldest first; otherwise newest first.',
  operation: null,
  hints: reads,
  input: z.strictObject({
    after: z.string().optional().describe('The id of the last event that you have.'),
    limit: z.int().min(1).max(100).default(25),
  }),
  output: z.object({ ...guide, events: z.array(Event) }),
  run: async ({ after, limit }, caller) => {
    const query = { after, limit: String(limit) }
    const { data } = answered(
      z.object({ data: z.array(Wire) }),
      await caller.call({ method: 'GET', path: '/v1/notifications', query }),
    )
    const events = data.map(({ data: about, ...event }) => {
      const { id = null, status = null } = About.safeParse(about).data ?? {}
      return { ...event, resource_id: id, status }
    })
    const message = 'Read a payment with get_payment, or ask again later with `after`: the id of the newest event here.'
    return { next: 'done' as const, message, events }
  },
})

export const eventTools = [list]
