import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Migration, migrationsFolder, type Release, readMigrations, readReleases } from '../../src/db/migrations.ts'
import { partitionedTables } from '../../src/db/tables/partitioned.ts'

/** Applied before any version ran, so they may do anything. */
const firstTags = ['0000_create_schema', '0001_add_guards']

/** Oldest first. Empty: only the first two migrations. */
export type Releases = readonly Pick<Release, 'version' | 'last'>[]

const snapshot = (tag: string) => join(migrationsFolder, 'meta', `${tag.slice(0, 4)}_snapshot.json`)

type Named = Record<string, { name: string }>
type Snapshot = { tables: Record<string, { name: string; columns: Named; indexes: Named }> }

/** `table`, `table.column` and `index …`: all that the service's tables declare at this migration, for reads and writes. */
export type Declared = (tag: string) => ReadonlySet<string> | undefined

export const declaredAt: Declared = (tag) => {
  const file = snapshot(tag)
  if (!existsSync(file)) return undefined
  const { tables }: Snapshot = JSON.parse(readFileSync(file, 'utf8'))
  return new Set(
    Object.values(tables).flatMap(({ name, columns, indexes }) => [
      name,
      ...Object.values(columns).map((column) => `${name}.${column.name}`),
      ...Object.values(indexes).map((index) => `index ${index.name}`),
    ]),
  )
}

/** Lowercase, without comments, identifiers' quotes, function bodies and texts; one statement each. */
const statementsOf = (migration: Migration): string[] =>
  migration.statements.flatMap((text) =>
    text
      .replace(/--.*$/gm, '')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
      .replace(/'(?:[^']|'')*'/g, "''")
      .replace(/"/g, '')
      .replace(/\bpublic\./gi, '')
      .toLowerCase()
      .split(';')
      .map((statement) => statement.replace(/\s+/g, ' ').trim())
      .filter(Boolean),
  )

type At = {
  /** Tables that this migration creates: nothing reads them yet. */
  created: ReadonlySet<string>
  /** Declarations of the previous version. */
  before: ReadonlySet<string>
  /** Everything that earlier migrations did. */
  earlier: readonly string[]
  inTransaction: boolean
}

type Check = (statement: string, at: At) => string | undefined

const targetOf = (statement: string): string | undefined =>
  /^alter table (?:if exists )?(?:only )?(\w+)/.exec(statement)?.[1] ??
  /^(?:create (?:unique )?index|reindex index).*? on (?:only )?(\w+)/.exec(statement)?.[1]

const onOldTable =
  (complaint: string, found: (statement: string, at: At) => boolean): Check =>
  (statement, at) => {
    const table = targetOf(statement)
    return table !== undefined && !at.created.has(table) && found(statement, at) ? complaint : undefined
  }

/** The parts of one ALTER TABLE: `add column …`, `drop constraint …`. */
const actionsOf = (statement: string): string[] =>
  statement
    .replace(/^alter table (?:if exists )?(?:only )?\w+ /, '')
    .split(/, (?=(?:add|drop|alter|rename|set|validate|enable|disable)\b)/)

const added = (statement: string): string[] =>
  actionsOf(statement).filter((action) => /^add (?!constraint|check|unique|primary|foreign|exclude)/.test(action))

const constraints = (statement: string): string[] =>
  actionsOf(statement).filter((action) => /^add (?:constraint|check|unique|primary|foreign|exclude)/.test(action))

const isProven = (statement: string, at: At): boolean =>
  actionsOf(statement)
    .filter((action) => /^alter (?:column )?\w+ set not null/.test(action))
    .every((action) => {
      const column = /^alter (?:column )?(\w+)/.exec(action)?.[1] ?? ''
      const checks = at.earlier.filter((one) => targetOf(one) === targetOf(statement))
      const name = checks
        .map((one) => new RegExp(`add constraint (\\w+) check \\(\\(?${column} is not null\\)?\\) not valid`).exec(one)?.[1])
        .find(Boolean)
      return name !== undefined && checks.some((one) => one.includes(`validate constraint ${name}`))
    })

