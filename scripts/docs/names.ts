import type { Vocabulary } from './vocabularies.ts'
import { changeOperations, isObject, type Json, nameIn, objectAt, refTo, rewrite, withSchemas } from './walk.ts'

type Named = { name: string; schema: unknown }

/** The name of a list endpoint's page of items: `Payment` → `PaymentPage`. */
const pageName = (schema: Json): string | undefined => {
  const properties = objectAt(schema, 'properties')
  const item = nameIn(objectAt(objectAt(properties, 'data'), 'items'))
  return item !== undefined && 'next_cursor' in properties ? `${item}Page` : item === undefined ? undefined : `${item}List`
}

/** Moves a page's schema to the named schemas. */
const namePage = (content: Json, schemas: Named[]): Json =>
  Object.fromEntries(
    Object.entries(content).map(([media, entry]) => {
      const schema = isObject(entry) ? objectAt(entry, 'schema') : {}
      const chosen = nameIn(schema) === undefined ? pageName(schema) : undefined
      if (chosen === undefined) return [media, entry]
      schemas.push({ name: chosen, schema })
      return [media, { ...(entry as Json), schema: refTo(chosen) }]
    }),
  )

const keep = (document: Json, schemas: readonly Named[]): Json =>
  withSchemas(document, Object.fromEntries(schemas.map((named) => [named.name, named.schema])))

const isNull = (schema: unknown): boolean => isObject(schema) && schema.type === 'null'

/** Marks a body that may be omitted as optional, instead of as an object or null. */
const optionalBody = (operation: Json): Json => {
  const body = objectAt(operation, 'requestBody')
  const [media, entry] = Object.entries(objectAt(body, 'content'))[0] ?? []
  const choices = isObject(entry) ? objectAt(entry, 'schema').anyOf : undefined
  if (media === undefined || !Array.isArray(choices) || !choices.some(isNull)) return operation
  const [schema] = choices.filter((choice) => !isNull(choice))
  return { ...operation, requestBody: { ...body, required: false, content: { [media]: { ...(entry as Json), schema } } } }
}

/** Names the pages of lists, so that generated clients have readable types. */
export const namePages = (document: Json): Json => {
  const schemas: Named[] = []
  const changed = changeOperations(document, (entry) => {
    const operation = optionalBody(entry)
    const responses = Object.entries(objectAt(operation, 'responses')).map(([status, response]) => {
      const content = objectAt(response as Json, 'content')
      return [status, { ...(response as Json), ...(Object.keys(content).length > 0 && { content: namePage(content, schemas) }) }]
    })
    return {
      ...operation,
      responses: Object.fromEntries(responses),
    }
  })
  return keep(changed, schemas)
}

const sameValues = (values: unknown, known: readonly string[]): boolean =>
  Array.isArray(values) && values.length === known.length && known.every((value) => values.includes(value))

/** Defines every closed list once, by name. Descriptions remain at each use. */
export const nameLists = (document: Json, vocabularies: readonly Vocabulary[]): Json => {
  const replaced = rewrite(document, (object) => {
    const vocabulary = 'enum' in object && vocabularies.find(({ values }) => sameValues(object.enum, values))
    if (!vocabulary) return object
    const { description } = object
    return { ...refTo(vocabulary.name), ...(description !== undefined && { description }) }
  }) as Json
  const lists = vocabularies.map(({ name: list, values, description }) => [list, { type: 'string', enum: values, description }])
  return withSchemas(replaced, Object.fromEntries(lists))
}

/** Replaces a schema that has `documentedAs` with a reference to that schema. */
export const followNames = (document: Json): Json =>
  rewrite(document, ({ documentedAs, ...rest }) =>
    typeof documentedAs === 'string'
      ? { ...refTo(documentedAs), ...(rest.description !== undefined && { description: rest.description }) }
      : rest,
  ) as Json
