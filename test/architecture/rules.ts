import { databaseRules, detourRules } from './database-rules.ts'
import { featureRules } from './feature-rules.ts'
import type { Source } from './source.ts'
import { writerRules } from './writer-rules.ts'

export type Rule = { name: string; check: (files: readonly Source[]) => string[] }

/** The catalogues of errors: pure data, which every part may read. */
const everywhere = 'errors'

/** The API document's example answers are recorded from the service, and are not a source. */
const recorded = '../docs/openapi/examples.json'

/** The texts of each language: data outside the sources. */
const texts = '../texts/'

/** The allowed imports of each part, besides itself, npm and the catalogues of errors. */
const below: Readonly<Record<string, readonly string[]>> = {
  [everywhere]: [],
  lib: [],
  config: ['lib'],
  'config.ts': ['config', 'rails', 'lib'],
  db: ['lib'],
  'dev/embedded-postgres': ['lib'],
  'dev/development-keys.ts': ['process', 'auth', 'lib', 'config.ts'],
  policy: ['lib'],
  rails: ['config', 'lib'],
  'dev/sandbox': ['rails', 'http', 'auth', 'lib'],
  auth: ['db', 'lib'],
  ledger: ['db', 'lib'],
  jobs: ['db', 'lib'],
  queue: ['auth', 'db', 'lib'],
  events: ['auth', 'db', 'lib'],
  http: ['queue', 'auth', 'events', 'db', 'lib', 'config.ts'],
  modules: ['http', 'ledger', 'policy', 'rails', 'events', 'jobs', 'queue', 'auth', 'db', 'lib', 'config.ts'],
  mcp: ['modules', 'http', 'auth', 'db', 'lib', 'config.ts'],
  'operate/listener': ['modules', 'http', 'ledger', 'rails', 'events', 'jobs', 'db', 'lib', 'config.ts'],
  'app-rails.ts': ['rails', 'lib', 'config.ts'],
  'app-identity.ts': ['dev/sandbox', 'http', 'auth', 'db', 'lib', 'config.ts'],
  'app-connections.ts': ['modules', 'events', 'auth', 'lib', 'config.ts'],
  'app.ts': [
    'app-connections.ts',
    'app-identity.ts',
    'modules',
    'mcp',
    'operate/listener',
    'http',
    'ledger',
    'rails',
    'events',
    'jobs',
    'auth',
    'db',
    'lib',
    'config.ts',
    'operate/verify',
  ],
  'operate/verify': ['modules', 'auth', 'ledger', 'events', 'policy', 'db', 'lib'],
  process: [
    'app-rails.ts',
    'dev/sandbox',
    'dev/development-keys.ts',
    'rails',
    'jobs',
    'dev/embedded-postgres',
    'db',
    'lib',
    'config.ts',
  ],
}

/** The surroundings of the service consist of several parts, which know different things. */
const surrounding = /^(dev|operate)\/[^/]+/
const partOf = (path: string) => surrounding.exec(path)?.[0] ?? path.split('/')[0] ?? path
const each = (files: readonly Source[], complaint: (file: Source) => readonly (string | undefined)[]) =>
  files.flatMap((file) => complaint(file).flatMap((text) => (text === undefined ? [] : [`${file.path} ${text}`])))

const direction: Rule = {
  name: 'imports point down: server, process, app, modules and operator, then what they are made of, then db, then lib',
  check: (files) =>
    each(files, (file) => {
      const part = partOf(file.path)
      const allowed = below[part]
      return file.imports.map(({ to, ours }) =>
        ours &&
        allowed &&
        to !== recorded &&
        !to.startsWith(texts) &&
        partOf(to) !== part &&
        partOf(to) !== everywhere &&
        !allowed.includes(partOf(to))
          ? `imports ${to}`
          : undefined,
      )
    }),
}

/** The parts that may import everything: they start the others. */
const above = ['server.ts']

