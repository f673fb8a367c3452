import { changeOperations, isObject, type Json, nameIn, objectAt, refTo, rewrite, schemaPrefix, withSchemas } from './walk.ts'

const schemasNamedIn = (value: unknown): string[] => {
  const names: string[] = []
  rewrite(value, (object) => {
    if (typeof object.$ref === 'string' && object.$ref.startsWith(schemaPrefix))
      names.push(object.$ref.slice(schemaPrefix.length))
    return object
  })
  return names
}

const reachable = (paths: Json, schemas: Json): Set<string> => {
  const known = new Set<string>()
  const visit = (name: string): void => {
    if (known.has(name)) return
    known.add(name)
    for (const next of schemasNamedIn(schemas[name])) visit(next)
  }
  for (const name of schemasNamedIn(paths)) visit(name)
  return known
}

/** Each schema exists in a form for requests and one for responses. Most are used in only one and need no second name. */
const nameSchemas = (document: Json): Json => {
  const components = objectAt(document, 'components')
  const schemas = objectAt(components, 'schemas')
  const used = reachable(objectAt(document, 'paths'), schemas)
  const nameOf = (name: string): string => {
    const plain = name.replace(/Input$/, '')
    return used.has(plain) && JSON.stringify(schemas[plain]) !== JSON.stringify(schemas[name]) ? name : plain
  }
  const usedSchemas = [...used]
    .sort()
    .map((name) => [nameOf(name), name.endsWith('Input') ? schemas[name] : mayGrow(schemas[name])])
  const named = { ...document, components: { ...components, schemas: Object.fromEntries(usedSchemas) } }
  return rewrite(named, (object) =>
    typeof object.$ref === 'string' && object.$ref.startsWith(schemaPrefix)
      ? { ...object, $ref: schemaPrefix + nameOf(object.$ref.slice(schemaPrefix.length)) }
      : object,
  ) as Json
}

/** Allows additional fields in responses, so that generated clients do not reject new fields. */
const mayGrow = (schema: unknown): unknown =>
  rewrite(schema, ({ additionalProperties, ...rest }) =>
    additionalProperties === false ? rest : { ...rest, ...(additionalProperties !== undefined && { additionalProperties }) },
  )

const header = (description: string, type = 'string') => ({ description, schema: { type } })

const headers = {
  'X-Request-Id': header('The ID of this request in the logs.'),
  'RateLimit-Limit': header('The number of requests allowed in the window.', 'integer'),
  'RateLimit-Remaining': header('The number of requests left in the window.', 'integer'),
  'RateLimit-Reset': header('The number of seconds until the window ends.', 'integer'),
  'Retry-After': header('The number of seconds to wait before a retry.', 'integer'),
  'Payments-Should-Retry': header('`true` if the same request may succeed later, `false` if it needs a change.'),
  'Idempotency-Replayed': header('`true` if this is a replay of the first answer.'),
  'WWW-Authenticate': header('The URL of the resource metadata, and the missing scope.'),
  Location: header('The URL of the redirect.'),
}
type HeaderName = keyof typeof headers

const headersOf = (status: string, repeatable: boolean): HeaderName[] => [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  ...(/^[45]/.test(status) ? (['Payments-Should-Retry'] as const) : []),
  ...(['429', '503'].includes(status) ? (['Retry-After'] as const) : []),
  ...(['401', '403'].includes(status) ? (['WWW-Authenticate'] as const) : []),
  ...(status.startsWith('3') ? (['Location'] as const) : []),
  ...(repeatable && status.startsWith('2') ? (['Idempotency-Replayed'] as const) : []),
]

const defaultDescriptions: Readonly<Record<string, string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success. There is no body.',
}

const describeResponse = (status: string, response: unknown, repeatable: boolean): Json => {
  const documented = isObject(response) ? response : {}
  const described =
    documented.description === 'Default Response' ? (defaultDescriptions[status] ?? 'Success.') : documented.description
  const refs = headersOf(status, repeatable).map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return {
    ...(mayGrow(documented) as Json),
    description: described,
    headers: { ...Object.fromEntries(refs), ...objectAt(documented, 'headers') },
  }
}

/** A default response for operations that only redirect, because generators and linters expect a response with a body. */
const refusedOtherwise = (responses: Json): Json =>
  Object.keys(responses).some((status) => status.startsWith('2'))
    ? {}
    : { default: { ...objectAt(responses, '400'), description: 'Every other answer is an error.' } }

const csvList = 'PaymentList'

/** Describes a CSV body as text, because the JSON schema of the same body does not apply to it. */
const describeBody = (body: Json): Json => ({
  ...body,
  content: Object.fromEntries(
    Object.entries(objectAt(body, 'content')).map(([media, content]) => [
      media,
      /csv|excel/.test(media) ? { schema: refTo(csvList) } : content,
    ]),
  ),
})

const describeOperation = (operation: Json): Json => {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters.filter(isObject) : []
  const repeatable = parameters.some((parameter) => parameter.name === 'Idempotency-Key')
  const stated = objectAt(operation, 'responses')
  const responses = Object.entries({ ...stated, ...refusedOtherwise(stated) })
  return {
    ...operation,
    ...(isObject(operation.requestBody) && { requestBody: describeBody(operation.requestBody) }),
    responses: Object.fromEntries(
      responses.map(([status, response]) => [status, describeResponse(status, response, repeatable)]),
    ),
  }
}

