import type { Rule } from './rules.ts'
import type { Source } from './source.ts'

/** A table that a second folder also writes, with the reason. */
const secondWriters: readonly (readonly [table: string, folder: string, reason: string])[] = [
  [
    'rail_attempts',
    'modules/sending',
    'the right to send, the answer and the next query, with what each looks at in one statement',
  ],
  ['payments', 'modules/exceptions', 'a restored database never sends again what was due before'],
  ['sessions', 'modules/workspaces', 'the workspace that a session works in from now on'],
  ['dashboard_tokens', 'modules/workspaces', 'the same for a dashboard token'],
  ['verify_points', 'modules/suspense', 'how far the receipts of earlier releases are claimed'],
  ['identities', 'modules/mail', 'when mail to an address was refused for good'],
  ['usage_counters', 'modules/policies', 'a new policy begins with what was spent before it'],
  ['usage_counters', 'modules/delegation', 'the total of a key that was made before totals were counted is filled'],
]

/** Files that write tables by a variable. The names come from a closed list in the code. */
const byVariable: Readonly<Record<string, string>> = {
  'auth/last-used.ts': 'the time of the last use, the same for each kind of credential',
  'jobs/turns.ts': 'the time at which a claimed row is due again, in the table of its queue',
}

const declared = /export const (\w+) = pgTable\(\s*'(\w+)'/g
const inSql = /\b(?:insert into|delete from|truncate|merge into|update)\s+(?:only\s+)?(?:"?\w+"?\.)?("?\w+"?|\$\{)/gi
const inOrm = /\borm\s*\.(?:insert|update|delete)\((\w+)/g
/** A declared write of a row. */
const prepared =
  /\b(?:prepare(?!Write\b)[A-Z]\w*\(\s*'[^']*'|(?:insert|update|upsert)(?:Rows?|Once)(?:<[^>]*>)?\(\s*(?:tx|db|deps\.db)),\s*(\w+)/g
const onTable = /\.(?:insert|update|delete)\((\w+)\)/g

const folderOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('modules/') ? 2 : 1)
    .join('/')

const tablesOf = (files: readonly Source[]): Map<string, string> =>
  new Map(
    files
      .filter(({ path }) => path.startsWith('db/tables/'))
      .flatMap(({ code }) =>
        [...code.matchAll(declared)].map(([, variable = '', name = '']): [string, string] => [variable, name]),
      ),
  )

type Write = { path: string; table: string | undefined }

const writesOf = ({ path, code }: Source, tables: ReadonlyMap<string, string>): Write[] => {
  const names = new Set(tables.values())
  const sql = [...code.matchAll(inSql)].map(([, name = '']) => name.replaceAll('"', ''))
  const orm = [...code.matchAll(inOrm)].map(([, variable = '']): Write => ({ path, table: tables.get(variable) }))
  const rows = [...code.matchAll(prepared)].map(([, variable = '']): Write => ({ path, table: tables.get(variable) }))
  const otherwise = [...code.matchAll(onTable)].flatMap(([, variable = '']): Write[] => {
    const table = tables.get(variable)
    return table === undefined ? [] : [{ path, table }]
  })
  return [
    ...orm,
    ...rows,
    ...otherwise,
    ...sql
      .filter((name) => name === '${' || names.has(name))
      .map((name) => ({ path, table: names.has(name) ? name : undefined })),
  ]
}

const isSecondWriter = (table: string, folder: string) =>
  secondWriters.some((writer) => writer[0] === table && writer[1] === folder)

/** Second writers that no longer write: remove them from the list. */
export const formerWriters = (files: readonly Source[]): string[] => {
  const tables = tablesOf(files)
  const writes = files.flatMap((file) => writesOf(file, tables))
  return [
    ...secondWriters
      .filter(([name, folder]) => !writes.some(({ path, table }) => table === name && folderOf(path) === folder))
      .map(([name, folder]) => `${folder} does not write ${name}`),
    ...Object.keys(byVariable).filter((file) => !writes.some(({ path, table }) => path === file && table === undefined)),
  ]
}

const oneWriter: Rule = {
  name: 'each table is written by one folder',
  check: (files) => {
    const tables = tablesOf(files)
    const writes = files.filter(({ path }) => !path.startsWith('db/')).flatMap((file) => writesOf(file, tables))
    const unnamed = writes.filter(({ path, table }) => table === undefined && !(path in byVariable))
    const shared = [...tables.values()].flatMap((table) => {
      const owners = writes.filter((write) => write.table === table && !isSecondWriter(table, folderOf(write.path)))
      if (new Set(owners.map(({ path }) => folderOf(path))).size < 2) return []
      return [`${table} is written by ${[...new Set(owners.map(({ path }) => path))].join(', ')}`]
    })
    return [...shared, ...unnamed.map(({ path }) => `${path} writes a table by a variable`)]
  },
}

export const writerRules = { oneWriter } satisfies Record<string, Rule>
