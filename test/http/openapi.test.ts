import { readFileSync } from 'node:fs'
import { validate } from '@scalar/openapi-parser'
import { expect, test } from 'vitest'
import { commands } from '../../client/src/cli/commands.ts'
import { allowsNull, words, wordsOfRequests } from '../../scripts/docs/glossary.ts'
import { errorCodes, errorRow } from '../../src/errors/catalogue.ts'
import { undeclaredDetails } from '../../src/http/error-details.ts'
import { tools } from '../../src/mcp/tools.ts'
import type { Json } from '../harness/client.ts'
import { resolveParts } from '../harness/document.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const served = await service.api.get('/openapi.json')
const document = resolveParts(served.body)

type Operation = { method: string; path: string; operation: Json }

const operations = (): Operation[] =>
  Object.entries<Record<string, Json>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  )

/** Pages of a browser's redirects, and the protocol for agents, are served, but are not part of the API. */
const operationsOfTheApi = () => service.routes.filter(({ path }) => !path.startsWith('/link/') && path !== '/mcp')

/** The contract's table of codes, section 7: the promise to integrators, duplicated on purpose. */
const promised: Record<number, string[]> = {
  400: ['invalid_request', 'invalid_cursor'],
  401: [
    'authentication_required',
    'invalid_token',
    'token_expired',
    'api_key_revoked',
    'api_key_expired',
    'session_revoked',
    'invalid_signature',
  ],
  402: ['insufficient_funds'],
  403: [
    'forbidden',
    'admin_required',
    'workspace_frozen',
    'grant_frozen',
    'beneficiary_frozen',
    'membership_suspended',
    'account_frozen',
    'capability_disabled',
    'policy_denied',
    'separation_of_duties',
    'csrf_rejected',
    'step_up_required',
  ],
  404: ['not_found'],
  409: ['conflict', 'last_identity', 'last_owner'],
  405: ['method_not_allowed'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  429: ['rate_limited'],
  500: ['internal_error'],
  502: ['provider_error'],
  503: ['provider_not_configured', 'unavailable'],
}

const byStatus = (pairs: readonly (readonly [code: string, status: number])[]) =>
  [...new Set(pairs.map(([code, status]) => `${status} ${code}`))].sort()

test('the codes are exactly those of the contract', () => {
  const contract = Object.entries(promised).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)] as const))
  const ours = errorCodes.map((code) => [code, errorRow(code).status] as const)
  expect(byStatus(ours)).toEqual(byStatus(contract))
})

test('every code is in the document with its status, and the document has no other', () => {
  const described = operations().flatMap(({ operation }) =>
    Object.entries<Json>(operation.responses).flatMap(([status, response]) =>
      // OAuth's endpoints have their RFCs' codes, and a shape for both.
      response.content?.['application/json']?.schema?.$ref !== '#/components/schemas/Error'
        ? []
        : [...String(response.description).matchAll(/`([a-z_]+)`/g)].map((match) => [match[1] ?? '', Number(status)] as const),
    ),
  )
  const ours = errorCodes
    // A wrong method reaches no operation.
    .filter((code) => code !== 'method_not_allowed')
    .map((code) => [code, errorRow(code).status] as const)
  expect(byStatus(described)).toEqual(byStatus(ours))
  expect(document.components.schemas.ErrorCode.enum).toEqual(errorCodes)
})