const describeOperations = (document: Json): Json =>
  withSchemas(
    changeOperations({ ...document, components: { ...objectAt(document, 'components'), headers } }, describeOperation),
    {
      [csvList]: {
        type: 'string',
        description:
          'A CSV batch, as saved by a spreadsheet: a header row, and a row for each payment. Columns: `beneficiary_id`, or `display_name` (`name`) and `destination` (`phone`) with `payment_rail` and `bank_code`; `amount` in major units or `amount_minor`; `narrative`, `purpose_code`, `account_reference`, `metadata.<name>`.',
        example: 'name,phone,amount,narrative\nAchieng Otieno,0722000101,450.00,March salary\n',
      },
    },
  )

/** Parameters that most operations have. Others stay inline, and generated clients use their operations' names. */
const sharedParameters: Readonly<Record<string, string>> = {
  'Idempotency-Key': 'IdempotencyKeyHeader',
  'Workspace-Id': 'WorkspaceIdHeader',
  cursor: 'Cursor',
  limit: 'Limit',
}

const mostFrequent = (texts: readonly string[]): string => {
  const counts = Map.groupBy(texts, (text) => text)
  return texts.reduce((best, text) => ((counts.get(text)?.length ?? 0) > (counts.get(best)?.length ?? 0) ? text : best))
}

const parametersOf = (operation: Json): Json[] =>
  Array.isArray(operation.parameters) ? operation.parameters.filter(isObject) : []

/** The errors of an operation, by status. */
const refusalsOf = (operation: Json): [status: string, response: Json][] =>
  Object.entries(objectAt(operation, 'responses')).filter((entry): entry is [string, Json] => /^[45]/.test(entry[0]))

/** Each status has one error name per shape: API JSON, OAuth JSON, and JSON with an alternative page. */
const refusalName = (status: string, response: Json): string => {
  const { 'application/json': json, 'text/html': page } = objectAt(response, 'content')
  const isOAuth = isObject(json) && nameIn(json.schema) === 'OAuthError'
  return `${isOAuth ? 'OAuth' : ''}${page ? 'Page' : ''}Refusal${status}`
}

const codesIn = (description: string): string[] => description.match(/`[a-z_]+`: [^`]+(?=$| `)/g) ?? []

/** Lists the usual codes of most operations first, then the codes of only some. */
const describeRefusal = (usual: string, all: readonly string[]): string => {
  const others = new Set(all.flatMap(codesIn).filter((code) => !codesIn(usual).includes(code)))
  return others.size === 0 ? usual : `${usual} Only where an operation names them: ${[...others].join(' ')}`
}

/**
 * Defines the errors of each status and common parameters once, because inline they would be half of the document. An operation
 * with unusual codes lists them in a description beside the reference.
 */
export const shareParts = (document: Json): Json => {
  const parameters = new Map<string, string[]>()
  const refusals = new Map<string, Json[]>()
  changeOperations(document, (operation) => {
    for (const one of parametersOf(operation)) {
      const name = sharedParameters[String(one.name)]
      if (name) parameters.set(name, [...(parameters.get(name) ?? []), JSON.stringify(one)])
    }
    for (const [status, response] of refusalsOf(operation)) {
      const name = refusalName(status, response)
      refusals.set(name, [...(refusals.get(name) ?? []), response])
    }
    return operation
  })
  const sharedParameter = new Map([...parameters].map(([name, texts]) => [name, mostFrequent(texts)]))
  const descriptions = new Map([...refusals].map(([name, all]) => [name, all.map((one) => String(one.description))]))
  const usual = new Map([...descriptions].map(([name, all]) => [name, mostFrequent(all)]))
  const referToRefusal = (status: string, response: Json): Json => {
    const name = refusalName(status, response)
    const description = String(response.description)
    const codes = codesIn(description).map((code) => code.slice(0, code.indexOf(':')))
    return { $ref: `#/components/responses/${name}`, ...(description !== usual.get(name) && { description: codes.join(', ') }) }
  }
  const changed = changeOperations(document, (operation) => ({
    ...operation,
    ...(Array.isArray(operation.parameters) && {
      parameters: parametersOf(operation).map((one) => {
        const name = sharedParameters[String(one.name)] ?? ''
        return sharedParameter.get(name) === JSON.stringify(one) ? { $ref: `#/components/parameters/${name}` } : one
      }),
    }),
    responses: {
      ...objectAt(operation, 'responses'),
      ...Object.fromEntries(refusalsOf(operation).map(([status, response]) => [status, referToRefusal(status, response)])),
    },
  }))
  const responses = [...refusals]
    .sort()
    .map(([name, [first]]) => [
      name,
      { ...first, description: describeRefusal(usual.get(name) ?? '', descriptions.get(name) ?? []) },
    ])
  const components = {
    ...objectAt(changed, 'components'),
    parameters: Object.fromEntries([...sharedParameter].map(([name, text]) => [name, JSON.parse(text)])),
    responses: Object.fromEntries(responses),
  }
  return { ...changed, components }
}

/** Converts the document derived from the routes' schemas for readers and client generators. */
export const finishDocument = (document: object): object => nameSchemas(describeOperations(document as Json))
