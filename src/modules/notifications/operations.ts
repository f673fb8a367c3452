import type { OperationTexts } from '../../http/operation-text.ts'

export const notificationsOperations = {
  'notifications.stream': {
    summary: 'Follow events as they happen',
    text: 'Server-sent events for everything that the credential may read. After a lost connection send `Last-Event-ID`: the missed events are sent first. The stream is fast; the resources over REST are the source of truth.',
  },
  'notifications.list': {
    summary: 'List events',
    text: 'The same events as a list, for polling: with `after` all later events, oldest first.',
  },
} satisfies OperationTexts
