import recorded from '../../docs/openapi/examples.json' with { type: 'json' }
import { addEventSchemas } from './events.ts'
import { describe } from './glossary.ts'
import { followNames, nameLists, namePages } from './names.ts'
import { addSamples } from './samples.ts'
import { tags } from './tags.ts'
import { vocabularies } from './vocabularies.ts'
import { changeOperations, isObject, type Json, objectAt, rewrite } from './walk.ts'

/** `parameters`: in the path, query and headers. `location`: target of a redirect. */
export type Example = {
  parameters?: Record<string, string>
  request?: unknown
  status: number
  location?: string
  response?: unknown
}
const examples: Readonly<Record<string, Example>> = recorded

/** The maximum of PostgreSQL's `integer`, the type of all stored integers, which are counts. */
const largest = 2_147_483_647

const isUnbounded = (bound: unknown, safe: number): boolean => bound === undefined || bound === safe

/** Removes a pattern of three hundred characters that repeats the format. */
const plainTimes = (document: Json): Json =>
  rewrite(document, ({ pattern, ...rest }) =>
    rest.format === 'date-time' || pattern === undefined ? rest : { ...rest, pattern },
  ) as Json

/** Gives an integer without declared bounds those of its column, instead of those of a JavaScript number. */
const boundIntegers = (document: Json): Json =>
  rewrite(document, (object) => {
    if (object.type !== 'integer') return object
    const { minimum, maximum, exclusiveMinimum, ...rest } = object
    const least = exclusiveMinimum === 0 ? 1 : isUnbounded(minimum, Number.MIN_SAFE_INTEGER) ? 0 : minimum
    return { ...rest, minimum: least, maximum: isUnbounded(maximum, Number.MAX_SAFE_INTEGER) ? largest : maximum }
  }) as Json

const hasObject = (parameter: Json): boolean => isObject(parameter.schema) && parameter.schema.type === 'object'

/** Describes objects in queries as `metadata[invoice]=17`. */
const styleParameters = (document: Json): Json =>
  changeOperations(document, (operation) => {
    const { parameters } = operation
    if (!Array.isArray(parameters)) return operation
    return {
      ...operation,
      parameters: parameters.map((parameter: unknown) =>
        isObject(parameter) && parameter.in === 'query' && hasObject(parameter)
          ? { ...parameter, style: 'deepObject', explode: true }
          : parameter,
      ),
    }
  })

/** The group in which an operation is listed. */
export const tagOf = (operation: string): string => {
  const feature = operation.split('.')[0] ?? ''
  return tags.find(({ features }) => features.includes(feature))?.name ?? feature
}

const withExample = (content: Json, example: unknown): Json =>
  Object.fromEntries(
    Object.entries(content).map(([media, described]) => [
      media,
      /json|form|event-stream/.test(media) && isObject(described) ? { ...described, example } : described,
    ]),
  )

const readValue = (text: string, type: unknown): unknown => {
  if (type === 'integer') return Number(text)
  return type === 'array' ? text.split(',') : text
}

const withValues = (parameters: unknown, values: NonNullable<Example['parameters']>): unknown =>
  Array.isArray(parameters)
    ? parameters.map((parameter: unknown) => {
        const text = isObject(parameter) ? values[String(parameter.name)] : undefined
        if (!isObject(parameter) || text === undefined) return parameter
        return { ...parameter, example: readValue(text, objectAt(parameter, 'schema').type) }
      })
    : parameters

const withLocation = (answer: Json, location: string): Json => ({
  ...answer,
  headers: {
    ...objectAt(answer, 'headers'),
    Location: { description: 'The URL of the redirect.', schema: { type: 'string' }, example: location },
  },
})

const showExample = (operation: Json, { parameters, request, status, location, response }: Example): Json => {
  const body = objectAt(operation, 'requestBody')
  const responses = objectAt(operation, 'responses')
  const answer = objectAt(responses, String(status))
  return {
    ...operation,
    ...(parameters && { parameters: withValues(operation.parameters, parameters) }),
    ...(location !== undefined && { responses: { ...responses, [String(status)]: withLocation(answer, location) } }),
    ...(request !== undefined &&
      'content' in body && { requestBody: { ...body, content: withExample(objectAt(body, 'content'), request) } }),
    ...(response !== undefined &&
      'content' in answer && {
        responses: { ...responses, [String(status)]: { ...answer, content: withExample(objectAt(answer, 'content'), response) } },
      }),
  }
}

const showExamples = (document: Json): Json =>
  changeOperations(document, (operation) => {
    const example = examples[String(operation.operationId)]
    return example ? showExample(operation, example) : operation
  })

const describeTags = (document: Json): Json => {
  const used = new Set<unknown>()
  changeOperations(document, (operation) => {
    for (const tag of Array.isArray(operation.tags) ? operation.tags : []) used.add(tag)
    return operation
  })
  return { ...document, tags: tags.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description })) }
}

/** Converts the document derived from the routes for people, client generators and agents. */
export const finishReference = (document: Json): Json => {
  const named = addEventSchemas(namePages(followNames(document)))
  const whole = describe(styleParameters(plainTimes(boundIntegers(nameLists(named, vocabularies)))))
  return addSamples(showExamples(describeTags(whole)))
}
