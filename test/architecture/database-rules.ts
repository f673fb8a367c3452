import { dirname, join, normalize } from 'node:path'
import type { Rule } from './rules.ts'
import type { Source } from './source.ts'
import { isFunction, type Node, namesIn, textOf, walk, within } from './syntax.ts'

/** Files that compose SQL inside a function, with the parts that they use: never a request's values. */
const composedSql: Readonly<Record<string, string>> = {
  'db/apply-migration.ts': 'a constant, and the name of an index in a migration',
  'db/changes.ts': 'the table of payments or of batches',
  'db/check.ts': 'the text of a check, around which it counts',
  'db/prepare.ts': 'the type of a parameter, from a closed list, and a text that the module above declares',
  'db/prepare-write.ts': 'the table, columns and types that drizzle declares',
  'db/tables/columns.ts': 'the values of a closed list',
  'db/service-role.ts':
    'the name of a role, quoted, which an operator gave, because GRANT takes no parameter, and the tables with a trigger',
  'db/start.ts': 'a number that is computed',
  'events/read.ts': 'one of two directions',
  'jobs/turns.ts': 'the table and columns of a queue',
  'modules/suspense/earlier-receipts-service.ts': 'tables of the same file',
  'modules/sending/workers.ts': 'the table of payments or of top-ups',
  'queue/record-keys.ts': 'the table of payments or of top-ups',
  'operate/verify/access.ts': 'the tables and columns of sealed-columns.ts',
  'operate/verify/evidence.ts': 'tables of the same file',
  'operate/verify/states.ts': 'tables of the same file',
  'operate/verify/audit-log.ts': 'the tables of audited-tables.ts',
  'operate/verify/events.ts': 'tables of the same file',
}

/** A turn of the event loop waits for nothing outside the process. `for await` would hide such a wait. */
const isTurn = (file: Source, node: Node): boolean =>
  node.type === 'CallExpression' &&
  /^(yieldBeforeLongWork|mapInChunks)$/.test(textOf(file, node.callee)) &&
  !/\basync\b/.test(textOf(file, node))

const startsLikeSql = /^\s*(select|insert into|update|delete from|with|lock|truncate|listen|notify|do|create|alter|drop|set)\s/i
const runsSql = /(^nameStatement|\.(query|raw))$/

type Binding = { name: string; constant: Node | null }

/** The names that the enclosing functions bind: their parameters and variables. */
const bindingsOf = (around: readonly Node[]): Binding[] =>
  around.filter(isFunction).flatMap((owner) => {
    const bound: Binding[] = owner.params.flatMap((param) => namesIn(param).map((name) => ({ name, constant: null })))
    within(owner, (node) => {
      if (node.type === 'VariableDeclarator')
        bound.push(...namesIn(node.id).map((name) => ({ name, constant: node.id.type === 'Identifier' ? node.init : null })))
    })
    return bound
  })

/** Whether a value is the same for every request: built only from literals and the module's names. */
const isConstant = (node: Node, bindings: readonly Binding[]): boolean => {
  if (node.type === 'Literal') return true
  if (node.type === 'TemplateLiteral') return node.expressions.every((part) => isConstant(part, bindings))
  if (node.type === 'ConditionalExpression') return [node.consequent, node.alternate].every((part) => isConstant(part, bindings))
  if (node.type === 'BinaryExpression') return [node.left, node.right].every((part) => isConstant(part, bindings))
  if (node.type === 'Identifier') {
    const bound = bindings.filter(({ name }) => name === node.name)
    return bound.every(
      ({ constant }) =>
        constant !== null &&
        isConstant(
          constant,
          bindings.filter(({ name }) => name !== node.name),
        ),
    )
  }
  const own = new Set<string>()
  const used: string[] = []
  within(node, (part, around) => {
    if (isFunction(part)) for (const param of part.params) for (const name of namesIn(param)) own.add(name)
    const parent = around.at(-1)
    const isMember = parent?.type === 'MemberExpression' && parent.property === part && !parent.computed
    if (part.type === 'Identifier' && !isMember) used.push(part.name)
  })
  return used.every((name) => own.has(name) || bindings.every((binding) => binding.name !== name))
}

