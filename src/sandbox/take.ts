import type { Order } from './book.ts'
import { perform } from './perform.ts'
import { type Play, playFor } from './play.ts'
import type { Provider } from './provider.ts'

type Taken = Pick<Order, 'rail' | 'key' | 'conversation' | 'ours' | 'amountMinor' | 'party' | 'resultUrl' | 'timeoutUrl'> & {
  /** What happens whatever the destination is. */
  play?: Play
}

/** Writes an order down and carries it out as its destination, or a rule that was set, wants it. */
export const take = (provider: Provider, { play: chosen, ...fields }: Taken): Order => {
  const played = chosen ?? playFor(fields.party)
  const telling = provider.rules.forOrder({ rail: fields.rail, party: fields.party })
  const play = telling ? { ...played, telling } : played
  const order = provider.book.open({ ...fields, play, code: play.code })
  perform(provider, order)
  return order
}
