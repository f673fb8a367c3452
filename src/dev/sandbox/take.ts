import type { Order } from './book.ts'
import type { Emulation } from './emulator.ts'
import { perform } from './perform.ts'
import { type Scenario, scenarioFor } from './scenario.ts'

type Taken = Pick<
  Order,
  'rail' | 'key' | 'conversation' | 'reference' | 'amountMinor' | 'party' | 'account' | 'resultUrl' | 'timeoutUrl'
> & {
  /** The name of a person who pays in. */
  payer?: string
  /** Overrides the destination's scenario. */
  scenario?: Scenario
}

/** Records an order and carries it out as its destination, or a matching rule, says. */
export const take = (emulation: Emulation, { scenario: chosen, ...fields }: Taken): Order => {
  const byDestination = chosen ?? scenarioFor(fields.party)
  const reporting = emulation.rules.forOrder({ rail: fields.rail, party: fields.party })
  const scenario = reporting ? { ...byDestination, reporting } : byDestination
  const order = emulation.book.open({ ...fields, scenario, code: scenario.code, payee: emulation.names.of(fields.party) })
  perform(emulation, order)
  return order
}
