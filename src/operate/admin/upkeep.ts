import { payingAccounts } from '../../app-rails.ts'
import { catchUpTransactionIds } from '../../db/start.ts'
import { exportAudit, exportStart, parseExportCursor } from '../../modules/audit-log/export.ts'
import { listAudit, presentAudit } from '../../modules/audit-log/queries.ts'
import { FindAudit } from '../../modules/audit-log/schema.ts'
import { markWaitingUnknown, resumeAfterLoss } from '../../modules/exceptions/losses-service.ts'
import { factsOf, findUnfinished, unverifiedSince, verifyAll } from '../verify/verify.ts'
import { type Commands, command, maxRows, parseFields, readList, UsageError, write } from './arguments.ts'
import { rotateKeys } from './keys.ts'

/** Parses `12:9f86…`, the sequence and hash of a seal as the service logs them. */
const readHead = (text: string): { sequence: number; hash: Buffer } => {
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? []
  if (sequence === undefined || hash === undefined)
    throw new UsageError('--head must be <sequence>:<hash of 64 hex digits>, as in the log')
  return { sequence: Number(sequence), hash: Buffer.from(hash, 'hex') }
}

export const upkeepCommands = {
  'audit-log': command(
    '[--account <id>] [--workspace <id>] [--subject <id>] [--action <action>] [--after <time>] [--before <time>] [--limit <n>]',
    'rows of the audit log, newest first',
    async ({ deps }, _, { account, workspace, subject, action, after, before, limit }) => {
      const ids = { account_id: account, workspace_id: workspace, subject_id: subject }
      const query = parseFields(FindAudit, { ...ids, action, created_after: after, created_before: before, limit })
      const { limit: take, cursor: _cursor, ...filter } = query
      const rows = await readList((page) => listAudit(deps.db, filter, page), limit === undefined ? maxRows : take)
      return rows.map(presentAudit)
    },
  ),
  'audit-log export': command(
    '[--cursor <cursor>] [--limit <n>]',
    'the whole log as NDJSON in commit order, for a SIEM; --cursor: the cursor of the last exported row',
    async ({ deps }, _, { cursor, limit }) => {
      const from = cursor === undefined ? exportStart : parseExportCursor(cursor)
      if (!from) throw new UsageError('--cursor must be the cursor of the last exported row')
      if (limit !== undefined && !/^[1-9]\d{0,11}$/.test(limit)) throw new UsageError('--limit must be a number of rows')
      for await (const entry of exportAudit(deps.db, from, limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)))
        await write(`${JSON.stringify(entry)}\n`)
    },
  ),
  verify: command(
    '[--scope recent|unfinished] [--head <sequence>:<hash>]',
    `checks the data against every promise. recent: only changes since the last check, if that was within a week.
      unfinished: continues a check that was stopped. --head: checks the audit log against a seal that you stored elsewhere`,
    async ({ deps }, _, { scope, head }) => {
      if (scope !== undefined && scope !== 'recent' && scope !== 'unfinished')
        throw new UsageError('--scope must be recent or unfinished; omit it to check everything')
      const serviceFacts = factsOf(deps)
      const from = scope === 'unfinished' ? await findUnfinished(deps.db) : undefined
      if (scope === 'unfinished' && !from)
        throw new UsageError('no unfinished check of the same promises was found: omit --scope')
      const since = scope === 'recent' ? await unverifiedSince(deps.db, serviceFacts.now) : null
      const facts = {
        ...serviceFacts,
        ...(from && { now: from.now }),
        since,
        ...(head !== undefined && { head: readHead(head) }),
      }
      const { kept, broken, seconds } = await verifyAll(deps.db, facts, {
        from,
        onRows: (rows) => console.log(`              ${rows} rows`),
        onResult: ({ invariant, promise, breaches }) => {
          console.log(`${breaches.length === 0 ? 'ok    ' : 'BROKEN'} ${invariant.padEnd(4)} ${promise}`)
          for (const subject of breaches) console.log(`              ${subject}`)
        },
      })
      const whole = from ? `the rest of the check of ${from.now.toISOString()}` : 'everything'
      console.log(`\nchecked ${since === null ? whole : `what changed since ${since.toISOString()}`} in ${seconds} s`)
      console.log(`${kept} promises kept, ${broken} broken`)
      if (broken > 0) process.exitCode = 1
    },
  ),
  'rotate-keys': command('', 'encrypts and fingerprints all data again with the current keys', ({ deps, operator }) =>
    rotateKeys(deps, operator),
  ),
  'after-restore': command(
    '[--reason <text>] [--again yes]',
    `run it after restoring a dump into another server, before the service starts; or after lost writes, when every
      account's statement was compared (--reason: why one could not be). --again yes: required for a restored copy.
      Without it, the command may end the pauses of an earlier loss`,
    async ({ deps, databaseUrl, operator }, _, options) => {
      if (options.again !== undefined && options.again !== 'yes') throw new UsageError('--again takes the word yes')
      const again = options.again === 'yes'
      if (again && options.reason !== undefined)
        throw new UsageError('--reason is for the end of a loss: omit it with --again yes')
      const used = await catchUpTransactionIds(databaseUrl)
      const transaction_ids_used_up = used.toString()
      const accounts = payingAccounts(deps.config, deps.clock)
      // A restored copy may contain the pauses of an earlier loss. They must not end here.
      if (!again) {
        const { resumed, notCompared } = await resumeAfterLoss(deps.db, operator, accounts, options.reason)
        if (resumed.length > 0)
          return { transaction_ids_used_up, rails: 'resumed', resumed, statements_not_compared: notCompared }
      }
      const { unknown } = await markWaitingUnknown(deps.db, operator, { again })
      return { transaction_ids_used_up, rails: 'paused', payments_made_unknown: unknown }
    },
  ),
} satisfies Commands
