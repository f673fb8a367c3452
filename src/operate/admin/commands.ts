import { parseArgs } from 'node:util'
import { closest } from '../../lib/closest.ts'
import { accountCommands } from './accounts.ts'
import { type Command, UsageError } from './arguments.ts'
import type { Console } from './console.ts'
import { receiptKeyCommands } from './keys.ts'
import { migrationCommands } from './migrate.ts'
import { moneyCommands } from './money.ts'
import { railCommands } from './rails.ts'
import { upkeepCommands } from './upkeep.ts'

/** `as`: the name that the operator gives, if any. */
export type ConsoleCommand = { needsConsole: true; as: string | undefined; run: (at: Console) => Promise<unknown> }
type ReadCommand = ConsoleCommand | { needsConsole: false; run: () => Promise<unknown> }

/** In the order in which the usage lists them. */
const entries: [string, Command][] = Object.entries({
  ...accountCommands,
  ...moneyCommands,
  ...railCommands,
  ...upkeepCommands,
  ...migrationCommands,
  ...receiptKeyCommands,
})

const lineOf = ([name, { syntax, help }]: [string, Command]): string => `${`${name} ${syntax}`.trimEnd()}\n      ${help}`

const usage = `npm run admin -- <command>, with the database and keys of the service (DATABASE_URL, else DATA_DIR). The audit log names
the login name before sudo, else the system user, or with --as <name> this name:

${entries.map((entry) => `  ${lineOf(entry)}`).join('\n')}`

/** The command whose name the arguments begin with, apart from options. */
const commandIn = (args: readonly string[]): [string, Command] | undefined => {
  const [first = '', second = ''] = args.filter((arg) => !arg.startsWith('-'))
  return entries.find(([name]) => name === `${first} ${second}`) ?? entries.find(([name]) => name === first)
}

/** The syntax of the command that the arguments name, else of all commands that begin with their first word, else everything. */
export const usageFor = (args: readonly string[]): string => {
  const found = commandIn(args)
  const first = args.find((arg) => !arg.startsWith('-'))
  const matching = found ? [found] : entries.filter(([name]) => name.startsWith(`${first} `))
  return matching.length === 0 ? usage : ['Usage:', ...matching.map((entry) => `  npm run admin -- ${lineOf(entry)}`)].join('\n')
}

const wordsOf = ({ syntax }: Command): string[] =>
  syntax
    .split(/(?:^| )\[?--/, 1)
    .flatMap((text) => text.split(' '))
    .filter(Boolean)
const optionsOf = ({ syntax }: Command, form = /--([\w-]+)/g): string[] => [...syntax.matchAll(form)].map(([, name = '']) => name)

const names = entries.map(([name]) => name)
const everyOption = ['as', ...entries.flatMap(([, command]) => optionsOf(command))]

const didYouMean = (meant: string | undefined): string => (meant === undefined ? '' : `; did you mean "${meant}"?`)

/** Finds the command that a command line names. @throws UsageError */
export const readCommand = (args: readonly string[]): ReadCommand => {
  const types = Object.fromEntries(everyOption.map((option) => [option, { type: 'string' as const }]))
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, strict: false, options: types })
  const found = commandIn(positionals)
  if (!found) {
    const nearest = closest(positionals.slice(0, 2).join(' '), names)
    throw new UsageError(positionals.length === 0 ? '' : `unknown command "${positionals.join(' ')}"${didYouMean(nearest)}`)
  }
  const [name, command] = found
  const known = ['run' in command ? 'as' : '', ...optionsOf(command)]
  const given: Record<string, string> = {}
  for (const [option, value] of Object.entries(values)) {
    const nearest = closest(option, known)
    if (!known.includes(option)) throw new UsageError(`${name} has no option --${option}${didYouMean(nearest && `--${nearest}`)}`)
    if (typeof value !== 'string' || value.startsWith('--')) throw new UsageError(`--${option} has no value`)
    given[option] = value
  }
  const { as, ...options } = given
  if (as !== undefined && !/^[\w.@-]{1,64}$/.test(as))
    throw new UsageError('--as must be a name of letters, digits, ".", "-", "_" and "@"')
  const expected = wordsOf(command)
  const words = positionals.slice(name.split(' ').length)
  const unexpected = command.syntax.includes('…') ? undefined : words[expected.length]
  if (unexpected !== undefined) throw new UsageError(`unexpected "${unexpected}" after ${name}`)
  const complete = () => {
    const option = optionsOf(command, / --([\w-]+)/g).find((needed) => !(needed in options))
    const missing = expected[words.length] ?? (option && `--${option}`)
    if (missing !== undefined) throw new UsageError(`${missing} is missing`)
    return options
  }
  return 'run' in command
    ? { needsConsole: true, as, run: async (at) => command.run(at, words, complete()) }
    : { needsConsole: false, run: async () => command.runAlone(complete()) }
}
