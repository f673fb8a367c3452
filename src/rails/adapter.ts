import type { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import type { Provider, RailOf } from '../lib/rail-names.ts'
import type { RailCheck } from './check.ts'
import type { ProviderRails } from './rail.ts'
import type { ShareToken } from './token-cache.ts'

/** The settings of a provider, as its definition states them. */
export type SettingsOf<Definition extends { settings: z.ZodRawShape }> = z.output<z.ZodObject<Definition['settings']>>

export type AdapterDeps = { clock: Clock; shareToken?: ShareToken }

/** What calls one provider. `Settings`: what it reads of the configuration; `Options`: what it needs to call the provider. */
export type Adapter<P extends Provider, Settings, Options> = {
  options: (settings: Settings) => Options
  /** What identifies the organisation at the provider. */
  account: (options: Options) => string
  /** The organisation's numbers at the provider by which each rail moves money: the statement of another one does not list it. */
  numbers: (options: Options) => Readonly<Partial<Record<RailOf<P>, readonly string[]>>>
  create: (options: Options, deps: AdapterDeps) => ProviderRails<P>
  /** Tests what it needs, without moving money. */
  check: (options: Options, deps: AdapterDeps) => AsyncIterable<RailCheck>
}

/** A PEM in one environment variable: its line breaks may be written as \n. */
export const pem = (text: string | undefined): string => (text ?? '').replaceAll('\\n', '\n')