test('the guide for integrators explains every code with its status, and no other', () => {
  const guide = readFileSync(new URL('../../docs/integrating.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| ([\d, ]+)\|([^|]+)\|/gm)].filter(([, statuses]) => /[45]\d\d/.test(statuses ?? ''))
  const explained = rows.flatMap(([, , cell]) => [...(cell ?? '').matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? ''))
  const statuses = rows.flatMap(([, cell]) => (cell ?? '').match(/\d{3}/g) ?? []).map(Number)
  expect([...new Set(explained)].sort()).toEqual([...errorCodes].sort())
  expect([...new Set(statuses)].sort()).toEqual([...new Set(errorCodes.map((code) => errorRow(code).status))].sort())
})

test('the document is valid OpenAPI 3.1, of at most 1 MB', async () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(Buffer.byteLength(served.text)).toBeLessThan(1_000_000)
  const result = await validate(served.body)
  expect(result.errors).toEqual([])
  expect(result.valid).toBe(true)
})

test('every operation that may act in a workspace has the header Workspace-Id, and no other', () => {
  const named = operations()
    .filter(({ operation }) => operation.parameters?.some(({ name }: Json) => name === 'Workspace-Id'))
    .map(({ operation }) => operation.operationId)
  const acting = operationsOfTheApi().filter(({ rule }) => rule !== 'public' && rule !== 'admin')
  expect(named.sort()).toEqual(acting.map(({ operation }) => operation).sort())
  expect(named).toContain('workspaces.current')
})

test('it lists the operations that the service has, and none of the private listener', () => {
  const listed = operations().map(({ method, path, operation }) => `${method.toUpperCase()} ${path} ${operation.operationId}`)
  const served = operationsOfTheApi().map(
    ({ method, path, operation }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')} ${operation}`,
  )
  expect(listed.sort()).toEqual(served.sort())
  expect(listed.length).toBeGreaterThan(80)
  expect(listed.filter((line) => /callback/.test(line) && !/auth\/(google|github)/.test(line))).toEqual([])
})

test('every operation has a name, a group, a description and answers: a successful one, and every refusal in the envelope', () => {
  for (const { method, path, operation } of operations()) {
    const at = `${method} ${path}`
    expect([at, typeof operation.operationId, operation.tags?.length, operation.description !== '']).toEqual([
      at,
      'string',
      1,
      true,
    ])
    const statuses = Object.keys(operation.responses)
    expect([at, statuses.some((status) => /^[23]/.test(status)), statuses.includes('429'), statuses.includes('500')]).toEqual([
      at,
      true,
      true,
      true,
    ])
    for (const [status, response] of Object.entries<Json>(operation.responses)) {
      expect([at, status, response.description]).not.toEqual([at, status, 'Default Response'])
      const schema = response.content?.['application/json']?.schema
      if (Number(status) >= 400)
        expect([at, status, schema?.$ref]).toEqual([at, status, expect.stringMatching(/\/(OAuth)?Error$/)])
    }
  }
})

test('an operation declares what it needs: a credential, the permission, the headers that it reads', () => {
  const byId = new Map(operations().map(({ operation }) => [operation.operationId, operation]))
  for (const route of operationsOfTheApi()) {
    const operation = byId.get(route.operation)
    const headers = (operation.parameters ?? [])
      .filter((parameter: Json) => parameter.in === 'header')
      .map((parameter: Json) => parameter.name)
    expect([route.operation, headers.includes('Idempotency-Key')]).toEqual([route.operation, route.idempotent])
    if (route.access === 'public') expect([route.operation, operation.security]).toEqual([route.operation, []])
    else expect([route.operation, Object.keys(operation.responses)]).toEqual([route.operation, expect.arrayContaining(['401'])])
  }
})

const schemasOf = function* (node: Json, at = ''): Generator<[at: string, schema: Json]> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, schema] of Object.entries<Json>(node.properties ?? {})) yield [`${at}.${name}`, schema]
  for (const [name, entry] of Object.entries<Json>(node)) yield* schemasOf(entry, `${at}/${name}`)
}

const alternatives = (schema: Json): Json[] =>
  (schema.anyOf ?? schema.oneOf ?? [schema]).flatMap((part: Json) => (part === schema ? [part] : alternatives(part)))

