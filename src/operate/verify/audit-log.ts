import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { digestOfSecret } from '../../auth/secrets.ts'
import { type Check, type CheckScope, maxBreaches, rowsOf } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import { frequentActions } from '../../db/tables/events.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import { firstId, type IdKind, idPrefixes, parseAnyId, type Uuid } from '../../lib/ids.ts'

export type Fields = Readonly<Record<string, unknown>>

export type Entry = { action: AuditAction; at: string; workspaceId: Uuid | null; accountId: Uuid | null; after: Fields | null }

/** A table whose rows must match the audit log. Compares each name that both the log entry and the row contain. */
export type AuditedTable = {
  /** Actions that create a row. If omitted, rows need no entry. */
  creationActions?: readonly AuditAction[]
  /** Column with the account that created the row. */
  creatorColumn?: string
  /** Column with the hash of the row's secret, of which the log has a digest. */
  secretHashColumn?: string
  /** Additional subjects whose entries describe row `t`: an SQL expression of type `uuid[]`. */
  furtherSubjectsSql?: string
  /** Fields in addition to the columns: an SQL expression of type `jsonb`. */
  extraFieldsSql?: string
  /** Time column of a large table, to read only rows since the last check. Older rows never change. */
  changedAtColumn?: string
  /** Values that apply until an entry changes them. */
  initialFields?: (row: Fields) => Fields
  /** Column values that an entry implies. */
  columnsOf?: (after: Fields, action: AuditAction) => Fields
}

const idDigits = Array.from(
  { length: 26 },
  (_, i) => `substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from ${5 * i + 1} for 5)::int + 1, 1)`,
).join(' || ')

/**
 * SQL expression for the TypeID of a UUID column: two zero bits and the UUID's bits, with five bits per digit. Unrolled for
 * speed, so that a million ids take only seconds.
 */
export const typeIdSql = (kind: IdKind, column: string): string =>
  `(select '${idPrefixes[kind]}_' || ${idDigits} from (select B'00' || ('x' || replace(${column}::text, '-', ''))::bit(128) as bits offset 0) as id)`

/** A row's columns, the additional fields of its table, and the row's log entries in order. */
type LoggedRow = Record<string, unknown> & { id: Uuid; extra: Fields | null; log: Entry[] | null }

const pageSize = 200
const pagesPerReport = 20

/** Reads all rows after `$1` in pages until the maximum of breaches. While one page is checked, the database reads the next. */
export const findInPages = async <Row extends { id: Uuid }>(
  db: Db,
  facts: CheckScope,
  text: string,
  breachesOf: (rows: readonly Row[]) => Promise<string[]> | string[],
  take = pageSize,
): Promise<string[]> => {
  const found: string[] = []
  let count = 0
  const readAfter = (last: Uuid) => rowsOf<Row>(db, facts, `${text} order by t.id limit ${take}`, last)
  for (let page = readAfter(facts.lastChecked ?? firstId); found.length < maxBreaches; ) {
    const rows = await page
    const end = rows.length < take ? undefined : rows.at(-1)
    if (end) {
      page = readAfter(end.id)
      // An error is thrown when the page is awaited, which may never happen if the maximum of breaches is reached.
      page.catch(() => undefined)
      await turn()
    }
    found.push(...(await breachesOf(rows)))
    if (!end) break
    count += rows.length
    if (found.length === 0 && count % (pagesPerReport * take) === 0) await facts.onProgress?.(end.id, count)
  }
  return found.slice(0, maxBreaches)
}

