import { type Provider, providers, type RailName } from '../lib/rail-names.ts'
import { words } from './all/words.ts'
import { merged, type PayoutWords, type ProviderWords } from './definition.ts'

const wordsOf: { readonly [P in Provider]: ProviderWords<P> } = words
const ordered = providers.map((provider) => words[provider])

export const payoutWords: Readonly<Record<RailName, PayoutWords>> = merged(ordered.map(({ payouts }) => payouts))

export const depositActions = merged(ordered.map((provider) => provider.depositActions))

export const providerLabel = (provider: Provider): string => wordsOf[provider].label

export const providerLabels: readonly string[] = providers.map(providerLabel)
