import type { App } from '../../http/app-type.ts'
import { formatMinor } from '../../lib/money.ts'
import type { Parts } from '../parts.ts'
import { presentDecision } from '../policies/present.ts'
import { Simulate, Simulation } from './schema.ts'
import { type Simulated, simulate } from './simulate.ts'

const presentSimulation = ({ decision, refusal, feeMinor }: Simulated, currency: string): Simulation => ({
  ...presentDecision(decision, currency),
  fee_minor: formatMinor(feeMinor),
  // The sentence that the payment would be refused with.
  ...(refusal && { explanation: refusal.message }),
})

export const registerSimulation = (app: App, deps: Parts): void => {
  app.post(
    '/v1/spending-policies/simulate',
    {
      // Only reads, so its POST is allowed in a frozen workspace.
      config: {
        operation: 'policies.simulate',
        permission: ['policy.read', 'payment.create'],
        whileFrozen: true,
        changesNothing: true,
      },
      schema: {
        summary: 'Simulate a payment',
        description:
          'Evaluates a payment for this caller now, and writes nothing: whether it would pass, how many people must approve, which limits apply, possible duplicates, and what would let it pass. With `policy` as if that policy existed as well.',
        body: Simulate,
        response: { 200: Simulation },
      },
    },
    async (request, reply) =>
      reply.send(presentSimulation(await simulate(deps, request.principal, request.body), deps.config.CURRENCY)),
  )
}
