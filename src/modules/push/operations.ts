import type { OperationTexts } from '../../http/operation-text.ts'

export const pushOperations = {
  'push.key': {
    summary: 'Read the key for push subscriptions',
    text: 'The public key by which push services know this service (VAPID, RFC 8292). 503 `provider_not_configured` where push is off.',
  },
  'push_subscriptions.list': {
    summary: 'List the browsers that get notices',
    text: 'A subscription ends with the session that made it.',
  },
  'push_subscriptions.create': {
    summary: 'Get notices of approvals in this browser',
    text: 'Web Push: each approval that the person may decide is pushed to the browser once, with its amount, its payee and its link, and is taken back when it ends. `endpoint` and `keys` are what `pushManager.subscribe()` returned. The same address again answers the same subscription; at most 20 for an account. It ends with the session of this request, and when the push service no longer knows it.',
    body: 'CreatePushSubscription',
  },
  'push_subscriptions.delete': { summary: 'End the notices in a browser', text: 'Nothing more is sent to it.' },
} satisfies OperationTexts
