import type { App } from '../../http/app-type.ts'
import type { Deps } from './deps.ts'
import { presentSimulation } from './present.ts'
import { Simulate, Simulation } from './schema.ts'
import { simulate } from './simulate.ts'

export const registerSimulation = (app: App, deps: Deps): void => {
  app.post(
    '/v1/spending-policies/simulate',
    {
      // Only reads, so its POST is allowed in a frozen workspace.
      config: {
        operation: 'policies.simulate',
        permission: ['policy.read', 'payment.create'],
        whileFrozen: true,
        changesNothing: true,
        refuses: ['invalid_request', 'not_found'],
      },
      schema: { body: Simulate, response: { 200: Simulation } },
    },
    async (request, reply) =>
      reply.send(presentSimulation(await simulate(deps, request.principal, request.body), deps.config.CURRENCY)),
  )
}
