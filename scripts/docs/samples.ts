import { isObject, type Json, objectAt } from './walk.ts'

// Shows the same call in each language, generated from the operation's recorded example.

type Call = {
  method: string
  path: string
  ids: Record<string, string>
  query: string
  body: unknown
  /** Form fields of OAuth endpoints. */
  form: unknown
  isPublic: boolean
  takesKey: boolean
}
type Sample = { lang: string; label: string; source: string }

/** A tool and its part of an operation: fields of the body, and its own name for the id in the path. */
type ToolSample = { name: string; fields?: readonly string[]; id?: string; keyed?: true }

/** Tools and commands for the operations that agents and people use most. */
const others: Readonly<Record<string, { tool?: ToolSample; command?: string }>> = {
  'workspaces.current': { tool: { name: 'get_balance' }, command: 'payments balance' },
  'credentials.current': { tool: { name: 'get_credential' }, command: 'payments whoami' },
  'request_log.list': { command: 'payments logs --follow' },
  'beneficiaries.list': { tool: { name: 'list_beneficiaries' }, command: 'payments payees' },
  'beneficiaries.create': {
    tool: { name: 'propose_beneficiary', fields: ['type', 'display_name', 'payment_rail', 'destination'], keyed: true },
    command: 'payments payees add "Jane Wanjiru" 0712345678',
  },
  'beneficiaries.verify': { command: 'payments payees verify ben_…' },
  'beneficiaries.confirm': { command: 'payments payees confirm ben_…' },
  'beneficiaries.archive': { command: 'payments payees archive ben_…' },
  'policies.simulate': {
    tool: { name: 'simulate_payment', fields: ['beneficiary_id', 'amount_minor'] },
    command: 'payments simulate "Acme Supplies" 600.00',
  },
  'policies.list': { command: 'payments policies' },
  'payments.create': {
    tool: {
      name: 'create_payment',
      fields: ['beneficiary_id', 'amount_minor', 'account_reference', 'narrative', 'metadata'],
      keyed: true,
    },
    command: 'payments pay "Acme Supplies" 600.00 --wait',
  },
  'payments.get': { tool: { name: 'get_payment', id: 'payment_id' } },
  'payments.list': { tool: { name: 'list_payments' }, command: 'payments payments --limit 10' },
  'payments.cancel': { tool: { name: 'cancel_payment', id: 'payment_id' } },
  'payments.receipt': { command: 'payments verify-receipt receipt.json --issuer "$PAYMENTS_URL"' },
  'payment_refusals.list': { command: 'payments refusals' },
  'payment_batches.create': {
    tool: { name: 'create_payment_batch', fields: ['name', 'items'], keyed: true },
    command: 'payments batch list.csv --wait',
  },
  'payment_batches.get': { tool: { name: 'get_payment_batch', id: 'batch_id' } },
  'approvals.list': { tool: { name: 'list_approvals' }, command: 'payments approvals' },
  'mandates.list': { tool: { name: 'list_mandates' } },
  'topups.initiate': {
    tool: { name: 'request_topup', fields: ['amount_minor', 'phone_number'], keyed: true },
    command: 'payments top-up 25000.00 0712345678 --wait',
  },
  'topups.get': { tool: { name: 'get_topup', id: 'topup_id' } },
  'notifications.list': { tool: { name: 'list_events' }, command: 'payments events' },
  'notifications.stream': { command: 'payments events --follow' },
}

const parametersOf = (operation: Json, place: string): Json[] =>
  (Array.isArray(operation.parameters) ? operation.parameters : []).filter(
    (one: unknown): one is Json => isObject(one) && one.in === place && one.example !== undefined,
  )

const formType = 'application/x-www-form-urlencoded'

