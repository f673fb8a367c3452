import type { App } from '../../http/app-type.ts'
import { created, ok } from '../../http/idempotency.ts'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { listsOf, routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import type { Deps } from './deps.ts'
import { presentSubscription } from './present.ts'
import { liveSubscriptions } from './queries.ts'
import { CreatePushSubscription, PushKey, PushSubscription } from './schema.ts'
import { requirePush, subscribe, unsubscribe } from './service.ts'

const path = '/v1/accounts/me/push-subscriptions'

export const registerPush = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  routes.get('/v1/push/key', {
    config: { operation: 'push.key', access: 'public', refuses: ['provider_not_configured'] },
    schema: { response: { 200: PushKey } },
    read: async () => ({ public_key: requirePush(deps).publicKey }),
  })
  routes.post(path, {
    config: {
      operation: 'push_subscriptions.create',
      access: 'undelegated',
      idempotent: true,
      refuses: ['invalid_request', 'conflict', 'provider_not_configured'],
    },
    schema: { body: CreatePushSubscription, response: { 201: PushSubscription } },
    work: async (tx, { principal, body }) => created(presentSubscription(await subscribe(tx, deps, principal, body))),
  })
  list(path, {
    config: { operation: 'push_subscriptions.list', access: 'undelegated' },
    schema: { querystring: PageQuery, response: { 200: pageOf(PushSubscription) } },
    listing: ({ principal: { accountId } }) => ({
      of: accountId,
      // They are few: all are read.
      read: async ({ before, take }) =>
        (await liveSubscriptions(deps.db, deps.clock, deps.config, [accountId]))
          .filter(({ id }) => !before || id < before)
          .slice(0, take),
      present: (rows) => rows.map(presentSubscription),
    }),
  })
  routes.delete(`${path}/:id`, {
    config: { operation: 'push_subscriptions.delete', access: 'undelegated', whileFrozen: true, refuses: ['not_found'] },
    schema: { params: byId('push_subscription'), response: { 200: PushSubscription } },
    work: async (tx, { principal, params }) => ok(presentSubscription(await unsubscribe(tx, principal, params.id))),
  })
}
