import { z } from 'zod'
import { type DepositRail, type PromptRail, type Provider, providers, type RailName } from '../lib/rail-names.ts'
import { definitions as providerDefinitions } from './all/definitions.ts'
import { type DepositDefinition, merged, type PayoutDefinition, type PromptDefinition } from './definition.ts'

type AnyDefinition = (typeof providerDefinitions)[keyof typeof providerDefinitions]

export const definitions: { readonly [P in Provider]: AnyDefinition } = providerDefinitions

const mergePart = <Part extends 'settings' | 'payouts' | 'prompts' | 'deposits'>(name: Part) =>
  merged(Object.values(providerDefinitions).map((provider): AnyDefinition[Part] => provider[name]))

export const railSettings = mergePart('settings')
const settings = z.object(railSettings)
export type RailSettings = z.output<typeof settings>

export const allDefinitions = providers.map((provider) => definitions[provider])

export const payouts: Readonly<Record<RailName, PayoutDefinition<RailSettings>>> = mergePart('payouts')

export const prompts: Readonly<Record<PromptRail, PromptDefinition>> = mergePart('prompts')

export const deposits: Readonly<Record<DepositRail, DepositDefinition>> = mergePart('deposits')
