import { parseArgs } from 'node:util'
import { sendingRails } from '../../lib/rail-names.ts'
import { accountCommands } from './accounts.ts'
import { type Arguments, type Commands, UsageError } from './arguments.ts'
import type { Console } from './console.ts'
import { receiptKeyCommands } from './keys.ts'
import { finishUpgrade, migrateDatabase } from './migrate.ts'
import { moneyCommands } from './money.ts'
import { railCommands } from './rails.ts'
import { upkeepCommands } from './upkeep.ts'

/** `as`: the name that the operator gives, if any. */
export type ConsoleCommand = { needsConsole: true; as: string | undefined; run: (at: Console) => Promise<unknown> }
/** `needsConsole: false`: runs without the service's parts, on a database of any release. */
export type Command = ConsoleCommand | { needsConsole: false; run: () => Promise<unknown> }

const allCommands: Commands = { ...accountCommands, ...moneyCommands, ...railCommands, ...receiptKeyCommands, ...upkeepCommands }
const commands = new Map(Object.entries(allCommands))

const usage = `npm run admin -- <command>, with the database and keys of the service (DATABASE_URL, else DATA_DIR). The audit log names
the login name before sudo, else the system user, or with --as <name> this name:

  accounts find <account>                      <account>: an id, an e-mail address or a wallet (its address, or eip155:<chain>:<address> for a contract)
  accounts freeze|unfreeze|close <account> [--reason <text>]
  accounts enable|disable <account> topups|payments|api_keys|oauth [--reason <text>]
  invite <e-mail|eip155:<chain>:<address>>     allows a person to sign up if SIGN_UP is invited
  grant|revoke <account>                       gives or removes administrator rights
  keys find <key>                              the owner of an API key, found by the key or its first characters
  keys revoke <key id> [--reason <text>]       revokes a leaked key, and everything created with it
  payments find <receipt or reference>         the payment or top-up behind a provider's statement line
  payments list [--status <status>] [--attention late_success]
  payments unknown                             payments with an unknown outcome
  payments resolve <payment> succeeded|failed|charged|written_off --evidence <text> [--receipt <receipt>]
  adjustments list [--status pending]
  adjustments create <account id> credit|debit <amount in minor units> --reason <text> [--key <text>]
                                               a repetition within a day returns the first adjustment; --key: makes another one
  adjustments confirm <adjustment>
  adjustments reject <adjustment> [--reason <text>]
  trial-balance
  fees [--after <time>] [--before <time>]      charged fees by day and rail; default: the last 31 days
  reconcile <file>                             compares a provider's statement (CSV) with the books; exit status 1 if they differ
  suspense list                                money that a provider moved and the service could not book
  suspense show <item>                         one item, with the provider's original message if it could not be read or booked
  suspense resolve <item>… adjusted|reversed|explained --reason <text>
  differences list                             open differences between the books and statements
  differences resolve <difference>… --reason <text>
  rails check                                  checks credentials, certificate, callback address and clock; moves no money
  rails check --duplicate <phone>              pays KES 10 to your own phone over each rail and sends each order again, which the provider must reject
  rails register                               registers our deposit callbacks with the providers
  rails paused                                 paused rails and the reasons
  rails pause ${sendingRails.join('|')} [--reason <text>]
  rails resume ${sendingRails.join('|')}
  audit-log [--account <id>] [--workspace <id>] [--subject <id>] [--action <action>] [--after <time>] [--before <time>] [--limit <n>]
  audit-log export [--cursor <cursor>] [--limit <n>]
                                               the whole log as NDJSON in commit order, for a SIEM; --cursor: the cursor of the last exported row
  persons export <account>                     all stored data about a person, as JSON
  verify [--scope recent|unfinished] [--head <sequence>:<hash>]
                                               checks the data against every promise. recent: only changes since the last check, if that was
                                               within a week. unfinished: continues a check that was stopped. --head: checks the audit log
                                               against a seal that you stored elsewhere
  migrate [--serve-as <role>] [--minutes <n>]  migrates the database to this release. Run it as the owner of the tables, before processes of
                                               this release start. Waits for locked tables, and for another process that migrates, for
                                               10 minutes each, or --minutes. --serve-as: grants the service's role its rights
  finish-upgrade [--minutes <n>]               completes the upgrade after the last process of the previous version has ended: drops what only
                                               that version needs, and enables what it could not serve. A rollback is then impossible
  deliveries retry                             processes quarantined callbacks again
  receipt-keys list                            the signing keys of receipts, with their times
  receipt-keys retire <id>                     retires a key that is no longer first: it stays published, and can be removed from RECEIPT_KEYS
  rotate-keys                                  encrypts and fingerprints all data again with the current keys
  after-restore [--reason <text>] [--again yes]
                                               run it after restoring a dump into another server, before the service starts; or after lost
                                               writes, when all accounts' statements are compared (--reason: why one is not).
                                               --again yes: always for a restored copy; it never ends the pauses of an earlier loss`

