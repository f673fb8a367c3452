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

/** `needsConsole: false`: runs without the service's parts, on a database of any release. */
export type Command =
  | { needsConsole: true; run: (at: Console) => Promise<unknown> }
  | { needsConsole: false; run: () => Promise<unknown> }

const allCommands: Commands = { ...accountCommands, ...moneyCommands, ...railCommands, ...receiptKeyCommands, ...upkeepCommands }
const commands = new Map(Object.entries(allCommands))

export const usage = `npm run admin -- <command>, with the database and keys of the service (DATABASE_URL, else DATA_DIR):

  accounts find <account>                      <account>: an id, an e-mail address or a wallet (its address, or eip155:<chain>:<address> for a contract)
  accounts freeze|unfreeze|close <account> [--reason <text>]
  accounts enable|disable <account> topups|payments|api_keys|oauth
  invite <e-mail|eip155:<chain>:<address>>     allows a person to sign up if SIGN_UP is invited
  grant|revoke <account>                       gives or removes administrator rights
  workspaces suspend|reinstate <workspace> [--reason <text>]
  keys find <key>                              the owner of an API key, found by the key or its first characters
  keys revoke <key id> [--reason <text>]       revokes a leaked key, and everything created with it
  payments find <receipt or reference>         the payment or top-up behind a provider's statement line
  payments list [--status <status>] [--attention late_success]
  payments unknown                             payments with an unknown outcome
  payments resolve <payment> succeeded|failed|charged|written_off --evidence <text> [--receipt <receipt>]
  adjustments list [--status pending]
  adjustments create <account id> credit|debit <amount in minor units> --reason <text>
  adjustments confirm|reject <adjustment>
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
  rails pause|resume ${sendingRails.join('|')} [--reason <text>]
  audit-log [--account <id>] [--workspace <id>] [--subject <id>] [--action <action>] [--after <time>] [--before <time>] [--limit <n>]
  audit-log export [--format ndjson|csv] [--cursor <cursor>] [--limit <n>]
                                               the whole log in commit order, for a SIEM; --cursor: the cursor of the last exported row
  persons export <account>                     all stored data about a person, as JSON
  verify [--scope recent|unfinished] [--head <sequence>:<hash>]
                                               checks the data against every promise. recent: only changes since the last check, if that was
                                               within a week. unfinished: continues a check that was stopped. --head: checks the audit log
                                               against a seal that you stored elsewhere
  migrate [--serve-as <role>] [--minutes <n>]  migrates the database to this release. Run it as the owner of the tables, before processes of
                                               this release start. Retries a locked table for 10 minutes, or --minutes. --serve-as: grants
                                               the service's role its rights
  finish-upgrade [--minutes <n>]               completes the upgrade after the last process of the previous version has ended: drops what only
                                               that version needs, and enables what it could not serve. A rollback is then impossible
  deliveries retry                             processes quarantined callbacks again
  receipt-keys list                            the signing keys of receipts, with their times
  receipt-keys new                             prints a new key: put it first in RECEIPT_KEYS and keep the others after it
  receipt-keys retire <id>                     retires a key that is no longer first: it stays published, and can be removed from RECEIPT_KEYS
  push-keys                                    prints a new key for VAPID_KEYS, which signs push notifications. Browsers that subscribed under
                                               another key subscribe again at their next use
  rotate-keys                                  encrypts and fingerprints all data again with the current keys
  after-restore [--reason <text>]              run it after restoring a dump into another server, before the service starts; or after lost
                                               writes, when all accounts' statements are compared (--reason: why one is not)`

const options = Object.fromEntries(
  [...usage.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => [name, { type: 'string' as const }]),
)

/** Finds the command that a command line names. @throws UsageError */
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
  throw new UsageError(first === '' ? '' : `unknown command "${positionals.join(' ')}"`)
}
