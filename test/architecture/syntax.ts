import { type Node, parseSync } from 'oxc-parser'
import type { Source } from './source.ts'

export type { Node }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flatMap((value: unknown) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)

/** Every node with those around it, the outermost first. */
const visit = (node: Node, around: readonly Node[], see: (node: Node, around: readonly Node[]) => void): void => {
  see(node, around)
  const inside = [...around, node]
  for (const child of childrenOf(node)) visit(child, inside, see)
}

const programs = new WeakMap<Source, Node>()

const programOf = (file: Source): Node => {
  const known = programs.get(file)
  if (known) return known
  const { program, errors } = parseSync(file.path, file.text)
  if (errors[0]) throw new Error(`${file.path} cannot be parsed: ${errors[0].message}`)
  programs.set(file, program)
  return program
}

export const walk = (file: Source, see: (node: Node, around: readonly Node[]) => void): void => visit(programOf(file), [], see)

export const within = (node: Node, see: (node: Node, around: readonly Node[]) => void): void => visit(node, [], see)

export type FunctionNode = Extract<Node, { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }>

export const isFunction = (node: Node): node is FunctionNode =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'

export const textOf = (file: Source, node: Node): string => file.text.slice(node.start, node.end)

/** The names that a pattern or a parameter binds. */
export const namesIn = (pattern: Node): string[] => {
  const names: string[] = []
  within(pattern, (node, around) => {
    const parent = around.at(-1)
    const isKey = parent?.type === 'Property' && parent.key === node && !parent.shorthand
    if (node.type === 'Identifier' && !isKey) names.push(node.name)
  })
  return names
}
