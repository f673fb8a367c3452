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

/** Every provider, a line each: the one list that all other parts are views of. */
const stated = { MPESA: mpesa, PESALINK: pesalink } as const
type Stated = (typeof stated)[keyof typeof stated]

type All<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer Whole) => void ? Whole : never
/** One part of every definition, as one record: the names in it are those of all rails or settings, and no two providers share one. */
const together = <Part extends 'settings' | 'payouts' | 'prompts' | 'deposits'>(part: Part) =>
  Object.assign({}, ...Object.values(stated).map((provider) => provider[part])) as All<Stated[Part]>

/** The settings of all providers: a part of `config.ts`'s schema. */
export const railSettings = together('settings')
const settings = z.object(railSettings)
export type RailSettings = z.output<typeof settings>
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

/** What the setting RAILS may name. */
export type ProviderSetting = Stated['setting']

export const definitions: { readonly [P in Provider]: Definition<P> & { setting: ProviderSetting } } = stated

export const allDefinitions = providers.map((provider) => definitions[provider])

export const payouts: Readonly<Record<RailName, PayoutDefinition<RailSettings>>> = together('payouts')

export const prompts: Readonly<Record<PromptRail, PromptDefinition>> = together('prompts')

export const deposits: Readonly<Record<DepositRail, DepositDefinition>> = together('deposits')

/** The longest time that a request by this rail takes. */
export const timeoutMsOf = (rail: AnyRail, given: RailSettings): number => definitions[providerOf(rail)].timeoutMs(given)
