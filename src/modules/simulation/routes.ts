import type { App } from '../../http/app-type.ts'
import { isoTime } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { Parts } from '../parts.ts'
import { presentDecision } from '../policies/present.ts'
import type { Replay } from './replay.ts'
import { Simulate, Simulation } from './schema.ts'
import { type Result, simulate } from './simulate.ts'

const presentReplay = (replay: Replay): NonNullable<Simulation['replay']> => ({
  days: replay.days,
  payments_considered: replay.considered,
  allowed: replay.allowed,
  held: replay.held,
  refused: replay.refused,
  affected: replay.affected.map((payment) => ({
    payment_id: payment.refused ? null : formatId('payment', payment.id),
    refusal_id: payment.refused ? formatId('payment_refusal', payment.id) : null,
    beneficiary: { id: formatId('beneficiary', payment.beneficiaryId), display_name: payment.payee },
    amount_minor: formatMinor(payment.amountMinor),
    created_at: isoTime(payment.createdAt),
    outcome: payment.outcome,
    rule: payment.rule,
  })),
  truncated: replay.truncated,
})

const presentSimulation = ({ decision, refusal, replay }: Result, currency: string): Simulation => ({
  ...(decision && presentDecision(decision, currency)),
  // The sentence that the payment would be refused with.
  ...(decision && refusal && { explanation: refusal.message }),
  ...(replay && { replay: presentReplay(replay) }),
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
          'Evaluates a payment for this caller now, and writes nothing: whether it would pass, how many people must approve, which limits apply, possible duplicates, and what would let it pass. With `policy` as if that policy existed as well; with `replay_days` that policy is applied to past payments.',
        body: Simulate,
        response: { 200: Simulation },
      },
    },
    async (request, reply) =>
      reply.send(presentSimulation(await simulate(deps, request.principal, request.body), deps.config.CURRENCY)),
  )
}
