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
    summary: 'Retrieve the key for push subscriptions',
    description:
      'Returns the public key that identifies this service to push services (VAPID, RFC 8292). Returns 503 `provider_not_configured` if push is off.',
    response: { 200: PushKey },
    read: async () => ({ public_key: requirePush(deps).publicKey }),
  })
  routes.post(path, 'push_subscriptions.create', {
    access: 'undelegated',
    idempotent: true,
    refuses: ['provider_not_configured'],
    summary: 'Create a push subscription',
    description:
      'Subscribes the browser to notifications of approvals that the person can decide (Web Push). Each approval is pushed once, with its amount, beneficiary and link, and the notification is removed when the approval ends. `endpoint` and `keys` are the values that `pushManager.subscribe()` returned; `expirationTime` is ignored. The same endpoint returns the same subscription. An account can have up to 20. A subscription ends with the session of this request, when the push service no longer knows it, or when the key of this service changes.',
    body: CreatePushSubscription,
    response: { 201: PushSubscription },
    work: async (tx, { principal, body }) => created(presentSubscription(await subscribe(tx, deps, principal, body))),
  })
  routes.list(path, 'push_subscriptions.list', {
    access: 'undelegated',
    summary: 'List push subscriptions',
    description: 'Returns the browsers that receive notifications. A subscription ends with the session that created it.',
    querystring: PageQuery,
    response: { 200: pageOf(PushSubscription) },
    owner: ({ principal }) => principal.accountId,
    // Reads all subscriptions, because an account has few.
    read: async ({ before, take }, { principal }) =>
      (await liveSubscriptions(deps.db, deps, [principal.accountId])).filter(({ id }) => !before || id < before).slice(0, take),
    present: (rows) => rows.map((row) => presentSubscription(row)),
  })
  routes.delete(`${path}/:id`, 'push_subscriptions.delete', {
    freshProof: 'by_content',
    access: 'undelegated',
    whileFrozen: true,
    summary: 'Delete a push subscription',
    description: 'Ends the notifications in a browser. Nothing more is sent to it.',
    params: byId('push_subscription'),
    response: { 200: PushSubscription },
    work: async (tx, { principal, params }) => ok(presentSubscription(await unsubscribe(tx, principal, params.id))),
  })
}
