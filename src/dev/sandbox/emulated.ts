import type { FastifyInstance } from 'fastify'
import { type DepositRail, type Provider, providerOf, providers, type SendingRail } from '../../lib/rail-names.ts'
import { emulators } from '../../rails/all/emulators.ts'
import { type All, together } from '../../rails/definition.ts'
import type { Movement } from './book.ts'
import type { Emulation, Emulator } from './emulator.ts'
import type { Respond } from './faults.ts'
import type { Render, Rendering } from './perform.ts'
import { readSecrets } from './secrets.ts'

type Stated = typeof emulators
type Secret = keyof All<Stated[Provider]['secrets']>

/** What a client of each provider needs, without the address that it is reached by. */
export type ClientOptions = { [P in Provider]: ReturnType<Stated[P]['create']>['options'] }

/** Every provider as it is emulated: routes, results, statements and credentials are views of it. */
const emulated: { readonly [P in Provider]: Omit<Emulator<P, Secret, ClientOptions[P]>, 'secrets'> } = emulators
const all = Object.values(emulated)

/** The form of an outcome on every rail. */
export const renderings: Readonly<Record<SendingRail, Rendering>> = together(all.map((each) => each.renderings))

export const depositForms: Readonly<Record<DepositRail, Render>> = together(all.map(({ notices }) => notices))

/** Every provider with its secrets: those that are kept in the folder. */
export const playProviders = (folder?: string) => {
  const makers: Readonly<Record<Secret, () => string>> = together(Object.values(emulators).map(({ secrets }) => secrets))
  const secrets = readSecrets(makers, folder)
  const played = providers.map((provider) => emulated[provider].create(secrets))
  return {
    options: Object.fromEntries(providers.map((provider, at) => [provider, played[at]?.options])) as ClientOptions,
    accounts: together(played.map(({ accounts }) => accounts)),
    register: (app: FastifyInstance, emulation: Emulation, respond: Respond): void => {
      for (const { register } of played) register(app, emulation, respond)
    },
  }
}

const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The statement of one of the organisation's accounts at a provider, or of all that it has there, with the columns of its portal. */
export const statementCsv = (movements: readonly Movement[], provider: Provider, account?: string): string => {
  const own = movements.filter((moved) => providerOf(moved.rail) === provider && (account ?? moved.account) === moved.account)
  const rows = emulated[provider].statement(own, account)
  return `${rows.map((row) => row.map(quote).join(',')).join('\n')}\n`
}
