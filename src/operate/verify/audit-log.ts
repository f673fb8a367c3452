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
  made?: readonly AuditAction[]
  /** Column with the account that created the row. */
  owner?: string
  /** Column with the hash of the row's secret, of which the log has a digest. */
  secret?: string
  /** Additional subjects whose entries describe row `t`: an SQL expression of type `uuid[]`. */
  also?: string
  /** Fields in addition to the columns: an SQL expression of type `jsonb`. */
  more?: string
  /** Time column of a large table, to read only rows since the last check. Older rows never change. */
  since?: string
  /** Values that apply until an entry changes them. */
  before?: (row: Fields) => Fields
  /** Column values that an entry implies. */
  columns?: (after: Fields, action: AuditAction) => Fields
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
type Page = Record<string, unknown> & { id: Uuid; more: Fields | null; log: Entry[] | null }

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
const pageSql = (table: string, { also, more = 'null::jsonb', since }: AuditedTable): string => `
  select t.*, ${more} as more, (
      select json_agg(json_build_object('action', a.action, 'at', a.at, 'workspaceId', a.workspace_id, 'accountId', a.account_id, 'after', a.after)
        order by a.transaction, a.id)
      from audit_log a where ${also ? `a.subject_id = any(t.id || ${also})` : 'a.subject_id = t.id'}) as log
  from ${table} t where t.id > $1${since ? ` and t.${since} >= $since` : ''}`

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** Converts different spellings of a value to one: ids with or without prefix, times in any zone, numbers or their text. */
const plain = (value: unknown): unknown => {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value === 'string') return time.test(value) ? new Date(value).toISOString() : (parseAnyId(value) ?? value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object') return value ?? null
  return value && Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}

/** A grant may end earlier than logged: with its last key, or with an ancestor. */
const endsEarlier = (logged: unknown, end: unknown): boolean =>
  end !== null && (logged === null || new Date(String(end)) < new Date(String(logged)))

export const namesThatDiffer = (logged: Fields, row: Fields): string[] =>
  Object.keys(logged).filter((name) => {
    if (logged[name] === row[name] || !(name in row)) return false
    const [before, now] = [plain(logged[name]), plain(row[name])]
    return !isDeepStrictEqual(before, now) && !(name === 'expires_at' && endsEarlier(before, now))
  })

const ends: readonly AuditAction[] = ['identity.unlink', 'member.leave', 'member.remove', 'passkey.remove']
const revocations: readonly AuditAction[] = [
  'api_key.revoke',
  'grant.revoke',
  'invitation.revoke',
  'mandate.revoked',
  'session.revoke',
]
/** Log entries that end with a status. People's own actions on approvals and batches have other names. */
const isStatus = (action: AuditAction): boolean =>
  /^(approval|payment_batch)\.(approved|cancelled|completed|expired|failed|processing|rejected)$/.test(action)

/** Final statuses, whose time people see and which determine the day of the record. */
const completions: readonly string[] = ['completed', 'succeeded', 'failed', 'cancelled', 'rejected', 'expired', 'returned']
const isCompleted = (action: AuditAction): boolean => {
  const [resource = '', status = ''] = action.split('.')
  return ['payment', 'payment_batch', 'topup'].includes(resource) && completions.includes(status)
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

const impliedBy = (entry: Entry): Fields | undefined => {
  const { action, at } = entry
  if (ends.includes(action)) return { gone: true }
  if (revocations.includes(action)) return { revoked: true, revoked_at: at }
  return {
    ...(isStatus(action) ? { status: action.split('.')[1] } : implied[action]?.(entry)),
    ...(isCompleted(action) && { completed_at: at }),
  }
}

const creationFields = ({ owner }: AuditedTable, { at, workspaceId, accountId }: Entry): Fields => ({
  created_at: at,
  ...(workspaceId && { workspace_id: workspaceId }),
  ...(owner && { [owner]: accountId }),
})

/** The final state of a row according to the log: for each name, the value in its newest entry. */
const lastLogged = (audited: AuditedTable, row: Page): Fields => {
  const { log } = row
  const made = log?.find(({ action }) => audited.made?.includes(action))
  const last: Record<string, unknown> = { ...audited.before?.(row), ...(made && creationFields(audited, made)), gone: false }
  for (const entry of log ?? []) {
    Object.assign(last, impliedBy(entry), audited.columns?.(entry.after ?? {}, entry.action) ?? entry.after)
  }
  return last
}

/** States for which the log has no time. */
const states = ['accepted', 'archived', 'confirmed', 'frozen', 'resolved', 'revoked', 'suspended'].map(
  (name) => [name, `${name}_at`] as const,
)

/** Adds to the row whether each of its times is set, and the digest of its secret. */
const described = ({ secret }: AuditedTable, row: Page): Fields => {
  for (const [name, at] of states) if (at in row && !(name in row)) row[name] = row[at] !== null
  const digest = secret && { secret_digest: digestOfSecret(row[secret] as Buffer) }
  return Object.assign(row, digest, { gone: false })
}

const breachesOf = (audited: AuditedTable, page: Page): string[] => {
  if (page.log === null && audited.made) return [`${page.id}: not in the audit log`]
  const row = Object.assign(page, page.more)
  const names = namesThatDiffer(lastLogged(audited, row), described(audited, row))
  return names.length === 0 ? [] : [`${page.id}: ${names.join(', ')}`]
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
    const found = await findInPages<Page>(db, facts, pageSql(table, audited), (rows) =>
      rows.flatMap((row) => breachesOf(audited, row)),
    )
    if (!audited.made || expiringTables.includes(table)) return found
    const missing = await rowsOf<{ subject: string }>(db, facts, missingSql(table), audited.made, ends)
    return [...found, ...missing.map(({ subject }) => `${subject}: missing`)]
  },
})
