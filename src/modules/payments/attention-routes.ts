import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import { readAttention } from './attention/attention.ts'
import { Attention } from './attention/schema.ts'
import type { Deps } from './deps.ts'

export const registerPaymentAttention = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/payments/attention', {
    config: { operation: 'payments.attention', permission: 'payment.read' },
    schema: { response: { 200: Attention } },
    read: ({ principal }) => readAttention(deps, principal),
  })
}