const callOf = (method: string, path: string, operation: Json): Call => {
  const content = objectAt(objectAt(operation, 'requestBody'), 'content')
  const json = content['application/json']
  const pairs = parametersOf(operation, 'query').map(({ name, example }): [string, string] => [String(name), String(example)])
  return {
    method,
    path,
    ids: Object.fromEntries(parametersOf(operation, 'path').map(({ name, example }) => [String(name), String(example)])),
    query: pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`,
    body: isObject(json) ? json.example : undefined,
    form: objectAt(content, formType).example,
    takesKey: Array.isArray(operation.parameters) && operation.parameters.some(({ name }: Json) => name === 'Idempotency-Key'),
    isPublic: Array.isArray(operation.security) && operation.security.length === 0,
  }
}

const filled = ({ path, ids }: Call): string => path.replace(/\{(\w+)\}/g, (name, key: string) => ids[key] ?? name)

const indented = (value: unknown): string => JSON.stringify(value, null, 2)

const fieldsOf = (form: unknown): [string, string][] =>
  isObject(form) ? Object.entries(form).map(([name, value]) => [name, String(value)]) : []

const curl = (call: Call): string =>
  [
    `curl ${call.method === 'get' ? '' : `-X ${call.method.toUpperCase()} `}"$PAYMENTS_URL${filled(call)}${call.query}"`,
    ...(call.isPublic ? [] : ['-H "Authorization: Bearer $PAYMENTS_API_KEY"']),
    ...(call.form === undefined ? [] : fieldsOf(call.form).map(([name, value]) => `--data-urlencode '${name}=${value}'`)),
    ...(call.takesKey ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(call.body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(call.body).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ')

/** A value in common TypeScript style: unquoted keys and single-quoted strings. */
const typescriptValue = (value: unknown): string =>
  indented(value)
    .replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replace(/"((?:[^"\\']|\\.)*)"(?=,?$)/gm, (whole, text: string) => (text.includes('\\') ? whole : `'${text}'`))

const typescript = ({ method, path, ids, query, body }: Call): string => {
  const input = {
    ...(Object.keys(ids).length > 0 && { path: ids }),
    ...(query !== '' && { query: Object.fromEntries(new URLSearchParams(query)) }),
    ...(body !== undefined && { body }),
  }
  const given = Object.keys(input).length === 0 ? '' : `, ${typescriptValue(input)}`
  return `import { Payments } from 'payments-service-client'

const client = new Payments({ baseUrl, apiKey })
const answer = await client.call('${method}', '${path}'${given})`
}

const literals: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
const pythonValue = (value: unknown): string =>
  indented(value).replace(
    /^(\s*(?:"[^"]*": )?)(true|false|null)(,?)$/gm,
    (_, before, word: string, after) => before + literals[word] + after,
  )

const python = (call: Call): string => {
  const body = call.body === undefined ? '' : `, ${pythonValue(call.body)}`
  return `from payments import Payments

client = Payments(base_url, api_key)
answer = client.call("${call.method.toUpperCase()}", "${filled(call)}${call.query}"${body})`
}

const mcp = ({ name, fields = [], id, keyed }: ToolSample, { ids, body }: Call): string =>
  indented({
    name,
    arguments: {
      ...(keyed && { idempotency_key: 'invoice-2041' }),
      ...(id !== undefined && { [id]: ids.id }),
      ...Object.fromEntries(isObject(body) ? Object.entries(body).filter(([field]) => fields.includes(field)) : []),
    },
  })

const samplesOf = (call: Call, operation: string): Sample[] => {
  const { tool, command } = others[operation] ?? {}
  const isForm = call.form !== undefined
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    // OAuth forms and browser redirects are not calls that a program makes with a key.
    ...(isForm ? [] : [{ lang: 'TypeScript', label: 'TypeScript', source: typescript(call) }]),
    ...(isForm ? [] : [{ lang: 'Python', label: 'Python', source: python(call) }]),
    ...(command === undefined ? [] : [{ lang: 'Shell', label: 'Command line', source: command }]),
    ...(tool === undefined ? [] : [{ lang: 'JSON', label: 'MCP', source: mcp(tool, call) }]),
  ]
}

export const addSamples = (document: Json): Json => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(objectAt(document, 'paths')).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item as Json).map(([method, operation]) =>
          isObject(operation)
            ? [
                method,
                { ...operation, 'x-codeSamples': samplesOf(callOf(method, path, operation), String(operation.operationId)) },
              ]
            : [method, operation],
        ),
      ),
    ]),
  ),
})
