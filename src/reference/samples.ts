import { isObject, type Json, objectAt } from '../http/openapi-walk.ts'

// The same call in each language, made from the recorded example of an operation: nothing here is written a second time.

type Call = { method: string; path: string; ids: Record<string, string>; query: string; body: unknown }
type Sample = { lang: string; label: string; source: string }

/** The tool and the command for the operations that agents and people use most. */
const others: Readonly<Record<string, { tool?: string; command?: string }>> = {
  'accounts.get': { tool: 'get_balance', command: 'payments balance' },
  'credentials.current': { tool: 'get_credential', command: 'payments whoami' },
  'request_log.list': { command: 'payments logs --follow' },
  'beneficiaries.list': { tool: 'list_beneficiaries', command: 'payments payees' },
  'beneficiaries.create': { tool: 'propose_beneficiary' },
  'policies.simulate': { tool: 'simulate_payment', command: 'payments simulate ben_… 600.00' },
  'policies.list': { command: 'payments policies' },
  'payments.create': { tool: 'create_payment', command: 'payments pay ben_… 600.00 --wait' },
  'payments.get': { tool: 'get_payment' },
  'payments.list': { tool: 'list_payments', command: 'payments payments --limit 10' },
  'payments.cancel': { tool: 'cancel_payment' },
  'payment_refusals.list': { command: 'payments refusals' },
  'payment_batches.create': { tool: 'create_payment_batch', command: 'payments batch list.csv --wait' },
  'payment_batches.get': { tool: 'get_payment_batch' },
  'approvals.list': { tool: 'list_approvals', command: 'payments approvals' },
  'mandates.list': { tool: 'list_mandates' },
  'topups.initiate': { tool: 'request_topup', command: 'payments top-up 25000.00 0712345678 --wait' },
  'topups.get': { tool: 'get_topup' },
  'notifications.list': { tool: 'list_events', command: 'payments events' },
  'notifications.stream': { command: 'payments events --follow' },
}

const parametersOf = (operation: Json, place: string): Json[] =>
  (Array.isArray(operation.parameters) ? operation.parameters : []).filter(
    (one: unknown): one is Json => isObject(one) && one.in === place && one.example !== undefined,
  )

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
  }
}

const filled = ({ path, ids }: Call): string => path.replace(/\{(\w+)\}/g, (name, key: string) => ids[key] ?? name)

const indented = (value: unknown): string => JSON.stringify(value, null, 2)

const curl = (call: Call): string =>
  [
    `curl ${call.method === 'get' ? '' : `-X ${call.method.toUpperCase()} `}"$PAYMENTS_URL${filled(call)}${call.query}"`,
    '-H "Authorization: Bearer $PAYMENTS_API_KEY"',
    ...(call.method === 'post' ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(call.body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(call.body).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ')

const typescript = ({ method, path, ids, query, body }: Call): string => {
  const input = {
    ...(Object.keys(ids).length > 0 && { path: ids }),
    ...(query !== '' && { query: Object.fromEntries(new URLSearchParams(query)) }),
    ...(body !== undefined && { body }),
  }
  const given = Object.keys(input).length === 0 ? '' : `, ${indented(input)}`
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
  const body =
    call.body === undefined ? (call.method === 'post' || call.method === 'patch' ? ', {}' : '') : `, ${pythonValue(call.body)}`
  return `import os
from payments import Payments

client = Payments(os.environ["PAYMENTS_URL"], os.environ["PAYMENTS_API_KEY"])
answer = client.${call.method}("${filled(call)}${call.query}"${body})`
}

const samplesOf = (call: Call, operation: string): Sample[] => {
  const { tool, command } = others[operation] ?? {}
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(call) },
    ...(call.method === 'put' ? [] : [{ lang: 'Python', label: 'Python', source: python(call) }]),
    ...(command === undefined ? [] : [{ lang: 'Shell', label: 'Command line', source: command }]),
    ...(tool === undefined ? [] : [{ lang: 'JSON', label: 'MCP', source: `tools/call ${tool}` }]),
  ]
}

/** A browser's pages and forms of OAuth are no calls of a program with a key. */
const isCallable = (operation: Json): boolean => {
  const content = objectAt(objectAt(operation, 'requestBody'), 'content')
  return Object.keys(content).length === 0 || 'application/json' in content
}

export const addSamples = (document: Json): Json => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(objectAt(document, 'paths')).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item as Json).map(([method, operation]) =>
          isObject(operation) && isCallable(operation)
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