const options = Object.fromEntries(
  [...usage.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => [name, { type: 'string' as const }]),
)

const withoutConsole = new Map([
  ['migrate', migrateDatabase],
  ['finish-upgrade', finishUpgrade],
])

/** The most words after a command's name, its options, and its lines of the usage without their descriptions. */
type CommandSyntax = { words: number; options: ReadonlySet<string>; syntax: readonly string[] }

/** Reads lines such as `keys revoke <key id> [--reason <text>]  revokes a leaked key`. A command may have several. */
const readSyntax = (): Map<string, CommandSyntax> => {
  const syntaxOf = new Map<string, CommandSyntax>()
  for (const [, line = ''] of usage.matchAll(/^ {2}(\S.*?)(?: {2}.*)?$/gm)) {
    const [before = ''] = line.split(/ \[?--/)
    // Twice, because a placeholder may contain placeholders.
    const words = before
      .replace(/<[^<>]*>/g, '_')
      .replace(/<[^<>]*>/g, '_')
      .split(' ')
    const [first = [], second = []] = words.map((word) => word.split('|'))
    const pairs = first.flatMap((one) => second.map((two) => `${one} ${two}`))
    for (const name of pairs.some((pair) => commands.has(pair)) ? pairs : first) {
      const earlier = syntaxOf.get(name)
      const maxWords = before.includes('…') ? Number.POSITIVE_INFINITY : words.length - name.split(' ').length
      const lineOptions = [...line.matchAll(/--([a-z-]+)/g)].map(([, option = '']) => option)
      syntaxOf.set(name, {
        words: Math.max(maxWords, earlier?.words ?? 0),
        options: new Set([...lineOptions, ...(earlier?.options ?? [])]),
        syntax: [...(earlier?.syntax ?? []), line],
      })
    }
  }
  return syntaxOf
}
const syntaxByCommand = readSyntax()

/** The syntax of the command that the arguments name, else of all commands that begin with their first word, else everything. */
export const usageFor = (args: readonly string[]): string => {
  const [first = '', second = ''] = args.filter((arg) => !arg.startsWith('-'))
  const name = [`${first} ${second}`, first].find((each) => syntaxByCommand.has(each))
  const matching = [...syntaxByCommand].filter(([each]) => (name === undefined ? each.startsWith(`${first} `) : each === name))
  const lines = new Set(matching.flatMap(([, { syntax }]) => syntax))
  return lines.size === 0 ? usage : `Usage:\n${[...lines].map((line) => `  npm run admin -- ${line}`).join('\n')}`
}

const rejectUnknownArguments = (name: string, { words, options }: Arguments): void => {
  const shape = syntaxByCommand.get(name)
  const word = words[shape?.words ?? 0]
  if (word !== undefined) throw new UsageError(`unexpected "${word}" after ${name}`)
  const option = Object.keys(options).find((each) => !shape?.options.has(each))
  if (option !== undefined) throw new UsageError(`${name} has no option --${option}`)
}

/** Finds the command that a command line names. @throws UsageError */
export const readCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const [first = '', second = ''] = positionals
  for (const name of [`${first} ${second}`, first]) {
    const [command, run] = [commands.get(name), withoutConsole.get(name)]
    if (!command && !run) continue
    const { as, ...given } = values
    const input = { words: positionals.slice(name.split(' ').length), options: command ? given : values }
    rejectUnknownArguments(name, input)
    if (as !== undefined && !/^[\w.@-]{1,64}$/.test(as))
      throw new UsageError('--as must be a name of letters, digits, ".", "-", "_" and "@"')
    if (command) return { needsConsole: true, as, run: (at) => command(at, input) }
    if (run) return { needsConsole: false, run: () => run(input) }
  }
  throw new UsageError(first === '' ? '' : `unknown command "${positionals.join(' ')}"`)
}
