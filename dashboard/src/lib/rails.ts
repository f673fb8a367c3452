import { type Provider, providerOf as providerOfRail, providers, type RailName } from '../../../src/lib/rail-names.ts'
import { providerLabel, payoutWords as railFacts } from '../../../src/rails/texts.ts'

export type { RailName }
/** What the pages say about a payment method: it stands in its provider's folder. */
export { railFacts }

export const isProvider = (text: string): text is Provider => providers.some((provider) => provider === text)

/** Who carries a payment: "M-PESA". */
export const providerOf = (rail: RailName): string => providerLabel(providerOfRail(rail))

export const isRail = (text: string): text is RailName => Object.hasOwn(railFacts, text)

export const rails: readonly RailName[] = Object.keys(railFacts).filter(isRail)

export const railOptions = rails.map((rail) => ({ value: rail, label: railFacts[rail].label }))

/** A payment type in words: a payment method, or a type of the workspace's own. */
export const typeLabel = (type: string): string => (isRail(type) ? railFacts[type].label : type.replaceAll('_', ' '))
