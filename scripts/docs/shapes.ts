import { changeOperations, isObject, type Json, objectAt, refTo, rewrite, schemaPrefix, withSchemas } from './walk.ts'

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

/** Every schema exists in a form for requests and one for responses; most are used in only one of them and need no second name. */
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

/** Responses may get new fields: a generated client must not refuse them. */
const mayGrow = (schema: unknown): unknown =>
  rewrite(schema, ({ additionalProperties, ...rest }) =>
    additionalProperties === false ? rest : { ...rest, ...(additionalProperties !== undefined && { additionalProperties }) },
  )

const header = (description: string, type = 'string') => ({ description, schema: { type } })

const headers = {
  'X-Request-Id': header('Names this request in our logs.'),
  'RateLimit-Limit': header('Requests that are allowed in the window.', 'integer'),
  'RateLimit-Remaining': header('Requests that are left in the window.', 'integer'),
  'RateLimit-Reset': header('Seconds until the window ends.', 'integer'),
  'Retry-After': header('Seconds to wait before trying again.', 'integer'),
  'Payments-Should-Retry': header('`true` when the same request may pass later, `false` when it needs a change.'),
  'Idempotency-Replayed': header('`true` when this is the first answer again.'),
  'WWW-Authenticate': header('Where to get a token, and which scope is missing.'),
  Location: header('Where to go on.'),
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
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done. There is no body.',
}

const describeResponse = (status: string, response: unknown, repeatable: boolean): Json => {
  const documented = isObject(response) ? response : {}
  const described =
    documented.description === 'Default Response' ? (defaultDescriptions[status] ?? 'Done.') : documented.description
  const refs = headersOf(status, repeatable).map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return {
    ...(mayGrow(documented) as Json),
    description: described,
    headers: { ...Object.fromEntries(refs), ...objectAt(documented, 'headers') },
  }
}

/** Of an operation that answers with a redirect alone: generators and linters look for an answer with a body. */
const refusedOtherwise = (responses: Json): Json =>
  Object.keys(responses).some((status) => status.startsWith('2'))
    ? {}
    : { default: { ...objectAt(responses, '400'), description: 'Every other answer is a refusal.' } }

const csvList = 'PaymentList'

/** A body in CSV is a text: the schema of the same body in JSON says nothing about it. */
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
          'A list in CSV, as a spreadsheet saves it: a header line, and a line for each payment. Columns: `beneficiary_id`, or `display_name` (`name`) and `destination` (`phone`) with `payment_rail` and `bank_code`; `amount` in major units or `amount_minor`; `narrative`, `purpose_code`, `account_reference`, `metadata.<name>`.',
        example: 'name,phone,amount,narrative\nAchieng Otieno,0722000101,450.00,March salary\n',
      },
    },
  )

/** Gives each text of a kind one name, and numbers those whose name is the same. */
const createShelf = (kind: string) => {
  const names = new Map<string, string>()
  const shared: Json = {}
  const refFor = (wanted: string, value: unknown): Json => {
    const text = JSON.stringify(value)
    const same = [...names.values()].filter((name) => name.replace(/_\d+$/, '') === wanted).length
    const name = names.get(text) ?? (same === 0 ? wanted : `${wanted}_${same + 1}`)
    names.set(text, name)
    shared[name] = value
    return { $ref: `#/components/${kind}/${name}` }
  }
  return { shared, refFor }
}

/**
 * Names each refusal and each parameter once: most operations have the same ones, and in full they are half of the document.
 */
export const shareParts = (document: Json): Json => {
  const responses = createShelf('responses')
  const parameters = createShelf('parameters')
  const changed = changeOperations(document, (operation) => ({
    ...operation,
    ...(Array.isArray(operation.parameters) && {
      parameters: operation.parameters.map((one: Json) => parameters.refFor(String(one.name).replace(/[^\w-]/g, ''), one)),
    }),
    responses: Object.fromEntries(
      Object.entries(objectAt(operation, 'responses')).map(([status, response]) => [
        status,
        /^[45]/.test(status) ? responses.refFor(`Refusal${status}`, response) : response,
      ]),
    ),
  }))
  const components = { ...objectAt(changed, 'components'), parameters: parameters.shared, responses: responses.shared }
  return { ...changed, components }
}

/** Converts the document from the routes' schemas into one for readers and for generators of clients. */
export const finishDocument = (document: object): object => nameSchemas(describeOperations(document as Json))
