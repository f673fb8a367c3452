import { type Provider, providers, type RailName } from '../lib/rail-names.ts'
import { words } from './all/words.ts'
import { type PayoutWords, type ProviderWords, together } from './definition.ts'

const wordsOf: { readonly [P in Provider]: ProviderWords<P> } = words
const ordered = providers.map((provider) => words[provider])

export const payoutWords: Readonly<Record<RailName, PayoutWords>> = together(ordered.map(({ payouts }) => payouts))

export const depositActions = together(ordered.map((provider) => provider.depositActions))

export const providerLabel = (provider: Provider): string => wordsOf[provider].label

export const providerLabels: readonly string[] = providers.map(providerLabel)