/** Reads row and log in one query, because the service could change them between two queries. */
const pageSql = (table: string, audited: AuditedTable): string => `
  select t.*, ${audited.extraFieldsSql ?? 'null::jsonb'} as extra, (
      select json_agg(json_build_object('action', a.action, 'at', a.at, 'workspaceId', a.workspace_id, 'accountId', a.account_id, 'after', a.after)
        order by a.transaction, a.id)
      from audit_log a where ${audited.furtherSubjectsSql ? `a.subject_id = any(t.id || ${audited.furtherSubjectsSql})` : 'a.subject_id = t.id'}) as log
  from ${table} t where t.id > $1${audited.changedAtColumn ? ` and t.${audited.changedAtColumn} >= $since` : ''}`

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** Converts different spellings of a value to one: ids with or without prefix, times in any zone, numbers or their text. */
const normalized = (value: unknown): unknown => {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return isoTime.test(value) ? new Date(value).toISOString() : (parseAnyId(value) ?? value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(normalized)
  if (typeof value !== 'object') return value ?? null
  return value && Object.fromEntries(Object.entries(value).map(([name, part]) => [name, normalized(part)]))
}

/** A grant may end earlier than logged: with its last key, or with an ancestor. */
const endsEarlier = (logged: unknown, end: unknown): boolean =>
  end !== null && (logged === null || new Date(String(end)) < new Date(String(logged)))

export const namesThatDiffer = (logged: Fields, row: Fields): string[] =>
  Object.keys(logged).filter((name) => {
    if (logged[name] === row[name] || !(name in row)) return false
    const [before, now] = [normalized(logged[name]), normalized(row[name])]
    return !isDeepStrictEqual(before, now) && !(name === 'expires_at' && endsEarlier(before, now))
  })

const deletions: readonly AuditAction[] = ['identity.unlink', 'member.leave', 'member.remove', 'passkey.remove']
const revocations: readonly AuditAction[] = [
  'api_key.revoke',
  'grant.revoke',
  'invitation.revoke',
  'mandate.revoked',
  'session.revoke',
]
/** Log entries that report a new status. Decisions by people have other names, such as `approval.approve`. */
const isStatus = (action: AuditAction): boolean =>
  /^(approval|payment_batch)\.(approved|cancelled|completed|expired|failed|processing|rejected)$/.test(action)

/** Final statuses, whose time people see and which determine the day of the record. */
const finalStatuses: readonly string[] = ['completed', 'succeeded', 'failed', 'cancelled', 'rejected', 'expired', 'returned']
const isCompleted = (action: AuditAction): boolean => {
  const [resource = '', status = ''] = action.split('.')
  return ['payment', 'payment_batch', 'topup'].includes(resource) && finalStatuses.includes(status)
}

/** Values that an action implies in addition to the values in its entry. */
const implied: Readonly<Partial<Record<AuditAction, (entry: Entry) => Fields>>> = {
  'admin.assign_suspense': () => ({ resolved: true, outcome: 'assigned' }),
  'admin.resolve_difference': () => ({ resolved: true }),
  'admin.resolve_provider_alert': () => ({ resolved: true }),
  'admin.resolve_suspense': () => ({ resolved: true }),
  'admin.workspace_reinstate': () => ({ suspended: false }),
  'admin.workspace_suspend': () => ({ suspended: true }),
  'invitation.accept': ({ at, accountId }) => ({ accepted: true, accepted_at: at, accepted_by: accountId }),
  'session.prove': ({ at }) => ({ proven_at: at }),
  'workspace.freeze': () => ({ frozen: true }),
  'workspace.switch': ({ workspaceId }) => ({ workspace_id: workspaceId }),
  'workspace.unfreeze': () => ({ frozen: false }),
}

const impliedBy = (entry: Entry): Fields => {
  const { action, at } = entry
  if (deletions.includes(action)) return { gone: true }
  if (revocations.includes(action)) return { revoked: true, revoked_at: at }
  return {
    ...(isStatus(action) ? { status: action.split('.')[1] } : implied[action]?.(entry)),
    ...(isCompleted(action) && { completed_at: at }),
  }
}

const creationFields = ({ creatorColumn }: AuditedTable, { at, workspaceId, accountId }: Entry): Fields => ({
  created_at: at,
  ...(workspaceId && { workspace_id: workspaceId }),
  ...(creatorColumn && { [creatorColumn]: accountId }),
})

/** The final state of a row according to the log: for each name, the value in its newest entry. */
const loggedState = (audited: AuditedTable, row: LoggedRow): Fields => {
  const log = row.log ?? []
  const creation = log.find(({ action }) => audited.creationActions?.includes(action))
  const initial = audited.initialFields?.(row)
  const state: Record<string, unknown> = { ...initial, ...(creation && creationFields(audited, creation)), gone: false }
  for (const entry of log)
    Object.assign(state, impliedBy(entry), audited.columnsOf?.(entry.after ?? {}, entry.action) ?? entry.after)
  return state
}

/** States for which the log has no time. */
const timedStates = ['accepted', 'archived', 'confirmed', 'frozen', 'resolved', 'revoked', 'suspended'].map(
  (name) => [name, `${name}_at`] as const,
)

/** Adds to the row whether each of its times is set, and the digest of its secret. */
const rowFields = ({ secretHashColumn }: AuditedTable, row: LoggedRow): Fields => {
  for (const [name, at] of timedStates) if (at in row && !(name in row)) row[name] = row[at] !== null
  const digest = secretHashColumn && { secret_digest: digestOfSecret(row[secretHashColumn] as Buffer) }
  return Object.assign(row, digest, { gone: false })
}

const breachesOf = (audited: AuditedTable, row: LoggedRow): string[] => {
  if (row.log === null && audited.creationActions) return [`${row.id}: not in the audit log`]
  Object.assign(row, row.extra)
  const names = namesThatDiffer(loggedState(audited, row), rowFields(audited, row))
  return names.length === 0 ? [] : [`${row.id}: ${names.join(', ')}`]
}

const frequent = frequentActions.map((action) => `'${action}'`).join(', ')

/** Uses the index `audit_log_actions`, which excludes frequent actions. */
const missingSql = (table: string): string => `
  select a.subject_id::text as subject from audit_log a
  where lower(a.action) = any($1) and a.action not in (${frequent}) and a.at >= $since and not exists (select from ${table} t where t.id = a.subject_id)
    and not exists (select from audit_log e where e.subject_id = a.subject_id and e.action = any($2)) limit ${maxBreaches}`

/** Tables whose rows are deleted after some time. */
const expiringTables = ['sessions', 'payments', 'topups', 'oauth_clients']

export const auditLogCheck = (table: string, audited: AuditedTable): Check => ({
  invariant: 'I21',
  promise: `every row of ${table} matches the audit log`,
  find: async (db, facts) => {
    const found = await findInPages<LoggedRow>(db, facts, pageSql(table, audited), (rows) =>
      rows.flatMap((row) => breachesOf(audited, row)),
    )
    if (!audited.creationActions || expiringTables.includes(table)) return found
    const missing = await rowsOf<{ subject: string }>(db, facts, missingSql(table), audited.creationActions, deletions)
    return [...found, ...missing.map(({ subject }) => `${subject}: missing`)]
  },
})
