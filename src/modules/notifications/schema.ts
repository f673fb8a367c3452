import { z } from 'zod'
import { eventTypes, typePatterns } from '../../events/types.ts'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdIn, IdOut, RecordOut, SeveralOf, TimeIn, TimeOut } from '../../http/wire.ts'
import type { Uuid } from '../../lib/ids.ts'

export const Notification = RecordOut('Event', {
  id: IdOut('event'),
  type: z.enum(eventTypes),
  created_at: TimeOut,
  account_id: IdOut('account'),
  workspace_id: IdOut('workspace').nullable(),
  data: z.unknown().describe('The resource as REST returns it.'),
})
export type Notification = z.output<typeof Notification>

const Types = SeveralOf(z.enum(typePatterns))
  .optional()
  .describe('Only these types: `?type=payment.*&type=topup.succeeded`, or with commas.')

const After = bounded(100).transform((text, context): Uuid | 'start' => {
  if (text === 'start') return text
  const { data, error } = IdIn('event').safeParse(text)
  for (const { message } of error?.issues ?? []) context.addIssue({ code: 'custom', message: `${message}, or start` })
  return data ?? z.NEVER
})

export const NotificationsQuery = PageQuery.extend({
  type: Types,
  after: After.optional().describe(
    'The ID of the last event that you received. Returns the events after it, oldest first. `start` begins with the oldest stored event.',
  ),
  wait_seconds: z.coerce
    .number()
    .int()
    .min(0)
    .max(25)
    .default(0)
    .describe('With `after`: the number of seconds to wait for an event if there is none yet.'),
  created_after: TimeIn.optional().describe('Only events after this time.'),
  created_before: TimeIn.optional().describe('Only events before this time.'),
})
export type NotificationsQuery = z.output<typeof NotificationsQuery>

export const StreamQuery = z.object({
  type: Types,
  last_event_id: bounded(200)
    .optional()
    .describe(
      'The ID of the last event that you received. Later events are sent first. A malformed ID is refused. The `Last-Event-ID` header, which browsers send, takes precedence.',
    ),
})
export type StreamQuery = z.output<typeof StreamQuery>

const streamText = `One block per event: \`id: evt_…\`, \`event: <type>\`, \`data: <Event as JSON>\`, and an empty line. Comment lines (\`: ping\`) keep
the connection open. \`event: stream.reset\` means that the events since \`Last-Event-ID\` are no longer stored: read the resources again.`

export const EventStream = {
  description: streamText,
  content: {
    'text/event-stream': {
      schema: z.string().meta({
        contentMediaType: 'application/json',
        contentSchema: { documentedAs: 'StreamEvent' },
      }),
    },
  },
}