/** A text query: statement('its.name')`…`. */
const isStatement = (file: Source, node: Node): node is Extract<Node, { type: 'TaggedTemplateExpression' }> =>
  node.type === 'TaggedTemplateExpression' && node.tag.type === 'CallExpression' && textOf(file, node.tag.callee) === 'statement'

const leftmost = (node: Node): Node => (node.type === 'BinaryExpression' ? leftmost(node.left) : node)

const isSql = (file: Source, node: Node, parent: Node | undefined): boolean => {
  if (node.type !== 'TemplateLiteral' && node.type !== 'BinaryExpression') return false
  if (parent?.type === 'TaggedTemplateExpression') return isStatement(file, parent)
  if (parent?.type === 'BinaryExpression') return false
  if (parent?.type === 'CallExpression' && runsSql.test(textOf(file, parent.callee))) return true
  return startsLikeSql.test(textOf(file, leftmost(node)).slice(1))
}

const composedIn = (file: Source): string[] => {
  const complaints: string[] = []
  walk(file, (node, around) => {
    const raw = node.type === 'CallExpression' && textOf(file, node.callee).endsWith('sql.raw')
    if (!raw && !isSql(file, node, around.at(-1))) return
    const parts = raw ? node.arguments : [node]
    if (parts.some((part) => !isConstant(part, bindingsOf(around))))
      complaints.push(`${file.path} builds ${textOf(file, node).slice(0, 80)}`)
  })
  return complaints
}

const interpolatedSql: Rule = {
  name: 'SQL is constant: values are bound, never written into it',
  check: (files) => files.filter(({ path }) => !(path in composedSql)).flatMap(composedIn),
}

/** Exceptions that no file needs any more: remove them from the list. */
export const unneededExceptions = (files: readonly Source[]): string[] =>
  Object.keys(composedSql).filter((path) => !files.some((file) => file.path === path && composedIn(file).length > 0))

const isGivenTx = (file: Source, node: Node): boolean =>
  isFunction(node) && node.params.some((param) => /^tx\b|^\w+: Tx\b/.test(textOf(file, param)))

const outside = /^(fetch|setTimeout|setInterval|inTx)$|(^|\.)(db|reads)\.(query|run|lookup|transaction)$/

/** Whether the awaited value got the transaction, directly or at its creation. */
const isOfTx = (file: Source, node: Node, bindings: readonly Binding[]): boolean => {
  if (/\btx\b/.test(textOf(file, node))) return true
  let isReached = false
  within(node, (part) => {
    if (part.type !== 'Identifier') return
    const made = bindings.filter(({ name, constant }) => name === part.name && constant !== null)
    if (made.some(({ constant }) => constant !== null && constant !== node && /\btx\b/.test(textOf(file, constant))))
      isReached = true
  })
  return isReached
}

const awaitedParts = (file: Source, node: Node): Node[] => {
  const list = node.type === 'CallExpression' && textOf(file, node.callee) === 'Promise.all' ? node.arguments[0] : undefined
  return list?.type === 'ArrayExpression' ? list.elements.filter((element) => element !== null) : [node]
}

const databaseAlone: Rule = {
  name: 'nothing is awaited inside a transaction but the database',
  check: (files) =>
    files.flatMap((file) => {
      const complaints: string[] = []
      if (file.path === 'db/transaction.ts') return complaints
      walk(file, (node, around) => {
        if (!around.some((outer) => isGivenTx(file, outer))) return
        if (node.type === 'CallExpression' && outside.test(textOf(file, node.callee)))
          complaints.push(`${file.path} calls ${textOf(file, node.callee)} inside a transaction`)
        if (node.type !== 'AwaitExpression') return
        for (const part of awaitedParts(file, node.argument))
          if (!isOfTx(file, part, bindingsOf(around)) && !isTurn(file, part))
            complaints.push(`${file.path} awaits ${textOf(file, part).slice(0, 80)}`)
      })
      return complaints
    }),
}

