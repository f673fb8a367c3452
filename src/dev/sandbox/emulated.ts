import type { FastifyInstance } from 'fastify'
import { type Provider, providerOf, providers } from '../../lib/rail-names.ts'
import { emulators } from '../../rails/all/emulators.ts'
import { together } from '../../rails/definition.ts'
import type { Respond } from './answer.ts'
import type { Movement } from './book.ts'
import { createEmulation, type Emulation, type EmulationDeps, type Emulator } from './emulator.ts'
import { keepSecrets } from './secrets.ts'

/** What a client of each provider needs, without the address that it is reached by. */
export type ClientOptions = { [P in Provider]: ReturnType<(typeof emulators)[P]['create']>['options'] }

const emulated: { readonly [P in Provider]: Emulator<P> } = emulators
const all = Object.values(emulators)

/** Every provider with its secrets: those that are kept in the folder. */
export const playProviders = (deps: EmulationDeps) => {
  const secretOf = keepSecrets(deps.folder)
  const played = providers.map((provider) => emulators[provider].create(secretOf))
  return {
    options: Object.fromEntries(providers.map((provider, at) => [provider, played[at]?.options])) as ClientOptions,
    emulation: createEmulation(deps, {
      renderings: together(all.map(({ renderings }) => renderings)),
      notices: together(all.map(({ notices }) => notices)),
      accounts: together(played.map(({ accounts }) => accounts)),
    }),
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
