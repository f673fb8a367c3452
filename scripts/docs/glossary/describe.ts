import { changeOperations, isObject, type Json, nameIn, objectAt } from '../walk.ts'
import { accessWords } from './access.ts'
import { moneyWords } from './money.ts'
import { proofWords } from './proof.ts'

export const words: Readonly<Record<string, string>> = { ...proofWords, ...accessWords, ...moneyWords }

const wordsFor = (owner: string, name: string): string | undefined => words[`${owner}.${name}`] ?? words[name]

/** A description of its own, or that of the schema that it names. */
export const isDescribed = (schema: Json, schemas: Json): boolean => {
  const named = nameIn(schema)
  return schema.description !== undefined || (named !== undefined && objectAt(schemas, named).description !== undefined)
}

const describeAll = (node: unknown, owner: string, schemas: Json): unknown => {
  if (Array.isArray(node)) return node.map((item) => describeAll(item, owner, schemas))
  if (!isObject(node)) return node
  const changed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, describeAll(value, owner, schemas)]))
  const { properties } = changed
  if (!isObject(properties)) return changed
  return {
    ...changed,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const description = wordsFor(owner, name)
        return [
          name,
          isObject(schema) && description !== undefined && !isDescribed(schema, schemas) ? { ...schema, description } : schema,
        ]
      }),
    ),
  }
}

const describeParameters = (operation: Json): Json =>
  Array.isArray(operation.parameters)
    ? {
        ...operation,
        parameters: operation.parameters.map((parameter: unknown) => {
          if (!isObject(parameter) || parameter.description !== undefined) return parameter
          const own = objectAt(parameter, 'schema').description
          const description = own ?? wordsFor('query', String(parameter.name))
          return description === undefined ? parameter : { ...parameter, description }
        }),
      }
    : operation

/** Describes every property and parameter whose schema does not: a name means the same everywhere, and the exceptions are listed with it. */
export const describe = (document: Json): Json => {
  const components = objectAt(document, 'components')
  const schemas = objectAt(components, 'schemas')
  const described = Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, describeAll(schema, name, schemas)]),
  )
  const paths = describeAll(document.paths, 'body', schemas)
  return changeOperations({ ...document, paths, components: { ...components, schemas: described } }, describeParameters)
}
