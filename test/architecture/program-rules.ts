import { findCycles, type Rule } from './rules.ts'
import type { Source } from './source.ts'
import { isFunction, type Node, textOf, walk } from './syntax.ts'

// Rules for everything that runs outside tests: the service, the scripts, the client and the dashboard. Paths begin at the root.

const maxParameters = 5

const complaints = (files: readonly Source[], complaint: (file: Source, node: Node) => string | undefined): string[] =>
  files.flatMap((file) => {
    const matches: string[] = []
    walk(file, (node) => {
      const text = complaint(file, node)
      if (text !== undefined) matches.push(`${file.path} ${text}`)
    })
    return matches
  })

const withoutParentheses = (node: Node): Node =>
  node.type === 'ParenthesizedExpression' ? withoutParentheses(node.expression) : node

const doubleAssertions: Rule = {
  name: 'no value is asserted to be of a type by way of another, or to be of every type',
  check: (files) =>
    complaints(files, (file, node) => {
      if (node.type !== 'TSAsExpression') return undefined
      const twice = withoutParentheses(node.expression).type === 'TSAsExpression'
      const type = textOf(file, node.typeAnnotation)
      return twice || type === 'never' ? `asserts ${textOf(file, node).slice(-80)}` : undefined
    }),
}

const parameters: Rule = {
  name: `a function has at most ${maxParameters} parameters`,
  check: (files) =>
    complaints(files, (file, node) =>
      isFunction(node) && node.params.length > maxParameters
        ? `takes ${node.params.length} parameters: (${node.params.map((param) => textOf(file, param)).join(', ')})`
        : undefined,
    ),
}

const pagesWithoutRails: Rule = {
  name: 'no page names a rail or a provider: what it says of them stands in their folders',
  check: (files) =>
    files.flatMap(({ path, code }) =>
      path.startsWith('dashboard/') && /\b(MPESA|PESALINK)(_[A-Z0-9_]+)?\b/.test(code)
        ? [`${path} names a rail or a provider`]
        : [],
    ),
}

const withoutTests: Rule = {
  name: 'nothing that runs outside of tests imports from test/',
  check: (files) =>
    files.flatMap(({ path, imports }) =>
      imports.filter(({ to }) => to.startsWith('test/')).map(({ to }) => `${path} imports ${to}`),
    ),
}

const exits: Rule = {
  name: 'a script ends when its work has: it sets process.exitCode',
  check: (files) =>
    files.flatMap(({ path, code }) =>
      /^(scripts|src\/(dev|operate))\//.test(path) && !endsItself.includes(path) && /\bprocess\.exit\(/.test(code)
        ? [`${path} calls process.exit`]
        : [],
    ),
}

/** Scripts that end while something still runs: a server on a signal, or an old Node that cannot run the rest. */
const endsItself: readonly string[] = ['src/dev/sandbox/run.ts', 'src/dev/demo/demo.ts', 'scripts/require-node.js']

const cycles: Rule = { name: 'no import cycles, in the dashboard, the client and the scripts either', check: findCycles }

/** Parts of the dashboard's pages. The shell contains the pages and may open one. */
const below = /^dashboard\/src\/(api|lib|live|passkey|ui|wallet)\//

const pagesAbove: Rule = {
  name: 'in the dashboard, what pages are made of imports no page',
  check: (files) =>
    files.flatMap(({ path, imports }) =>
      below.test(path)
        ? imports.filter(({ to }) => to.startsWith('dashboard/src/pages')).map(({ to }) => `${path} imports ${to}`)
        : [],
    ),
}

export const programRules = {
  doubleAssertions,
  parameters,
  pagesWithoutRails,
  withoutTests,
  exits,
  cycles,
  pagesAbove,
} satisfies Record<string, Rule>
