import { type Provider, providerOf, providers, type RailName } from '../../../src/lib/rail-names.ts'
import { payoutWords, providerLabel } from '../../../src/rails/texts.ts'
import { railText } from './language.ts'

/** Texts about each rail in the reader's language, from its provider's folder. */
export const railFacts = Object.fromEntries(
  Object.entries(payoutWords).map(([rail, words]) => {
    const own = railText(rail)
    return [rail, { ...words, ...own, destination: { ...words.destination, ...own?.destination } }]
  }),
) as typeof payoutWords

export const isProvider = (text: string): text is Provider => providers.some((provider) => provider === text)

/** Name of a rail's provider: "M-PESA". */
export const providerLabelOf = (rail: RailName): string => providerLabel(providerOf(rail))

export const isRail = (text: string): text is RailName => Object.hasOwn(railFacts, text)

export const rails: readonly RailName[] = Object.keys(railFacts).filter(isRail)

export const railOptions = rails.map((rail) => ({ value: rail, label: railFacts[rail].label }))

/** Label of a payment type: a rail, or the workspace's own type. */
export const typeLabel = (type: string): string => (isRail(type) ? railFacts[type].label : type.replaceAll('_', ' '))