const repeatable =
  /^(?:create (?:unique )?index concurrently if not exists|create index if not exists \w+ on only|alter index \w+ attach partition|drop index concurrently if exists|reindex (?:index|table) concurrently|alter table (?:if exists )?\w+ validate constraint|alter type \w+ add value if not exists|vacuum|analyze)\b/

const checks: readonly Check[] = [
  onOldTable('adds a column that is NOT NULL without a default: the version before cannot insert', (statement) =>
    added(statement).some((column) => /\bnot null\b/.test(column) && !/\bdefault\b|\bgenerated\b/.test(column)),
  ),
  onOldTable('rewrites the table: the default of the new column differs from row to row', (statement) =>
    added(statement).some((column) =>
      /\b(?:small|big)?serial\b|\bgenerated\b|\bdefault .*\b(?:gen_random_uuid|uuidv?\d*|random|clock_timestamp|nextval|timeofday)\(/.test(
        column,
      ),
    ),
  ),
  onOldTable('rewrites the table, or reads it whole under a lock', (statement) =>
    actionsOf(statement).some((action) =>
      /^alter (?:column )?\w+ (?:set data )?type\b|^set (?:logged|unlogged|tablespace|access method)\b/.test(action),
    ),
  ),
  onOldTable(
    'makes a column NOT NULL that no validated CHECK proves: it reads the table whole under a lock',
    (statement, at) => !isProven(statement, at),
  ),
  onOldTable(
    'adds a constraint that reads the table whole: add it NOT VALID, and validate it in the next migration',
    (statement) =>
      constraints(statement).some((one) => /\bcheck\b|\bforeign key\b|\bexclude\b/.test(one) && !/\bnot valid\b/.test(one)),
  ),
  onOldTable('adds a key that builds its index under a lock: build it CONCURRENTLY, then add the key USING INDEX', (statement) =>
    constraints(statement).some((one) => /\bunique\b|\bprimary key\b/.test(one) && !/\busing index\b/.test(one)),
  ),
  onOldTable(
    'validates in a transaction that also holds the lock of what it added: give it a migration of its own',
    (statement, at) => at.inTransaction && / validate constraint /.test(statement),
  ),
  onOldTable(
    'builds an index under a lock: CREATE INDEX CONCURRENTLY, in a migration that begins with "-- no transaction"',
    (statement) => /^create (?:unique )?index (?!concurrently)(?!.* on only )/.test(statement),
  ),
  (statement) =>
    partitionedTables.some((table) =>
      new RegExp(`^create (?:unique )?index concurrently .*\\bon (?:public\\.)?${table}\\b`).test(statement),
    )
      ? 'PostgreSQL refuses CONCURRENTLY on a partitioned table: create the index ON ONLY it, CONCURRENTLY on each part, and attach those (0007)'
      : undefined,
  (statement) =>
    /^(?:drop index|reindex)\b(?!.*\bconcurrently\b)/.test(statement) ? 'locks an index without CONCURRENTLY' : undefined,
  (statement) => (/^(?:lock|truncate|cluster|vacuum full|refresh)\b/.test(statement) ? 'locks a table' : undefined),
  (statement) =>
    /^(?:update|delete|insert into \w+ .*\bselect\b|with .*\b(?:update|delete)\b)/.test(statement)
      ? 'changes rows in one transaction: let a job do it in steps'
      : undefined,
  (statement) => (/^alter table .* rename\b/.test(statement) ? 'renames what the version before reads' : undefined),
  (statement, { before }) => {
    const table = targetOf(statement)
    const columns = statement.startsWith('alter table')
      ? actionsOf(statement).flatMap((action) => /^drop (?:column )?(?:if exists )?(?!constraint\b)(\w+)/.exec(action)?.[1] ?? [])
      : []
    const read = columns.filter((column) => before.has(`${table}.${column}`))
    return read.length > 0 ? `drops ${read.join(', ')}, which the version before still reads` : undefined
  },
  (statement, { before }) => {
    const tables = /^drop table (?:if exists )?(.+?)(?: cascade| restrict)?$/.exec(statement)?.[1]?.split(', ') ?? []
    const read = tables.filter((table) => before.has(table))
    return read.length > 0 ? `drops ${read.join(', ')}, which the version before still reads` : undefined
  },
  (statement, { before }) => {
    const [, kind, name] =
      /^drop (index|statistics|function|trigger)(?: concurrently)?(?: if exists)? (\w+)/.exec(statement) ?? []
    return before.has(`${kind} ${name}`)
      ? `drops the ${kind} ${name}, on which plans of the version before rest: leave it to a migration "-- after the upgrade"`
      : undefined
  },
  (statement, { inTransaction }) =>
    !inTransaction && !repeatable.test(statement)
      ? 'runs without a transaction, and cannot be repeated after a half-done try'
      : undefined,
  (statement, { inTransaction }) =>
    inTransaction && /\bconcurrently\b/.test(statement) ? 'needs "-- no transaction" as its first line' : undefined,
]

/** `function …`, `statistics …` and `trigger …`: created, not dropped since, and not declared by the tables. */
const createdIn = (statements: readonly string[]): ReadonlySet<string> => {
  const living = new Set<string>()
  for (const statement of statements) {
    const created = /^create (?:or replace )?(?:constraint )?(function|statistics|trigger)(?: if not exists)? (\w+)/.exec(
      statement,
    )
    const dropped = /^drop (function|statistics|trigger)(?: if exists)? (\w+)/.exec(statement)
    if (created) living.add(`${created[1]} ${created[2]}`)
    if (dropped) living.delete(`${dropped[1]} ${dropped[2]}`)
  }
  return living
}

/** The needs of the newest release before this migration: its tables' declarations, and other creations of its migrations. */
const declaredBefore = (
  migrations: readonly Migration[],
  index: number,
  releases: Releases,
  declared: Declared,
): ReadonlySet<string> => {
  const tags = migrations.map(({ tag }) => tag)
  const lasts = releases.map(({ last }) => tags.indexOf(last)).filter((last) => last >= 0 && last < index)
  // A migration for the time after the upgrade may remove anything that the newest version's tables do not declare.
  const newest = migrations[index]?.afterUpgrade ? tags.length - 1 : Math.max(1, ...lasts)
  const besides = createdIn(migrations.slice(0, newest + 1).flatMap(statementsOf))
  for (let index = newest; index >= 0; index -= 1) {
    const found = declared(tags[index] ?? '')
    if (found) return new Set([...found, ...besides])
  }
  return besides
}

/**
 * Changes that would stop the service, or break the previous version beside the new one, in all migrations after the first two.
 * Form: `<migration>: <complaint>: <statement>`.
 */
export const migrationComplaints = (migrations: readonly Migration[], releases: Releases, declared: Declared): string[] => {
  return migrations.flatMap((migration, index) => {
    if (firstTags.includes(migration.tag)) return []
    const statements = statementsOf(migration)
    const at: At = {
      created: new Set(statements.flatMap((one) => /^create table (?:if not exists )?(\w+)/.exec(one)?.[1] ?? [])),
      before: declaredBefore(migrations, index, releases, declared),
      earlier: migrations.slice(0, index).flatMap(statementsOf),
      inTransaction: migration.inTransaction,
    }
    return statements.flatMap((statement) =>
      checks.flatMap((check) => {
        const complaint = check(statement, at)
        return complaint === undefined ? [] : [`${migration.tag}: ${complaint}: ${statement.slice(0, 120)}`]
      }),
    )
  })
}

export const complaintsAboutOurs = (): string[] => migrationComplaints(readMigrations(), readReleases(), declaredAt)
