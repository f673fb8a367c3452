import type { Config } from './config.ts'
import type { Clock } from './lib/clock.ts'
import { StartupError } from './lib/errors.ts'
import { isLoopbackUrl } from './lib/loopback.ts'
import {
  collectionRail,
  type DepositRail,
  depositRails,
  type Provider,
  providerOf,
  providers,
  type RailName,
  railNames,
  type SendingRail,
  sendingRails,
} from './lib/rail-names.ts'
import { adapters as connected } from './rails/all/adapters.ts'
import { checkCallbackUrl } from './rails/check.ts'
import { definitions, payouts, type RailSettings } from './rails/definitions.ts'
import { createGate, gatedCollection, gatedPayout } from './rails/gate.ts'
import type {
  Adapter,
  AdapterDeps,
  CollectionAdapter,
  ConnectedProvider,
  DepositAdapter,
  OrganisationAccount,
  PayoutRail,
  RailCheck,
  RailGate,
  Rails,
  Repeats,
  ShareToken,
} from './rails/rail.ts'

// Only this file connects providers. All other facts about a provider are in its definition.

export type RailOptions = { [P in Provider]: ReturnType<(typeof connected)[P]['options']> }

type AnyAdapter<P extends Provider> = Omit<Adapter<P, RailSettings, RailOptions[P]>, 'create'> & {
  create: (options: RailOptions[P], deps: AdapterDeps) => ConnectedProvider
}

const adapters: { readonly [P in Provider]: AnyAdapter<P> } = connected

/** Returns null for a provider that is not in use. */
type OptionsOf = <P extends Provider>(provider: P) => RailOptions[P] | null

const connect = <P extends Provider>(provider: P, optionsOf: OptionsOf, deps: AdapterDeps): ConnectedProvider | null => {
  const options = optionsOf(provider)
  return options && adapters[provider].create(options, deps)
}

/** By default, an order whose outcome is unknown may be sent again only to the emulator. */
const repeatsOf = (config: Config, rail: RailName, account: string, isEmulator: boolean): Repeats | null => {
  const { repeat } = payouts[rail]
  if (repeat === 'pays_again') return null
  return (config[repeat.setting] ?? isEmulator) ? { provenFor: isEmulator ? null : account } : null
}

/** Providers permit lookups of registered names only on request, so NAME_LOOKUPS enables them for each rail. */
const asksForNames = ({ NAME_LOOKUPS: named }: Pick<Config, 'NAME_LOOKUPS'>, rail: RailName, isEmulated: boolean): boolean =>
  named === undefined ? isEmulated : named.includes(rail)

/** Connects either the real providers or the emulator. The adapters cannot tell the difference. */
const connectRails = (config: Config, clock: Clock, optionsOf: OptionsOf, isEmulator: boolean): Rails => {
  const gates = Object.fromEntries(
    sendingRails.map((rail) => [rail, createGate({ clock, concurrency: config.RAIL_CONCURRENCY })]),
  ) as Record<SendingRail, RailGate>
  const payout: Partial<Record<RailName, PayoutRail>> = {}
  const accounts: Partial<Record<Provider, OrganisationAccount>> = {}
  const deposits: Partial<Record<DepositRail, DepositAdapter & { isEmulator: boolean }>> = {}
  let collection: CollectionAdapter | null = null
  let numbers: Rails['numbers'] = {}
  // The rails are built before the database connection, which provides `sharing` later.
  let sharing: ShareToken | undefined
  const shareToken: ShareToken = (asked) => (sharing ? sharing(asked) : asked.fetch())
  for (const provider of providers) {
    const connected = connect(provider, optionsOf, { clock, shareToken })
    if (!connected) continue
    const { identity } = connected
    numbers = { ...numbers, ...connected.numbers }
    for (const rail of railNames) {
      const adapter = connected.payout[rail]
      if (!adapter) continue
      const repeats = repeatsOf(config, rail, identity, isEmulator)
      const lookUp = asksForNames(config, rail, isEmulator) ? adapter.lookUp : null
      payout[rail] = {
        ...gatedPayout(adapter, gates[rail]),
        repeats,
        account: identity,
        lookUp,
        banks: payouts[rail].banks(config),
      }
    }
    const prompt = connected.collection[collectionRail]
    if (prompt) collection = gatedCollection(prompt, gates[collectionRail])
    for (const rail of depositRails) {
      const adapter = connected.deposits[rail]
      if (adapter) deposits[rail] = { ...adapter, isEmulator }
    }
    if (connected.account) accounts[provider] = connected.account
  }
  const setTokenSharing: Rails['setTokenSharing'] = (given) => {
    sharing = given
  }
  return { payout, collection, deposits, accounts, numbers, gates, setTokenSharing }
}

const isNamed = (config: Config, provider: Provider): boolean => config.RAILS?.includes(definitions[provider].setting) ?? false

export const realRails = (config: Config, clock: Clock): Rails =>
  connectRails(config, clock, (provider) => (isNamed(config, provider) ? adapters[provider].options(config) : null), false)

/** The organisation's paying account at each provider, for reconciliation after data loss. Null: any account of the emulator. */
export const payingAccounts = (config: Config, clock: Clock): { provider: Provider; number: string | null }[] => {
  const named = providers.filter((provider) => isNamed(config, provider))
  if (named.length === 0) return providers.map((provider) => ({ provider, number: null }))
  const { numbers, payout } = realRails(config, clock)
  return named.flatMap((provider) => {
    const own = railNames.filter((rail) => payout[rail] && providerOf(rail) === provider).flatMap((rail) => numbers[rail] ?? [])
    return (own.length === 0 ? [null] : [...new Set(own)]).map((number) => ({ provider, number }))
  })
}

/** Rails for programs that call no provider. */
export const noRails = (config: Config, clock: Clock): Rails => connectRails(config, clock, () => null, false)

export type SandboxOptions = { options: (baseUrl: string) => RailOptions }

export const sandboxRails = (config: Config, clock: Clock, sandbox: SandboxOptions, baseUrl: string): Rails => {
  const options = sandbox.options(baseUrl)
  return connectRails(config, clock, (provider) => options[provider], true)
}

const check = <P extends Provider>(provider: P, config: Config, clock: Clock): AsyncIterable<RailCheck> =>
  adapters[provider].check(adapters[provider].options(config), { clock })

/** Checks the configuration of each rail without moving money. */
export async function* configuredRailChecks(config: Config, clock: Clock): AsyncGenerator<RailCheck> {
  const named = providers.filter((provider) => isNamed(config, provider))
  if (named.length === 0)
    throw new StartupError('Nothing to check: RAILS names no real provider, so payments are simulated and no money moves.')
  for (const provider of named) yield* check(provider, config, clock)
  yield checkCallbackUrl(config.operatorUrl, isLoopbackUrl(config.operatorUrl))
}
