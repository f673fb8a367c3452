export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectAt = (parent: Json, name: string): Json => {
  const value = parent[name]
  return isObject(value) ? value : {}
}

/** Copies a value, applying `change` to every object, innermost first. */
export const rewrite = (value: unknown, change: (object: Json) => Json): unknown => {
  if (Array.isArray(value)) return value.map((entry) => rewrite(entry, change))
  if (!isObject(value)) return value
  return change(Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, rewrite(entry, change)])))
}

export const schemaPrefix = '#/components/schemas/'
export const refTo = (name: string): Json => ({ $ref: schemaPrefix + name })
export const nameIn = (schema: unknown): string | undefined =>
  isObject(schema) && typeof schema.$ref === 'string' && schema.$ref.startsWith(schemaPrefix)
    ? schema.$ref.slice(schemaPrefix.length)
    : undefined

/** Copies a document, applying `change` to every operation. */
export const changeOperations = (document: Json, change: (operation: Json) => Json): Json => {
  const paths = Object.entries(objectAt(document, 'paths')).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(isObject(item) ? item : {}).map(([method, operation]) => [
        method,
        isObject(operation) ? change(operation) : operation,
      ]),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}

export const withSchemas = (document: Json, schemas: Json): Json => {
  const components = objectAt(document, 'components')
  return { ...document, components: { ...components, schemas: { ...objectAt(components, 'schemas'), ...schemas } } }
}
