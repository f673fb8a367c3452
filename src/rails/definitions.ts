import { z } from 'zod'
import { type DepositRail, type PromptRail, type Provider, providers, type RailName } from '../lib/rail-names.ts'
import { definitions as stated } from './all/definitions.ts'
import { type DepositDefinition, merged, type PayoutDefinition, type PromptDefinition } from './definition.ts'

type Stated = (typeof stated)[keyof typeof stated]

export const definitions: { readonly [P in Provider]: Stated } = stated

const part = <Part extends 'settings' | 'payouts' | 'prompts' | 'deposits'>(name: Part) =>
  merged(Object.values(stated).map((provider): Stated[Part] => provider[name]))

export const railSettings = part('settings')
const settings = z.object(railSettings)
export type RailSettings = z.output<typeof settings>

export const allDefinitions = providers.map((provider) => definitions[provider])

export const payouts: Readonly<Record<RailName, PayoutDefinition<RailSettings>>> = part('payouts')

export const prompts: Readonly<Record<PromptRail, PromptDefinition>> = part('prompts')

export const deposits: Readonly<Record<DepositRail, DepositDefinition>> = part('deposits')
