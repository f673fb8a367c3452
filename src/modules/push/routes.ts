import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import type { Parts } from '../parts.ts'
import { CreatePushSubscription, PushKey, PushSubscription, presentSubscription } from './schema.ts'
import type { Push } from './send.ts'
import { liveSubscriptions, requirePush, subscribe, unsubscribe } from './service.ts'

const path = '/v1/accounts/me/push-subscriptions'

export const registerPush = (app: App, deps: Parts & { push: Push | null }): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/push/key', 'push.key', {
    access: 'public',
    refuses: ['provider_not_configured'],
    summary: 'Read the key for push subscriptions',
    description:
      'The public key by which push services know this service (VAPID, RFC 8292). 503 `provider_not_configured` where push is off.',
    response: { 200: PushKey },
    read: async () => ({ public_key: requirePush(deps).publicKey }),
  })
  routes.post(path, 'push_subscriptions.create', {
    access: 'undelegated',
    idempotent: true,
    refuses: ['provider_not_configured'],
    summary: 'Get notices of approvals in this browser',
    description:
      'Web Push: each approval that the person may decide is pushed to the browser once, with its amount, its payee and its link, and is taken back when it ends. `endpoint` and `keys` are what `pushManager.subscribe()` returned. The same address again answers the same subscription; at most 20 for an account. It ends with the session of this request, when the push service no longer knows it, and when the service has another key: a browser subscribes to one key. `expirationTime` is not used.',
    body: CreatePushSubscription,
    response: { 201: PushSubscription },
    work: async (tx, { principal, body }) => created(presentSubscription(await subscribe(tx, deps, principal, body))),
  })
  routes.list(path, 'push_subscriptions.list', {
    access: 'undelegated',
    summary: 'List the browsers that get notices',
    description: 'A subscription ends with the session that made it.',
    querystring: PageQuery,
    response: { 200: pageOf(PushSubscription) },
    of: ({ principal }) => principal.accountId,
    // An account has few subscriptions: all are read.
    read: async ({ before, take }, { principal }) =>
      (await liveSubscriptions(deps.db, deps, [principal.accountId])).filter(({ id }) => !before || id < before).slice(0, take),
    present: (rows) => rows.map((row) => presentSubscription(row)),
  })
  routes.delete(`${path}/:id`, 'push_subscriptions.delete', {
    freshProof: 'by_content',
    access: 'undelegated',
    whileFrozen: true,
    summary: 'End the notices in a browser',
    description: 'Nothing more is sent to it.',
    params: byId('push_subscription'),
    response: { 200: PushSubscription },
    work: async (tx, { principal, params }) => ok(presentSubscription(await unsubscribe(tx, principal, params.id))),
  })
}