const knownParts: Rule = {
  name: 'every part has its place in the order of imports',
  check: (files) =>
    each(files, ({ path }) => [
      partOf(path) in below || above.includes(partOf(path)) ? undefined : 'is of a part without a place in the order',
    ]),
}

const featureOf = (path: string) => path.split('/').slice(0, 2).join('/')

const writes =
  /\.(insert|update|delete)\(|\bprepare(?!\()\w+\(|\b(insert|update|upsert)(Rows?|Once)[(<]|\b(insert into|delete from|update \w+ set)\b/i

const queriesRead: Rule = {
  name: 'queries only read',
  check: (files) =>
    each(files, ({ path, code }) => [/^modules\/.*queries\.ts$/.test(path) && writes.test(code) ? 'writes' : undefined]),
}

const pureFiles: Rule = {
  name: 'schemas and rules are pure: they ask no database',
  check: (files) =>
    each(files, ({ path, imports, code }) => {
      if (!/^modules\/.*(schema|rules)\.ts$/.test(path)) return []
      return [
        ...imports.map(({ to }) => (to === 'db/client.ts' || to.startsWith('npm:drizzle-orm') ? `imports ${to}` : undefined)),
        /\bawait\b/.test(code) ? 'waits for something' : undefined,
      ]
    }),
}

const concreteRails: Rule = {
  name: 'what calls a provider is known to app-rails.ts alone; features know rail.ts and the definitions',
  check: (files) =>
    each(files, ({ path, imports }) =>
      imports.map(({ to }) =>
        to.startsWith('rails/') &&
        ['modules', 'operate/listener', 'app.ts', 'process', 'config.ts'].includes(partOf(path)) &&
        !/^rails\/[a-z-]+\.ts$/.test(to)
          ? `imports ${to}`
          : undefined,
      ),
    ),
}

/**
 * The places where a provider or its rails may be named: its own folder, the list, files generated from both, and the
 * dictionaries of packed rows.
 */
const mayNameRails = /^(rails|dev\/sandbox)\/[^/]+\/|^dev\/sandbox\/emulators\.ts$|^lib\/(rail-names|packed-text)\.ts$/

const namedRails: Rule = {
  name: 'no rail, provider or setting of a provider is named in code: what differs by rail is read from its definition',
  check: (files) =>
    each(files, ({ path, code }) => [
      !mayNameRails.test(path) && /\b(MPESA|PESALINK|DARAJA)(_[A-Z0-9_]+)?\b/.test(code)
        ? 'names a rail or a provider'
        : undefined,
    ]),
}

const fastify: Rule = {
  name: 'in a feature only routes, and what writes a reply for them, know Fastify',
  check: (files) =>
    each(files, ({ path, imports }) =>
      imports.map(({ to }) =>
        path.startsWith('modules/') && !/(routes|cookie|stream|page)\.ts$/.test(path) && /^npm:(@fastify\/|fastify)/.test(to)
          ? `imports ${to}`
          : undefined,
      ),
    ),
}

const routesWithoutSql: Rule = {
  name: 'routes hold no SQL',
  check: (files) =>
    each(files, ({ path, imports, code }) => {
      if (!path.startsWith('modules/') || !path.endsWith('routes.ts')) return []
      const tables = imports
        .filter(({ to }) => to.startsWith('npm:drizzle-orm') || to.startsWith('db/tables'))
        .map(({ to }) => `imports ${to}`)
      return [
        ...tables,
        /\.(orm|query)\b(?!string)/.test(code.replaceAll('request.query', '')) ? 'asks the database itself' : undefined,
      ]
    }),
}

const ledgerTables: Rule = {
  name: 'only the ledger touches the ledger’s tables',
  check: (files) =>
    each(files, ({ path, imports, code }) => {
      if (path.startsWith('ledger/') || path.startsWith('db/')) return []
      return [
        imports.some(({ to }) => to === 'db/tables/ledger.ts') ? 'imports its tables' : undefined,
        /\b(from|join|into|update)\s+ledger_(accounts|transfers)\b/i.test(code) ? 'asks its tables' : undefined,
      ]
    }),
}

/** The file that brings all routes together. */
const assembly = ['modules/routes.ts']

const privateRoutes: Rule = {
  name: 'a feature is never entered through its routes',
  check: (files) =>
    each(files, ({ path, imports }) =>
      imports.map(({ to }) => {
        const foreign = featureOf(path) !== featureOf(to)
        return foreign && !assembly.includes(path) && /^modules\/.+\/[a-z-]*routes\.ts$/.test(to) ? `imports ${to}` : undefined
      }),
    ),
}

const environment: Rule = {
  name: 'the environment is read by config.ts, which is handed it',
  check: (files) =>
    each(files, ({ path, code }) => [
      code.includes('process.env') && !['process/environment.ts', 'dev/embedded-postgres/programs.ts'].includes(path)
        ? 'reads process.env'
        : undefined,
    ]),
}

const time: Rule = {
  name: 'time comes from the clock',
  check: (files) =>
    each(files, ({ path, code }) => [
      path !== 'lib/clock.ts' && /\bDate\.now\(|\bnew Date\(\)/.test(code) ? 'asks for the time itself' : undefined,
    ]),
}

const internalCalls: Rule = {
  name: 'only the MCP server calls our own routes in the name of a caller',
  check: (files) =>
    each(files, ({ path, code }) => [
      /\bcallRoute\(/.test(code) && !path.startsWith('mcp/') ? 'calls a route in the name of a caller' : undefined,
    ]),
}

const boundCursors: Rule = {
  name: 'lists are read by readPage, which binds a cursor to its operation, tenant and parameters',
  check: (files) =>
    each(files, ({ path, code }) => [
      path.startsWith('modules/') && !/(schema|deps|parts)\.ts$/.test(path) && /\bcursors\b|\bnext_cursor\b/.test(code)
        ? 'makes or reads a cursor itself'
        : undefined,
    ]),
}

/** Files that assemble features, and the lanes, sweeps and receivers of jobs and the listener: they pass on each step's needs. */
const assembles = /(routes|jobs|request)\.ts$|^modules\/(sending|deposits|exceptions\/reconciliation)\//

const ownNeeds: Rule = {
  name: 'a function of a feature takes the parts that it uses, not all of them',
  check: (files) =>
    each(files, ({ path, code }) => [
      path.startsWith('modules/') && !assembles.test(path) && /[)}\]\w]\??:\s*(Readonly<)?(Deps|Parts)\b(?!\[)/.test(code)
        ? 'takes the parts whole'
        : undefined,
    ]),
}

const barrels: Rule = {
  name: 'no file only passes on what others export',
  check: (files) => each(files, ({ code }) => [/^export\s+\*/m.test(code) ? 're-exports everything' : undefined]),
}

/** Depth first, entering every file once. Types count too: two files that name each other are one file. */
export const findCycles = (files: readonly Source[]): string[] => {
  const known = new Map(files.map((file) => [file.path, file]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (trail.includes(path) || done.has(path)) return
    for (const { to } of known.get(path)?.imports ?? []) if (known.has(to)) visit(to, [...trail, path])
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
  return cycles
}

const cycles: Rule = { name: 'no import cycles', check: findCycles }

export const rules = {
  direction,
  knownParts,
  ...featureRules,
  ...writerRules,
  ...databaseRules,
  ...detourRules,
  queriesRead,
  pureFiles,
  concreteRails,
  namedRails,
  fastify,
  routesWithoutSql,
  ledgerTables,
  privateRoutes,
  environment,
  time,
  internalCalls,
  ownNeeds,
  boundCursors,
  barrels,
  cycles,
} satisfies Record<string, Rule>
