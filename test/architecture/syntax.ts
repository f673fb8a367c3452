import { type Node, parseSync } from 'oxc-parser'
import type { Source } from './source.ts'

export type { Node }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

type See = (node: Node, around: readonly Node[]) => void

/** Visits every node with its ancestors, the outermost first. They share one list, so read it before the next node. */
const visit = (node: Node, around: Node[], see: See): void => {
  see(node, around)
  around.push(node)
  for (const value of Object.values(node) as unknown[]) {
    if (Array.isArray(value)) {
      for (const part of value) if (isNode(part)) visit(part, around, see)
    } else if (isNode(value)) visit(value, around, see)
  }
  around.pop()
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

export const walk = (file: Source, see: See): void => visit(programOf(file), [], see)

export const within = (node: Node, see: See): void => visit(node, [], see)

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
