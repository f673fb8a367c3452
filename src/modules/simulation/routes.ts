import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import { formatMinor } from '../../lib/money.ts'
import type { Parts } from '../parts.ts'
import { presentDecision } from '../policies/present.ts'
import { Simulate, Simulation } from './schema.ts'
import { type Simulated, simulate } from './simulate.ts'

const presentSimulation = ({ decision, refusal, feeMinor }: Simulated, currency: string): Simulation => ({
  ...presentDecision(decision, currency),
  fee_minor: formatMinor(feeMinor),
  // The error message that the payment would get.
  ...(refusal && { explanation: refusal.message }),
})

export const registerSimulation = (app: App, deps: Parts): void => {
  routesOf(app, deps).ask('/v1/spending-policies/simulate', 'policies.simulate', {
    // Read-only, so the POST is allowed in a frozen workspace.
    permission: ['policy.read', 'payment.create'],
    whileFrozen: true,
    changesNothing: true,
    summary: 'Simulate a payment',
    description:
      'Evaluates a payment for this caller without creating it. Returns the outcome, the required approvals, the limits that apply, possible duplicates, and the change that would let the payment pass. With `policy`, the evaluation includes that policy as if it existed.',
    body: Simulate,
    response: { 200: Simulation },

    read: async ({ principal, body }) => presentSimulation(await simulate(deps, principal, body), deps.config.CURRENCY),
  })
}
