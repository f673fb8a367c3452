import type { App } from '../../http/app-type.ts'
import { readAttention } from './attention/attention.ts'
import { Attention } from './attention/schema.ts'
import type { Deps } from './deps.ts'

export const registerPaymentAttention = (app: App, deps: Deps): void => {
  app.get(
    '/v1/payments/attention',
    {
      config: { operation: 'payments.attention', permission: 'payment.read' },
      schema: { response: { 200: Attention } },
    },
    async (request, reply) => reply.send(await readAttention(deps, request.principal)),
  )
}
