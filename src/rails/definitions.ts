import { z } from 'zod'
import { type DepositRail, type PromptRail, type Provider, providers, type RailName } from '../lib/rail-names.ts'
import { definitions as stated } from './all/definitions.ts'
import {
  type DepositDefinition,
  type PayoutDefinition,
  type PromptDefinition,
  type StatementForm,
  together,
} from './definition.ts'

type Stated = (typeof stated)[keyof typeof stated]

/** One part of every definition: the names in it are those of all rails or settings. */
const part = <Part extends 'settings' | 'payouts' | 'prompts' | 'deposits'>(name: Part) =>
  together(Object.values(stated).map((provider): Stated[Part] => provider[name]))

/** The settings of all providers: a part of `config.ts`'s schema. */
export const railSettings = part('settings')
const settings = z.object(railSettings)
export type RailSettings = z.output<typeof settings>
type Name = keyof RailSettings

/** A provider as the other parts read it: each of its functions takes the settings of all. */
type Definition<P extends Provider> = {
  provider: P
  setting: string
  required: readonly Name[]
  addresses: readonly Name[]
  refusedInCallbacks: readonly string[]
  replaced: readonly { name: string; value: RegExp; by: Name }[]
  payouts: Readonly<Partial<Record<RailName, PayoutDefinition<RailSettings>>>>
  prompts: Readonly<Partial<Record<PromptRail, PromptDefinition>>>
  deposits: Readonly<Partial<Record<DepositRail, DepositDefinition>>>
  statement: StatementForm
}

/** What the setting RAILS may name. */
export type ProviderSetting = Stated['setting']

export const definitions: { readonly [P in Provider]: Definition<P> & { setting: ProviderSetting } } = stated

export const allDefinitions = providers.map((provider) => definitions[provider])

export const payouts: Readonly<Record<RailName, PayoutDefinition<RailSettings>>> = part('payouts')

export const prompts: Readonly<Record<PromptRail, PromptDefinition>> = part('prompts')

export const deposits: Readonly<Record<DepositRail, DepositDefinition>> = part('deposits')
