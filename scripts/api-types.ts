import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describeService } from './describe-service.ts'

/** The part of JSON Schema 2020-12 that our documents use. */
type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  not?: unknown
  description?: string
}
type Content = Record<string, { schema?: Schema }>
type Response = { $ref?: string; content?: Content }
type Parameter = { $ref?: string; name: string; in: string; required?: boolean; schema?: Schema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, Response>
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response>; parameters: Record<string, Parameter> }
}

const quoted = (text: string): string => JSON.stringify(text)
const union = (types: string[]): string => [...new Set(types)].join(' | ') || 'never'
const nested = (type: string): string => (/[|&]/.test(type) ? `(${type})` : type)

/** One entry on each line, so that a difference shows one field. */
const block = (entries: readonly string[]): string => `{\n${entries.join('\n').replace(/^/gm, '  ')}\n}`

const key = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : quoted(name))

/** A field's description, as a comment for editors. */
const comment = ({ description }: Schema): string =>
  description === undefined ? '' : `/** ${description.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */\n`

const fields = (schema: Schema): string[] =>
  Object.entries(schema.properties ?? {}).map(
    ([name, value]) => `${comment(value)}${key(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(value)}`,
  )

const objectType = (schema: Schema): string => {
  const known = fields(schema)
  const { additionalProperties: rest } = schema
  if (known.length > 0) return block(known)
  if (rest === false) return 'Record<string, never>'
  return `Record<string, ${typeof rest === 'object' ? typeOf(rest) : 'unknown'}>`
}

const primitives: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

const typed = (schema: Schema, type: string): string => {
  if (type === 'object') return objectType(schema)
  if (type === 'array') return `${nested(schema.items ? typeOf(schema.items) : 'unknown')}[]`
  return primitives[type] ?? 'unknown'
}

const typeOf = (schema: Schema): string => {
  if (schema.$ref) return named('schemas', schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return union(choices.map(typeOf))
  if (schema.allOf) return schema.allOf.map((part) => nested(typeOf(part))).join(' & ')
  if (schema.not !== undefined) return 'never'
  const types = schema.type === undefined ? (schema.properties ? ['object'] : []) : [schema.type].flat()
  return types.length === 0 ? 'unknown' : union(types.map((type) => typed(schema, type)))
}

/** Our clients always request JSON, so they get only JSON where it exists. */
const preferredContent = (content: Content | undefined) => {
  const entries = Object.entries(content ?? {})
  const json = entries.filter(([media]) => media === 'application/json')
  return json.length > 0 ? json : entries
}

const contentType = (content: Content): string =>
  `content: ${block(preferredContent(content).map(([media, { schema }]) => `${quoted(media)}: ${schema ? typeOf(schema) : 'unknown'}`))}`

const queryType = ({ parameters = [] }: Operation): string[] => {
  const here = parameters.filter((parameter) => parameter.in === 'query')
  if (here.length === 0) return []
  const list = here.map(
    ({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${schema ? typeOf(schema) : 'unknown'}`,
  )
  return [`query${here.some(({ required }) => required) ? '' : '?'}: ${block(list)}`]
}

const named = (kind: string, ref: string): string => `components[${quoted(kind)}][${quoted(ref.split('/').at(-1) ?? '')}]`

const responseType = ({ content }: Response): string => (content ? block([contentType(content)]) : 'unknown')

/** The parts that `route-types.ts` reads: query, body and successful responses. Errors are classes of their own (`errors.ts`). */
const operationType = (operation: Operation): string => {
  const { requestBody, responses } = operation
  const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  return block([
    ...queryType(operation),
    ...(requestBody ? [`requestBody${requestBody.required ? '' : '?'}: ${block([contentType(requestBody.content)])}`] : []),
    `responses: ${block(answers.map(([status, response]) => `${status}: ${responseType(response)}`))}`,
  ])
}

const pathType = (operations: Record<string, Operation>): string =>
  block(Object.entries(operations).map(([method, operation]) => `${method}: ${operationType(operation)}`))

const typesOf = ({ paths, components }: Document): string => {
  // Operations may reference parameters instead of listing them.
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item)))
    operation.parameters =
      operation.parameters?.map((one) => components.parameters[one.$ref?.split('/').at(-1) ?? ''] ?? one) ?? []
  const operations = Object.entries(paths).map(([path, item]) => `${quoted(path)}: ${pathType(item)}`)
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `${key(name)}: ${typeOf(schema)}`)
  return [
    '/** Written by scripts/api-types.ts from the OpenAPI document. Do not edit. */',
    `export interface paths ${block(operations)}`,
    `export interface components ${block([`schemas: ${block(schemas)}`])}`,
    '',
  ].join('\n')
}

export const apiTypesFile = fileURLToPath(new URL('../client/src/api-types.generated.ts', import.meta.url))

export const apiTypes = async (): Promise<string> => typesOf((await describeService()).document as Document)

// Runs before every type check, so that the client and the pages are checked against the current API.
if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(apiTypesFile, await apiTypes())
