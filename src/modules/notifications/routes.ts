import type { FastifyRequest } from 'fastify'
import { onSignal } from '../../db/client.ts'
import { lossDetected } from '../../db/loss-detection.ts'
import { createFanOut } from '../../events/fan-out.ts'
import type { Feed } from '../../events/feed.ts'
import { createStreamSlots } from '../../events/stream-slots.ts'
import type { App } from '../../http/app-type.ts'
import { pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { openSse } from '../../http/sse.ts'
import { idMessage } from '../../http/wire.ts'
import { invalidFields } from '../../lib/errors.ts'
import { parseId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { presentNotification } from './present.ts'
import { EventStream, Notification, NotificationsQuery, StreamQuery } from './schema.ts'
import { awaitNotifications, openNotificationStream } from './service.ts'

/** An empty id counts as none: the stream then begins with the next event. */
const readLastEventId = ({ headers, query }: FastifyRequest<{ Querystring: StreamQuery }>): Uuid | undefined => {
  const header = String(headers['last-event-id'] ?? '')
  const [path, text] = header === '' ? ['last_event_id', query.last_event_id ?? ''] : ['Last-Event-ID', header]
  const id = text === '' ? undefined : parseId('event', text)
  if (text !== '' && !id) throw invalidFields({ path, message: idMessage('event', text) })
  return id
}

export const registerNotifications = (app: App, deps: Parts & { feed: Feed }): void => {
  const routes = routesOf(app, deps)
  const fanOut = createFanOut(deps)
  const slots = createStreamSlots({ db: deps.db, logger: deps.logger, maxStreams: deps.config.STREAMS_PER_ACCOUNT })
  const resets = new Set<() => void>()
  onSignal(deps.db, lossDetected, () => {
    for (const reset of [...resets]) reset()
  })
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  // Closes streams before the server waits for open requests, because each stream is an open request.
  app.addHook('preClose', async () => fanOut.close())
  app.addHook('onClose', () => slots.close())
  routes.handle('GET', '/v1/notifications/stream', 'notifications.stream', {
    longLived: true,
    access: 'authenticated',
    refuses: ['forbidden', 'membership_suspended'],
    summary: 'Stream events',
    description:
      'Streams server-sent events for everything that the credential can read. After a lost connection, send `Last-Event-ID` to get the missed events first. The REST resources remain the source of truth.',
    querystring: StreamQuery,
    response: { 200: EventStream },
    // A HEAD request for a stream would never end.
    exposeHeadRoute: false,
    handler: (request, reply) =>
      openNotificationStream(deps, { fanOut, slots, resets }, request.principal, {
        reauthenticate: request.reauthenticate,
        types: request.query.type,
        lastEventId: readLastEventId(request),
        connect: () => openSse(reply, { pingSeconds: deps.config.STREAM_PING_SECONDS }),
      }),
  })
  routes.list('/v1/notifications', 'notifications.list', {
    access: 'authenticated',
    longLived: true,
    refuses: ['forbidden', 'membership_suspended'],
    summary: 'List events',
    description:
      'Returns the same events as a list, for polling and for programs that run occasionally. With `after`, returns all later events, oldest first. With `wait_seconds`, waits until there is one.',
    querystring: NotificationsQuery,
    response: { 200: pageOf(Notification) },
    owner: ({ principal }) => principal.accountId,
    read: (page, request) => awaitNotifications(deps, { slots, closing: closing.signal }, request, page),
    present: (rows) => rows.map((row) => presentNotification(row)),
  })
}
