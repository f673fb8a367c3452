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

/** A field's description, as a comment for editors. One line, like each operation. */
const comment = ({ description }: Schema): string =>
  description === undefined ? '' : `/** ${description.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */ `

const fields = (schema: Schema): string[] =>
  Object.entries(schema.properties ?? {}).map(
    ([name, value]) => `${comment(value)}${quoted(name)}${schema.required?.includes(name) ? '' : '?'}: ${typeOf(value)}`,
  )

const objectType = (schema: Schema): string => {
  const known = fields(schema)
  const { additionalProperties: rest } = schema
  if (known.length > 0) return `{ ${known.join('; ')} }`
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

const contentType = (content: Content | undefined): string => {
  const entries = preferredContent(content)
  if (entries.length === 0) return 'content?: never'
  return `content: { ${entries.map(([media, { schema }]) => `${quoted(media)}: ${schema ? typeOf(schema) : 'unknown'}`).join('; ')} }`
}

const parametersType = (operation: Operation): string => {
  const places = ['query', 'header', 'path', 'cookie'].map((place) => {
    const here = (operation.parameters ?? []).filter((parameter) => parameter.in === place)
    if (here.length === 0) return `${place}?: never`
    const list = here.map(
      ({ name, required, schema }) => `${quoted(name)}${required ? '' : '?'}: ${schema ? typeOf(schema) : 'unknown'}`,
    )
    return `${place}${here.some(({ required }) => required) ? '' : '?'}: { ${list.join('; ')} }`
  })
  return `{ ${places.join('; ')} }`
}

const named = (kind: string, ref: string): string => `components[${quoted(kind)}][${quoted(ref.split('/').at(-1) ?? '')}]`

const responseType = ({ $ref, content }: Response): string =>
  $ref ? named('responses', $ref) : `{ headers: Record<string, string>; ${contentType(content)} }`

const operationType = (operation: Operation): string => {
  const { requestBody, responses } = operation
  const body = requestBody
    ? `requestBody${requestBody.required ? '' : '?'}: { ${contentType(requestBody.content)} }`
    : 'requestBody?: never'
  const answers = Object.entries(responses).map(([status, response]) => `${status}: ${responseType(response)}`)
  return `{ parameters: ${parametersType(operation)}; ${body}; responses: { ${answers.join('; ')} } }`
}

const methods = ['get', 'put', 'post', 'delete', 'patch']

const pathType = (path: string, operations: Record<string, Operation>): string => {
  const lines = methods.map((method) => {
    const operation = operations[method]
    return operation ? `    ${method}: ${operationType(operation)}` : `    ${method}?: never`
  })
  return `  ${quoted(path)}: {\n    parameters: { query?: never; header?: never; path?: never; cookie?: never }\n${lines.join('\n')}\n  }`
}

/** `paths` and `components` in the form that openapi-fetch expects. */
const typesOf = ({ paths, components }: Document): string => {
  // Operations may reference parameters instead of listing them.
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item)))
    operation.parameters =
      operation.parameters?.map((one) => components.parameters[one.$ref?.split('/').at(-1) ?? ''] ?? one) ?? []
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `    ${quoted(name)}: ${typeOf(schema)}`)
  return [
    '/** Written by scripts/api-types.ts from the OpenAPI document. Do not edit. */',
    'export interface paths {',
    ...Object.entries(paths).map(([path, operations]) => pathType(path, operations)),
    '}',
    'export interface components {',
    '  schemas: {',
    ...schemas,
    '  }',
    '  responses: {',
    ...Object.entries(components.responses).map(([name, one]) => `    ${quoted(name)}: ${responseType(one)}`),
    '  }',
    '}',
    '',
  ].join('\n')
}

export const apiTypesFile = fileURLToPath(new URL('../client/src/api-types.generated.ts', import.meta.url))

export const apiTypes = async (): Promise<string> => typesOf((await describeService()).document as Document)

// Runs before every type check, so that the client and the pages are checked against the current API.
if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(apiTypesFile, await apiTypes())