test('money is a string of digits everywhere', () => {
  const amounts = [...schemasOf(document)].filter(([at]) => at.endsWith('_minor'))
  expect(amounts.length).toBeGreaterThan(60)
  for (const [at, schema] of amounts) {
    for (const part of alternatives(schema).filter(({ type }) => type !== 'null')) {
      expect([at, part.type, part.pattern]).toEqual([at, 'string', expect.stringMatching(/^\^(-\?)?\(0\|\[1-9\]/)])
    }
  }
})

test('times are dates with a zone, and ids have the prefix of their type', () => {
  const times = [...schemasOf(document.components.schemas)].filter(([at]) => at.endsWith('_at'))
  expect(times.length).toBeGreaterThan(30)
  for (const [at, schema] of times) {
    const formats = alternatives(schema).filter(({ type }) => type === 'string')
    expect([at, formats.map(({ format }) => format)]).toEqual([at, formats.map(() => 'date-time')])
  }
})

test('an answer may get new fields without breaking a client that was generated from the document', () => {
  const closed = ['Account', 'Payment', 'Event', 'Decision'].filter((name) =>
    JSON.stringify(document.components.schemas[name]).includes('"additionalProperties":false'),
  )
  expect(closed).toEqual([])
  expect(document.components.schemas.CreatePayment.additionalProperties).toBe(false)
})

test('no two parameters of an operation have the same name in a generated client', () => {
  const same: string[] = []
  for (const { operation } of operations()) {
    const names = (operation.parameters ?? []).map(({ name }: Json) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    if (new Set(names).size < names.length) same.push(operation.operationId)
  }
  expect(same).toEqual([])
})

/** Names of types in a generated client: those of parts, and those of operations. */
const faultsOfNames = (whole: Json): string[] => {
  const ids = Object.values<Json>(whole.paths).flatMap((item) => Object.values<Json>(item).map(({ operationId }) => operationId))
  const parts = ['schemas', 'parameters', 'responses', 'headers'].map((kind) => Object.keys(whole.components[kind]))
  const collisions = [ids, parts.flat()].flatMap((names) =>
    [...Map.groupBy(names, (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')).values()].filter(
      ({ length }) => length > 1,
    ),
  )
  const numbered = parts.flat().filter((name) => /\d/.test(name) && !/^[A-Za-z]*Refusal[45]\d\d$/.test(name))
  return [...collisions.map((names) => names.join(' = ')), ...numbered]
}

test('every name is unique without regard to case and signs, and none is numbered', () => {
  expect(faultsOfNames(served.body)).toEqual([])
  const planted = structuredClone(served.body)
  planted.components.parameters.workspace_id_header = {}
  planted.components.responses.Refusal403_2 = {}
  expect(faultsOfNames(planted)).toEqual(['WorkspaceIdHeader = workspace_id_header', 'Refusal403_2'])
})

test('an operation names its codes where they are not the usual ones of that status', () => {
  const { responses } = served.body.paths['/v1/payments'].post
  expect(responses['429']).toEqual({ $ref: '#/components/responses/Refusal429' })
  expect(responses['403'].description).toContain('`policy_denied`')
  expect(served.body.components.responses.Refusal403.description).toContain('`policy_denied`: ')
})

test('every answer has a declared content type, also the pages that a browser gets', async () => {
  const headers = { accept: 'text/html' }
  const asked = [
    '/v1/oauth/authorize?client_id=nobody',
    '/v1/auth/google/callback?state=x&code=y',
    '/v1/auth/github/callback?state=x&code=y',
    '/v1/auth/google/start?return_to=https://evil.example',
    '/v1/payments',
    '/v1/payments/nonsense',
  ]
  for (const path of asked) {
    const answer = await service.api.get(path, { headers })
    const [, template = ''] = /^([^?]*)/.exec(path.replace('nonsense', '{id}')) ?? []
    const declared = Object.keys(document.paths[template].get.responses[answer.status]?.content ?? {})
    expect([path, declared]).toEqual([path, expect.arrayContaining([answer.headers.get('content-type')?.split(';')[0]])])
  }
})

/** Every property of a schema and every parameter of an operation, with its location. */
const described = (node: unknown, at: string): [string, Json][] => {
  if (typeof node !== 'object' || node === null) return []
  const { properties, parameters } = node as Json
  const own: [string, Json][] = [
    ...Object.entries(typeof properties === 'object' && properties !== null ? (properties as Json) : {}),
    ...(Array.isArray(parameters) ? parameters : []).map((one: Json): [string, Json] => [`?${one.name}`, one]),
  ]
  return [
    ...own.map(([name, schema]): [string, Json] => [`${at}.${name}`, schema]),
    ...Object.entries(node).flatMap(([key, value]) =>
      key === 'example' ? [] : described(value, key === 'properties' ? at : `${at}/${key}`),
    ),
  ]
}
const undescribed = (whole: Json): string[] =>
  described({ paths: whole.paths, schemas: whole.components.schemas }, '').flatMap(([at, schema]) => {
    const named =
      String(schema.$ref ?? '')
        .split('/')
        .at(-1) ?? ''
    return (schema.description ?? whole.components.schemas[named]?.description) ? [] : [at]
  })

test('every property and every parameter is described', () => {
  expect(undescribed(document)).toEqual([])
  // This proves that the check finds an undescribed one.
  const schemas = { ...document.components.schemas, Planted: { type: 'object', properties: { mystery: { type: 'string' } } } }
  expect(undescribed({ ...document, components: { ...document.components, schemas } })).toEqual(['/schemas/Planted.mystery'])
})

/** Properties whose description promises a null that their schema does not allow. These two say when other fields are null. */
const ofOtherFields = ['totals_pending', 'spending_controls']
const impossibleNulls = (schemas: Json): string[] =>
  described({ paths: document.paths, schemas }, '').flatMap(([at, schema]) =>
    /\bnull\b/i.test(schema.description ?? '') &&
    !allowsNull(schema.schema ?? schema, schemas) &&
    !ofOtherFields.some((name) => at.endsWith(`.${name}`))
      ? [at]
      : [],
  )

test('a description mentions null only if the schema allows it', () => {
  const { schemas } = document.components
  expect(impossibleNulls(schemas)).toEqual([])
  const planted = { type: 'object', properties: { batch_id: { type: 'string', description: 'The batch; null if none.' } } }
  expect(impossibleNulls({ ...schemas, Planted: planted })).toEqual(['/schemas/Planted.batch_id'])
})

test('the lists of a policy are described alike in requests and answers: they select payments', () => {
  const { CreateSpendingPolicy, SpendingPolicy, SpendingPolicyTerms } = document.components.schemas
  for (const list of ['payment_types', 'beneficiary_ids', 'approver_ids'])
    for (const { properties } of [SpendingPolicy, SpendingPolicyTerms])
      expect(properties[list].description).toBe(CreateSpendingPolicy.properties[list].description)
})

type Use = { word: string; type: string; isRequest: boolean }

/** Each property that has the words of a bare name, with its JSON type. A schema of requests and answers counts as a request's. */
const usesOfBareNames = ({ paths, components: { schemas } }: Json): Use[] => {
  const targetOf = (schema: Json): string =>
    String(schema.$ref ?? '')
      .split('/')
      .at(-1) ?? ''
  const typesOf = (schema: Json): string[] => {
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
    if (schema.$ref) return typesOf(schemas[targetOf(schema)])
    return choices ? choices.flatMap(typesOf) : [schema.type ?? []].flat().filter((type) => type !== 'null')
  }
  const uses = new Map<string, Use>()
  const seen = new Set<string>()
  const visit = (node: unknown, isRequest: boolean, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    const target = targetOf(node as Json)
    if (target in schemas && !seen.has(target)) {
      seen.add(target)
      visit(schemas[target], isRequest, target)
    }
    for (const [name, schema] of Object.entries<Json>((node as Json).properties ?? {})) {
      const { [name]: text = 'no text' } = words
      const isBare = [text, text.replace(/; null [^.]*/, '')].includes(schema.description)
      const type = [...new Set(typesOf(schema))].sort().join(' or ')
      if (isBare && type !== '') uses.set(`${at}.${name} ${type}`, { word: name, type, isRequest })
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'example') visit(value, isRequest, `${at}/${key}`)
  }
  const all = Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item))
  for (const { requestBody } of all) visit(requestBody, true, 'body')
  for (const { responses } of all) visit(responses, false, 'answer')
  visit(schemas, false, 'schemas')
  return [...uses.values()]
}
const severalTypes = (uses: readonly Use[]): string[] =>
  Object.entries(Object.groupBy(uses, ({ word }) => word))
    .filter(([, same = []]) => new Set(same.map(({ type }) => type)).size > 1)
    .map(([word]) => word)

test('a bare name of the glossary describes values of one JSON type, and requests only where it is meant for them', () => {
  const uses = usesOfBareNames(document)
  expect(severalTypes(uses)).toEqual([])
  const asked = new Set(uses.filter(({ isRequest }) => isRequest).map(({ word }) => word))
  expect([...asked].sort()).toEqual([...wordsOfRequests].sort())
  const planted = { type: 'object', properties: { currency: { type: 'boolean', description: words.currency } } }
  const { schemas } = document.components
  const whole = { ...document, components: { ...document.components, schemas: { ...schemas, Planted: planted } } }
  expect(severalTypes(usesOfBareNames(whole))).toEqual(['currency'])
})

test('the glossary has no word that describes nothing', () => {
  const texts = new Set(
    described({ paths: document.paths, schemas: document.components.schemas }, '').map(
      ([at, { description }]) => `${at.split(/[.?]/).at(-1)}: ${description}`,
    ),
  )
  const isUsed = ([word, text]: [string, string]) =>
    [text, text.replace(/; null [^.]*/, '')].some((one) => texts.has(`${word.split('.').at(-1)}: ${one}`))
  expect(Object.entries(words).filter((row) => !isUsed(row))).toEqual([])
})

test('a form has texts and lists of texts alone: generators of clients can encode nothing else', () => {
  const forms = operations().flatMap(({ operation }) => {
    const { $ref = '' } = operation.requestBody?.content?.['application/x-www-form-urlencoded']?.schema ?? {}
    return document.components.schemas[String($ref).split('/').at(-1) ?? ''] ?? []
  })
  expect(forms).toHaveLength(5)
  for (const { properties } of forms)
    for (const [name, { type, items }] of Object.entries<Json>(properties))
      expect([name, type === 'array' ? items.type : type]).toEqual([name, 'string'])
})

test('every list in a body has a greatest number of entries: each of them costs time', () => {
  const unbounded: string[] = []
  const visit = (schema: Json, at: string, open: readonly string[] = []): void => {
    const name = schema?.$ref?.split('/').at(-1)
    if (name !== undefined && !open.includes(name)) visit(document.components.schemas[name], name, [...open, name])
    if (typeof schema !== 'object' || schema === null) return
    if (schema.type === 'array' && schema.maxItems === undefined) unbounded.push(at)
    const inner = [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
    for (const each of inner) visit(each, at, open)
    for (const [field, each] of Object.entries<Json>(schema.properties ?? {})) visit(each, `${at}.${field}`, open)
  }
  for (const { method, path, operation } of operations())
    for (const { schema } of Object.values<Json>(operation.requestBody?.content ?? {})) visit(schema, `${method} ${path}`)
  expect([...new Set(unbounded)]).toEqual([])
})

const samplesOf = ({ operation }: Operation): { label: string; source: string }[] => operation['x-codeSamples']

test('every operation is shown in curl, those of programs in TypeScript and Python, and those for agents and shells there too', () => {
  const labelsOf = (id: string) =>
    operations().flatMap((each) => (each.operation.operationId === id ? samplesOf(each).map(({ label }) => label) : []))
  expect(labelsOf('payments.create')).toEqual(['curl', 'TypeScript', 'Python', 'Command line', 'MCP'])
  expect(labelsOf('oauth.token')).toEqual(['curl'])
  for (const each of operations()) {
    const { operation } = each
    const labels = samplesOf(each).map(({ label }) => label)
    const isForm = operation.requestBody?.content?.['application/x-www-form-urlencoded'] !== undefined
    const expected = ['curl', ...(isForm ? [] : ['TypeScript', 'Python'])]
    expect([operation.operationId, labels.slice(0, expected.length)]).toEqual([operation.operationId, expected])
    for (const { source } of samplesOf(each))
      expect([operation.operationId, source]).toEqual([operation.operationId, expect.not.stringMatching(/undefined|\[object/)])
  }
})

test('each tool is shown at its operation with arguments that it takes, and each command that is shown exists', () => {
  const shown = operations().flatMap((each) =>
    samplesOf(each).map((sample) => ({ ...sample, operation: String(each.operation.operationId) })),
  )
  const calls = shown
    .filter(({ label }) => label === 'MCP')
    .map(({ source, operation }) => ({ operation, ...JSON.parse(source) }) as Json)
  for (const { name, arguments: input, operation } of calls) {
    const tool = tools.find((one) => one.name === name)
    expect([name, tool?.operation ?? operation]).toEqual([name, operation])
    expect([name, tool?.input.safeParse(input).error?.issues]).toEqual([name, undefined])
  }
  expect(calls.map(({ name }) => name).toSorted()).toEqual(tools.map(({ name }) => name).toSorted())
  for (const { source } of shown.filter(({ label }) => label === 'Command line'))
    expect(commands).toHaveProperty([source.split(' ')[1] ?? ''])
})

test('a name in the details of a refusal that the document does not have is found', () => {
  expect(undeclaredDetails({ reason: 'status', status: 'failed', forgotten: 1 })).toEqual(['forgotten'])
  expect(undeclaredDetails(undefined)).toEqual([])
})