/** [file]: reads the clock despite a transaction, with the reason why its writes have another instant. */
const readsClock: Readonly<Record<string, string>> = {
  'modules/payments/create/decide-in-turn.ts':
    'guesses the periods before the locks, and compares them with those of the instant behind',
}

const oneInstant: Rule = {
  name: 'a transaction has one instant, `tx.at`: with one at hand the clock is not read',
  check: (files) =>
    files.flatMap((file) => {
      const complaints: string[] = []
      if (file.path === 'db/transaction.ts' || file.path in readsClock) return complaints
      walk(file, (node, around) => {
        if (node.type !== 'CallExpression' || !around.some((outer) => isGivenTx(file, outer))) return
        const other = around.at(-1)
        const isFallback = other?.type === 'LogicalExpression' && /\btx\?\.at$/.test(textOf(file, other.left))
        if (!isFallback && /(^|\.)clock\.now$/.test(textOf(file, node.callee)))
          complaints.push(`${file.path} reads the clock in a transaction`)
      })
      return complaints
    }),
}

type Place = { file: Source; body: Node }

/** A module's top-level functions, by name. */
const functionsOf = (file: Source): Map<string, Node> => {
  const functions = new Map<string, Node>()
  walk(file, (node, around) => {
    if (around.some(isFunction)) return
    if (node.type === 'FunctionDeclaration' && node.id) functions.set(node.id.name, node)
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init && isFunction(node.init))
      functions.set(node.id.name, node.init)
  })
  return functions
}

/** Imported names: the file's own name for each → our file or the module, and the name there. */
const importedNames = (file: Source): Map<string, { path: string; name: string }> => {
  const names = new Map<string, { path: string; name: string }>()
  walk(file, (node, around) => {
    if (node.type !== 'ImportSpecifier') return
    const declaration = around.at(-1)
    if (declaration?.type !== 'ImportDeclaration') return
    const from = declaration.source.value
    const path = from.startsWith('.') ? normalize(join(dirname(file.path), from)) : from
    names.set(node.local.name, { path, name: node.imported.type === 'Identifier' ? node.imported.name : node.local.name })
  })
  return names
}

const waits = /^(fetch|setTimeout|setInterval)$/
const networkModules = /^(node:)?(http|https|http2|net|tls|dns|dns\/promises|dgram|timers\/promises)$|^undici$/

/** Whether a function reaches the network or a timer, by itself or through functions that it calls. */
const createReach = (files: readonly Source[]) => {
  const known = new Map(files.map((file) => [file.path, file]))
  const functions = new Map<Source, Map<string, Node>>()
  const imports = new Map<Source, Map<string, { path: string; name: string }>>()
  const answers = new Map<Node, boolean>()
  const cached = <T>(kept: Map<Source, T>, file: Source, make: (file: Source) => T): T => {
    const value = kept.get(file) ?? make(file)
    kept.set(file, value)
    return value
  }
  const find = (file: Source, name: string): Place | undefined => {
    const own = cached(functions, file, functionsOf).get(name)
    if (own) return { file, body: own }
    const from = cached(imports, file, importedNames).get(name)
    const there = from && known.get(from.path)
    const body = there && cached(functions, there, functionsOf).get(from.name)
    return there && body && { file: there, body }
  }
  const reaches = ({ file, body }: Place): boolean => {
    const known = answers.get(body)
    if (known !== undefined) return known
    answers.set(body, false)
    let isReached = false
    within(body, (node, around) => {
      if (isReached || node.type !== 'Identifier') return
      const parent = around.at(-1)
      const isCalled = parent?.type === 'CallExpression' && parent.callee === node
      const next = isCalled ? find(file, node.name) : undefined
      const from = cached(imports, file, importedNames).get(node.name)
      // A turn of the event loop is not a wait.
      const isOutside = from !== undefined && networkModules.test(from.path) && from.name !== 'setImmediate'
      if (next ? reaches(next) : isOutside || (isCalled && waits.test(node.name))) isReached = true
    })
    answers.set(body, isReached)
    return isReached
  }
  return (file: Source, name: string): boolean => {
    const place = find(file, name)
    return place !== undefined && reaches(place)
  }
}

