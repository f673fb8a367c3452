import { isoTime } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import { presentDecision } from '../policies/present.ts'
import type { Replay } from './replay.ts'
import type { Simulation as SimulationOut } from './schema.ts'
import type { Simulation } from './simulate.ts'

const presentReplay = (replay: Replay): NonNullable<SimulationOut['replay']> => ({
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

export const presentSimulation = ({ decision, refusal, replay }: Simulation, currency: string): SimulationOut => ({
  ...(decision && presentDecision(decision, currency)),
  // The sentence that the payment would be refused with.
  ...(decision && refusal && { explanation: refusal.message }),
  ...(replay && { replay: presentReplay(replay) }),
})
