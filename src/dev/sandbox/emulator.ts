import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import type { DepositOf, DepositRail, Provider, RailOf, SendingRail } from '../../lib/rail-names.ts'
import type { Movement } from './book.ts'
import type { AddressBook } from './deliver.ts'
import type { Respond } from './faults.ts'
import type { Journal } from './journal.ts'
import type { Names } from './names.ts'
import type { Render, Rendering, Stage } from './perform.ts'
import type { Rules } from './rules.ts'
import type { Tokens } from './tokens.ts'

/** Everything that an endpoint of the sandbox works with, whichever provider it plays. */
export type Emulation = Stage & {
  clock: Clock
  tokens: Readonly<Record<Provider, Tokens>>
  rules: Rules
  addresses: AddressBook
  /** The organisation's account that a deposit by each rail arrives in. */
  accounts: Readonly<Record<DepositRail, string>>
  names: Names
  journal: Journal
}

/** `options`: what a client needs, without the address that it is reached by. */
type Credentials<Options extends object> = { options: Options }

/** One provider as it is played, with its secrets. */
type Played<P extends Provider, Options extends object> = Credentials<Options> & {
  /** Its paths, checks and answers. */
  register: (app: FastifyInstance, emulation: Emulation, respond: Respond) => void
  /** The organisation's account that a deposit by each of its rails arrives in. */
  accounts: Readonly<Record<DepositOf<P>, string>>
}

/** The rows of its statement: of one of the organisation's accounts with its heading, or of all without; the names of the columns first. */
export type StatementRows = (movements: readonly Movement[], account?: string) => string[][]

/** What an emulator states as it is used. */
type Forms<P extends Provider, Secret extends string> = {
  /** Its secrets, by names that no other provider has: how each is made. They are made once and kept. */
  secrets: Readonly<Record<Secret, () => string>>
  /** The form of an outcome on each of its rails that a client sends by. */
  renderings: Readonly<Record<SendingRail & RailOf<P>, Rendering>>
  /** The form of the notice of a deposit. */
  notices: Readonly<Record<DepositOf<P>, Render>>
  statement: StatementRows
}

/** What plays one provider. */
export type Emulator<P extends Provider, Secret extends string, Options extends object> = Forms<P, Secret> & {
  create: (secrets: Readonly<Record<Secret, string>>) => Played<P, Options>
}

/** An emulator as its folder states it: `credentials` are what the others are made with. */
type Stated<P extends Provider, Secret extends string, Own extends Credentials<object>> = Forms<P, Secret> & {
  credentials: (secrets: Readonly<Record<Secret, string>>) => Own
  register: (app: FastifyInstance, emulation: Emulation & { credentials: Own }, respond: Respond) => void
  accounts: (options: Own['options']) => Played<P, Own['options']>['accounts']
}

/** States an emulator, checked against the list of rails. */
export const defineEmulator =
  <P extends Provider>() =>
  <Secret extends string, Own extends Credentials<object>>(
    stated: Stated<P, Secret, Own>,
  ): Emulator<P, Secret, Own['options']> => ({
    ...stated,
    create: (secrets) => {
      const credentials = stated.credentials(secrets)
      const { options } = credentials
      return {
        options,
        register: (app, emulation, respond) => stated.register(app, { ...emulation, credentials }, respond),
        accounts: stated.accounts(options),
      }
    },
  })