const noDetours: Rule = {
  name: 'what a transaction calls reaches no network and no timer, through any helper',
  check: (files) => {
    const reaches = createReach(files)
    return files.flatMap((file) => {
      const complaints: string[] = []
      walk(file, (node, around) => {
        if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return
        if (!around.some((outer) => isGivenTx(file, outer)) || !reaches(file, node.callee.name)) return
        complaints.push(`${file.path} calls ${node.callee.name}, which waits for something other than the database`)
      })
      return complaints
    })
  },
}

const unawaited = /\b(tx|db)\.(query|run)\b/

const awaitedStatements: Rule = {
  name: 'every statement is awaited, or handed to something that waits for it',
  check: (files) =>
    files.flatMap((file) => {
      const complaints: string[] = []
      walk(file, (node) => {
        if (node.type !== 'ExpressionStatement' || node.expression.type !== 'CallExpression') return
        const callee = textOf(file, node.expression.callee)
        if (unawaited.test(callee) && !callee.endsWith('.catch')) complaints.push(`${file.path} does not wait for ${callee}`)
      })
      return complaints
    }),
}

/** The files that create drizzle's builders. */
const builds = ['db/prepare.ts', 'db/prepare-write.ts']

const ownPreparation: Rule = {
  name: 'every statement of drizzle is built once, by `prepare…` of db/, which refuse a second one of one name and show each to the test of the plans',
  check: (files) =>
    files.flatMap(({ path, code }) =>
      /\.prepare\(\s*['"`]/.test(code) || (!builds.includes(path) && /\bdrizzle(\.mock)?\(|\bnew QueryBuilder\b/.test(code))
        ? [`${path} prepares by itself`]
        : [],
    ),
}

/**
 * SQL that drizzle cannot express: lists as rows, nested queries, writes of several tables at once, locks by name, functions of
 * the server, expressions that are most of a report.
 */
const beyondDrizzle =
  /\bunnest\(|\bwith\s|\blateral\b|\bunion\b|\bfrom\s*\(|\bon conflict\b|\bskip locked\b|\bfilter\s*\(|\bover\s*\(|\bcase\b|\bxid8\b|\bpg_\w+|\bmake_interval\(|\bdelete from \w+( \w+)? using\b|\bupdate \w+( \w+)? set .*\bfrom\b|\binsert into \w+ \([^)]*\)\s*select\b/is

/** A text that shares no part with others, and that drizzle could express. */
const isPlain = (text: string): boolean =>
  /^\W*(select\b.*\bfrom|insert into|update|delete from)\b/is.test(text) && !beyondDrizzle.test(text)

/** [file]: keeps a plain text query and runs with every payment; with drizzle, ten table files more would run with it. */
const keptAsText = ['modules/payments/create/decide-in-turn.ts', 'modules/payments/evaluation/counters.ts']

const drizzleFirst: Rule = {
  name: 'a statement is text only where drizzle cannot say it',
  check: (files) =>
    files.flatMap((file) => {
      const complaints: string[] = []
      walk(file, (node) => {
        if (!isStatement(file, node) || keptAsText.includes(file.path)) return
        const isWhole = node.quasi.expressions.length === 0
        if (isWhole && isPlain(textOf(file, node.quasi)))
          complaints.push(`${file.path} writes ${textOf(file, node.quasi).slice(0, 80)}`)
      })
      return complaints
    }),
}

export const databaseRules = {
  interpolatedSql,
  databaseAlone,
  awaitedStatements,
  ownPreparation,
  drizzleFirst,
  oneInstant,
} satisfies Record<string, Rule>

export const detourRules = { noDetours } satisfies Record<string, Rule>
