import { z } from 'zod'
import {
  type AnyRail,
  type DepositRail,
  type PromptRail,
  type Provider,
  providerOf,
  providers,
  type RailName,
} from '../lib/rail-names.ts'
import { mpesa } from './daraja/definition.ts'
import type { DepositDefinition, PayoutDefinition, PromptDefinition, StatementForm } from './definition.ts'
import { pesalink } from './pesalink/definition.ts'

/** The settings of all providers: a part of `config.ts`'s schema. */
export const railSettings = { ...mpesa.settings, ...pesalink.settings }
const settings = z.object(railSettings)
type RailSettings = z.output<typeof settings>
type Name = keyof RailSettings

/** A provider as the other parts read it: each of its functions takes the settings of all. */
type Definition<P extends Provider> = {
  provider: P
  label: string
  setting: string
  required: readonly Name[]
  addresses: readonly Name[]
  refusedInCallbacks: readonly string[]
  contradictions: (settings: RailSettings) => readonly string[]
  timeoutMs: (settings: RailSettings) => number
  payouts: Readonly<Partial<Record<RailName, PayoutDefinition<RailSettings>>>>
  prompts: Readonly<Partial<Record<PromptRail, PromptDefinition>>>
  deposits: Readonly<Partial<Record<DepositRail, DepositDefinition>>>
  statement: StatementForm
}

/** Every provider: the one list that all other parts are views of. */
const stated = { MPESA: mpesa, PESALINK: pesalink } as const
/** What the setting RAILS may name. */
export type ProviderSetting = (typeof stated)[Provider]['setting']

export const definitions: { readonly [P in Provider]: Definition<P> & { setting: ProviderSetting } } = stated

export const allDefinitions = providers.map((provider) => definitions[provider])

export const payouts: Readonly<Record<RailName, PayoutDefinition<RailSettings>>> = { ...mpesa.payouts, ...pesalink.payouts }

export const prompts: Readonly<Record<PromptRail, PromptDefinition>> = { ...mpesa.prompts, ...pesalink.prompts }

export const deposits: Readonly<Record<DepositRail, DepositDefinition>> = { ...mpesa.deposits, ...pesalink.deposits }

/** The longest time that a request by this rail takes. */
export const timeoutMsOf = (rail: AnyRail, given: RailSettings): number => definitions[providerOf(rail)].timeoutMs(given)
