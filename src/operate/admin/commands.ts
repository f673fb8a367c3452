import { parseArgs } from 'node:util'
import { sendingRails } from '../../lib/rail-names.ts'
import { accountCommands } from './accounts.ts'
import { type Commands, UsageError } from './arguments.ts'
import type { Console } from './console.ts'
import { receiptKeyCommands } from './keys.ts'
import { finishUpgrade, migrateDatabase } from './migrate.ts'
import { moneyCommands } from './money.ts'
import { railCommands } from './rails.ts'
import { upkeepCommands } from './upkeep.ts'

/** `needsConsole: false`: runs on a database of any release, without the service's parts. */
export type Command =
  | { needsConsole: true; run: (at: Console) => Promise<unknown> }
  | { needsConsole: false; run: () => Promise<unknown> }

const allCommands: Commands = { ...accountCommands, ...moneyCommands, ...railCommands, ...receiptKeyCommands, ...upkeepCommands }
const commands = new Map(Object.entries(allCommands))

export const usage = `npm run admin -- <command>, on the database and with the keys of the service (DATABASE_URL, else DATA_DIR):

  accounts find <account>                      <account>: an id, an e-mail or a wallet (an address, or eip155:<chain>:<address> of a contract)
  accounts freeze|unfreeze|close <account> [--reason <text>]
  accounts enable|disable <account> topups|payments|api_keys|oauth
  invite <e-mail|eip155:<chain>:<address>>     who may begin an account where SIGN_UP is invited
  grant|revoke <account>                       names an administrator, or no longer
  workspaces suspend|reinstate <workspace> [--reason <text>]
  keys find <key>                              whose an API key is: the key, or its first characters
  keys revoke <key id> [--reason <text>]       ends a key that leaked, and what was made with it
  payments find <receipt or reference>         the payment or top-up behind a line of a provider's statement
  payments list [--status <status>] [--attention late_success]
  payments unknown                             whose outcome is unknown
  payments resolve <payment> succeeded|failed|charged|written_off --evidence <text> [--receipt <receipt>]
  adjustments list [--status pending]
  adjustments create <account id> credit|debit <amount in minor units> --reason <text>
  adjustments confirm|reject <adjustment>
  trial-balance
  fees [--after <time>] [--before <time>]      what was charged, by day and rail; the last 31 days if no time is named
  reconcile <file>                             a provider's statement (CSV) against the books; fails when they differ
  suspense list                                money that a provider moved and nothing could be booked for
  suspense show <item>                         with the provider's notice, word for word, if it could not be read or booked
  suspense resolve <item>… adjusted|reversed|explained --reason <text>
  differences list                             between the books and statements, still open
  differences resolve <difference>… --reason <text>
  rails check                                  tries credentials, certificate, callback address and clock; moves no money
  rails check --duplicate <phone>              pays KES 10 to your own phone by each rail, and sends the same order again: it must be refused
  rails register                               tells the providers where deposits are to be reported
  rails paused
  rails pause|resume ${sendingRails.join('|')} [--reason <text>]
  audit-log [--account <id>] [--workspace <id>] [--subject <id>] [--action <action>] [--after <time>] [--before <time>] [--limit <n>]
  audit-log export [--format ndjson|csv] [--cursor <cursor>] [--limit <n>]
                                               the whole log in the order of commits, for another system; --cursor: that of the last row it has
  persons export <account>                     everything that is stored about a person, as JSON
  verify [--scope recent|unfinished] [--head <sequence>:<hash>]
                                               holds the data against every promise (recent: what changed since the last time, when that
                                               was within a week; unfinished: goes on where the last check was stopped), and the audit log
                                               against a seal that was kept outside
  migrate [--serve-as <role>] [--minutes <n>]  brings the database to this release: as the tables' owner, before its processes start. A table
                                               that is in use is tried again for 10 minutes. --serve-as: what the service's role may do
  finish-upgrade [--minutes <n>]               after the last process of the version before has ended: drops what only that version needs, and
                                               allows what it could not have served. Rolling back is not possible after it
  deliveries retry                             works again on the providers' deliveries that failed too often
  receipt-keys list                            the keys that sign receipts, with their times
  receipt-keys new                             prints a key to put first in RECEIPT_KEYS; the ones before it stay after it
  receipt-keys retire <id>                     ends one that is no longer first: it stays published, and may leave RECEIPT_KEYS
  push-keys                                    prints a key for VAPID_KEYS, with which notices are sent to browsers; browsers that subscribed
                                               under another one subscribe again when they are used next
  rotate-keys                                  seals everything under the current keys
  after-restore [--reason <text>]              after a dump was restored into another server, before the service starts; or after a loss of
                                               writes, when the statements of all accounts were compared (--reason: why one was not)`

const options = Object.fromEntries(
  [...usage.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => [name, { type: 'string' as const }]),
)

/** The command that a command line names. @throws UsageError */
export const readCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const [first = '', second = ''] = positionals
  for (const name of [`${first} ${second}`, first]) {
    const command = commands.get(name)
    const input = { words: positionals.slice(name.split(' ').length), options: values }
    if (command) return { needsConsole: true, run: (at) => command(at, input) }
    if (name === 'migrate') return { needsConsole: false, run: () => migrateDatabase(input) }
    if (name === 'finish-upgrade') return { needsConsole: false, run: () => finishUpgrade(input) }
  }
  throw new UsageError(first === '' ? '' : `there is no command "${positionals.join(' ')}"`)
}
