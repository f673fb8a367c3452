import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { unavailable } from '../../src/lib/errors.ts'
import { parseId } from '../../src/lib/ids.ts'
import { tools } from '../../src/mcp/tools.ts'
import type { CallOptions } from '../harness/client.ts'
import { newMcpProvider } from '../harness/mcp-provider.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { authorizeAgent } from '../harness/oauth.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { sendRaw } from '../http/raw.ts'
import { createScene } from '../payments/authority-scene.ts'
import expectedConformance from './conformance.json' with { type: 'json' }
import { connectAgent, ToolError } from './connect.ts'
import { startTokenProxy } from './token-proxy.ts'

const administrator = newWallet()
const service = await openService({ env: { ADMIN_ACCOUNTS: administrator.address } })
const person = await signIn(service.api)
await fund(service, person, 1_000_000n)
const payee = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })

const protocol = { accept: 'application/json, text/event-stream' }
const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
const toolCall = (name: string, input: object = {}) => message('tools/call', { name, arguments: input })
const send = (body: unknown, options: CallOptions = {}) =>
  service.api.post('/mcp', body, { ...options, headers: { ...protocol, ...options.headers } })
const mcpToken = async (scope: string, owner = person) =>
  (await authorizeAgent(service.api, owner, { request: { scope, resource: `${service.api.url}/mcp` } })).access

describe('an agent that a person connects by OAuth', () => {
  test('registers, gets limits from a person, pays, is denied with a reason, waits for an approval by wallet, and completes the payment', async () => {
    const provider = newMcpProvider(service.api, person, {
      decision: 'approve',
      spending_controls: { per_payment_limit_minor: '30000', approval_threshold_minor: '20000' },
    })
    const agent = await connectAgent(service.api.url, { provider })
    const [authorizationUrl] = provider.kept.authorizations
    expect(authorizationUrl?.searchParams.get('resource')).toBe(`${service.api.url}/mcp`)
    expect(provider.kept.client.client_id).toMatch(/^oac_/)

    const order = { beneficiary_id: payee, narrative: 'Groceries' }
    const small = await agent.call('create_payment', { ...order, idempotency_key: 'small', amount_minor: '5000' })
    expect(small).toMatchObject({ status: 'processing', next: 'wait' })
    const denied = await agent.call('create_payment', { ...order, idempotency_key: 'large', amount_minor: '40000' })
    expect(denied).toMatchObject({
      next: 'change_request',
      decision: { reasons: [{ rule: 'per_payment_limit', limit_minor: '30000' }] },
    })
    const held = await agent.call('create_payment', { ...order, idempotency_key: 'large', amount_minor: '25000' })
    expect(held.next).toBe('ask_a_person')

    const waiting = agent.call('get_payment', { payment_id: held.payment_id, wait_seconds: 25 })
    const { body } = await service.api.get(`/v1/approvals/${held.approval.id}/message?decision=approve`)
    const signature = await person.wallet.signMessage({ message: body.message })
    const decided = await service.api.post(`/v1/approvals/${held.approval.id}/decide-by-signature`, {
      decision: 'approve',
      signature,
    })
    expect(decided.status).toBe(200)
    await service.settle()
    expect(await waiting).toMatchObject({ status: 'succeeded', next: 'done', receipt: expect.any(String) })
    await agent.close()
  })

  test('learns from the metadata of this resource which server authorizes, and from the first 401 where the metadata is', async () => {
    const metadata = await service.api.get('/.well-known/oauth-protected-resource/mcp')
    expect(metadata.body).toMatchObject({
      resource: `${service.api.url}/mcp`,
      authorization_servers: [service.api.url],
      scopes_supported: expect.arrayContaining(['payment.create', 'account.read']),
    })
    expect(metadata.body.scopes_supported).not.toContain('key.manage')
    const answer = await send(message('tools/list'))
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${service.api.url}/.well-known/oauth-protected-resource/mcp"`,
    )
  })

  test('learns from 403 which scope a tool needs besides those that it has', async () => {
    const bearer = await mcpToken('payment.read')
    const answer = await send(toolCall('create_payment', {}), { bearer })
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ error: 'forbidden', details: { required_permission: 'payment.create' } })
    const challenge = answer.headers.get('www-authenticate')
    expect(challenge).toContain('error="insufficient_scope"')
    expect(challenge).toContain('scope="payment.create payment.read"')
    expect((await send([toolCall('get_payment'), toolCall('create_payment')], { bearer })).status).toBe(403)
    expect((await send(toolCall('list_payments'), { bearer })).status).toBe(200)
  })

  test('has a token for this server alone where it named this server, and one for the API opens both', async () => {
    const bearer = await mcpToken('payment.read account.read')
    expect((await send(toolCall('get_balance'), { bearer })).status).toBe(200)
    expect((await service.api.get('/v1/accounts/me', { bearer })).body.error).toBe('invalid_token')
    const { access } = await authorizeAgent(service.api, person)
    expect((await send(toolCall('get_balance'), { bearer: access })).status).toBe(200)
  })

  test('is stopped in the middle of a wait when its access is revoked', async () => {
    const agent = await authorizeAgent(service.api, person, {
      request: { scope: 'payment.read', resource: `${service.api.url}/mcp` },
    })
    const made = await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '1000' })
    const connected = await connectAgent(service.api.url, { bearer: agent.access })
    const waiting = connected.call('get_payment', { payment_id: made.body.id, wait_seconds: 30 }).catch((error: unknown) => error)
    const { data } = (await person.api.get('/v1/accounts/me/grants')).body
    await person.api.delete(`/v1/accounts/me/grants/${data[0].id}`)
    const error = await waiting
    if (!(error instanceof ToolError)) throw new Error(`it went on: ${JSON.stringify(error)}`)
    expect(error.envelope.refusal.code).toBe('invalid_token')
    await connected.close()
  })
})

test('a payment whose credential ends during the wait is reported as made, never as refused', async () => {
  const { key, grantId } = await createKey(person)
  const agent = await connectAgent(service.api.url, { bearer: key })
  const input = { idempotency_key: 'long', beneficiary_id: payee, amount_minor: '1700', wait_seconds: 50 }
  const waiting = agent.call('create_payment', input)
  const made = async () => (await person.api.get('/v1/payments?idempotency_key=long')).body.data
  for (let tries = 0; (await made()).length === 0; tries += 1) if (tries === 1_000) throw new Error(JSON.stringify(await waiting))
  await person.api.delete(`/v1/accounts/me/grants/${grantId}`)
  const [payment] = await made()
  expect(await waiting).toMatchObject({ status: 'processing', payment_id: payment.id, next: 'wait' })
  await agent.close()
})

test('a payment is reported as made although the database fails during the wait for its end', async () => {
  const { key } = await createKey(person)
  const agent = await connectAgent(service.api.url, { bearer: key })
  const input = { idempotency_key: 'cut off', beneficiary_id: payee, amount_minor: '1800', wait_seconds: 1 }
  const { db } = service.deps
  const { run } = db
  let failures = 0
  db.run = ((query: Parameters<typeof run>[0], values: never) => {
    const { statement } = query.variant(values, false)
    if (typeof statement === 'string' || statement.name !== 'payments.by_id') return run(query, values)
    failures += 1
    throw unavailable({ shortage: 'database' })
  }) as typeof run
  const answer = await agent.call('create_payment', input)
  db.run = run
  expect(failures).toBeGreaterThan(0)
  const [payment] = (await person.api.get('/v1/payments?idempotency_key=cut%20off')).body.data
  expect(answer).toMatchObject({ status: 'processing', payment_id: payment.id, next: 'wait' })
  await agent.close()
})

test('a bug in a tool is logged, and its message does not reach the model', async () => {
  const { key } = await createKey(person)
  const agent = await connectAgent(service.api.url, { bearer: key })
  const tool = tools.find(({ name }) => name === 'get_balance')
  if (!tool) throw new Error('there is no such tool')
  vi.spyOn(tool, 'run').mockRejectedValueOnce(new TypeError('a detail of the code'))
  const error = await agent.call('get_balance').catch((failure: unknown) => failure)
  if (!(error instanceof ToolError)) throw new Error('it was answered')
  expect(error.envelope).toMatchObject({ status: 'refused', next: 'wait', refusal: { code: 'internal_error' } })
  expect(error.message).not.toContain('a detail of the code')
  const [, requestId] = /Request ID: ([\w-]+)\./.exec(error.message) ?? []
  const logged = service.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'an MCP tool failed')
  expect(logged).toMatchObject({ requestId, level: 50 })
  await agent.close()
})

describe('what is refused', () => {
  test('no credential, a session cookie, a dashboard token, a revoked key', async () => {
    const { token } = (await person.api.post('/v1/auth/dashboard-tokens')).body
    const key = await createKey(person)
    await person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)
    const callers: CallOptions[] = [{}, { cookie: person.cookie }, { bearer: token }, { bearer: key.key }]
    const errors = await Promise.all(callers.map(async (options) => (await send(message('tools/list'), options)).body.error))
    expect(errors).toEqual(['authentication_required', 'authentication_required', 'invalid_token', 'api_key_revoked'])
  })

  test('host names that merely resolve to this address', async () => {
    const { key: bearer } = await createKey(person)
    const elsewhere = await service.http.inject({
      method: 'POST',
      url: '/mcp',
      headers: { host: 'rebound.example', authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...protocol },
      payload: JSON.stringify(message('tools/list')),
    })
    expect([elsewhere.statusCode, elsewhere.json().error]).toEqual([403, 'forbidden'])
  })

  test('a request without a credential after a tool’s call on the same connection', async () => {
    const { key } = await createKey(person)
    const call = JSON.stringify(toolCall('get_balance'))
    const first = [
      'POST /mcp HTTP/1.1',
      `Host: ${new URL(service.api.url).host}`,
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Accept: ${protocol.accept}`,
      `Content-Length: ${call.length}`,
    ]
    const answers = await sendRaw(service.api.url, [`${first.join('\r\n')}\r\n\r\n${call}GET /v1/accounts/me HTTP/1.1`])
    expect(answers.text).toContain('available_minor')
    expect(answers.text).toMatch(/HTTP\/1\.1 401 [\s\S]*authentication_required/)
  })

  test('a header that claims to be an internal call', async () => {
    const names = ['x-acting-for', 'x-internal', 'x-principal', 'x-forwarded-user']
    const answer = await service.api.get('/v1/accounts/me', {
      headers: Object.fromEntries(names.map((name) => [name, person.accountId])),
    })
    expect(answer.status).toBe(401)
  })
})

test('an agent of a frozen account reads, cancels and gets its earlier answers again, and makes nothing new', async () => {
  const owner = await signIn(service.api)
  await fund(service, owner, 100_000n)
  const beneficiary_id = await newBeneficiary(owner.api)
  const { key: bearer } = await createKey(owner, { spending_controls: { approval_threshold_minor: '2000' } })
  const agent = await connectAgent(service.api.url, { bearer })
  const pay = (idempotency_key: string, amount_minor: string) =>
    agent.call('create_payment', { idempotency_key, beneficiary_id, amount_minor })
  const held = await pay('held', '3000')
  const paid = await pay('paid', '1000')
  const scene = createScene(() => service, administrator)
  await scene.administer(owner, { status: 'frozen' })
  expect((await agent.call('list_payments')).payments).toHaveLength(2)
  expect((await pay('paid', '1000')).payment_id).toBe(paid.payment_id)
  expect(await pay('new', '1500')).toMatchObject({ status: 'refused', refusal: { code: 'account_frozen' } })
  const topup = agent.call('request_topup', { idempotency_key: 'new', amount_minor: '10000', phone_number: '0712345678' })
  await expect(topup).rejects.toMatchObject({ envelope: { refusal: { code: 'account_frozen' } } })
  expect(await agent.call('cancel_payment', { payment_id: held.payment_id })).toMatchObject({ status: 'cancelled' })
  await agent.close()
})

test('a call counts once against the caller’s rate limit, with all its internal calls, and a refusal has Retry-After', async () => {
  const busy = await startService({ database: service.database, clock: service.clock, env: { RATE_LIMIT_PER_MINUTE: '3' } })
  try {
    const { key: bearer } = await createKey(person)
    const made = await person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '1000' })
    const call = toolCall('get_payment', { payment_id: made.body.id, wait_seconds: 1 })
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn += 1)
      statuses.push((await busy.api.post('/mcp', call, { bearer, headers: protocol })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  } finally {
    await busy.close()
  }
})

test("an agent's acts are in the audit log with its grant and the id of its request", async () => {
  const key = await createKey(person, { spending_controls: { per_payment_limit_minor: '1000' } })
  const answer = await send(toolCall('create_payment', { idempotency_key: 'k', beneficiary_id: payee, amount_minor: '2000' }), {
    bearer: key.key,
  })
  const id = answer.headers.get('x-request-id')
  const { rows } = await service.deps.db.pool.query(
    'select action, credential_kind from audit_log where request_id = $1 and grant_id = $2',
    [id, parseId('grant', key.grantId)],
  )
  expect(rows).toEqual([{ action: 'payment.denied', credential_kind: 'api_key' }])
})

/** The protocol's own conformance runner, through a proxy that adds a key to its requests: it sends none itself. */
describe('the conformance runner finds what conformance.json says', () => {
  const runner = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url))
  const { applies, in_part: partly, does_not_apply: others } = expectedConformance
  const cases = [
    ...applies.map(([name = '', version = '', passed = '']) => [name, version, passed, ''] as const),
    ...partly.map(({ scenario, version, passed, failing }) => [scenario, version, passed, failing.join(', ')] as const),
  ]
  const printed = new Map<string, string>()
  beforeAll(async () => {
    const proxy = await startTokenProxy(service.api.url, (await createKey(person)).key)
    const checking = cases.map(([name, version]) => [
      ...['server', '--url', `${proxy.url}/mcp`],
      ...['--scenario', name, '--spec-version', version],
    ])
    const commands = [['list', '--server'], ...checking]
    const program = [fileURLToPath(new URL('conformance.ts', import.meta.url)), runner, JSON.stringify(commands)]
    const { stdout } = await promisify(execFile)(process.execPath, program).finally(proxy.close)
    const outputs: string[] = JSON.parse(stdout)
    for (const [index, command] of commands.entries()) printed.set(command.join(' ').replace(proxy.url, ''), outputs[index] ?? '')
  })

  test.each(cases)('%s (%s)', async (name, version, passed, failing) => {
    const output = printed.get(`server --url /mcp --scenario ${name} --spec-version ${version}`) ?? ''
    const [, good, all] = /Passed: (\d+)\/(\d+), \d+ failed/.exec(output) ?? []
    expect(`${good} of ${all}`, output).toBe(passed)
    const failed = [...output.matchAll(/^ {2}- (\w+): /gm)].map(([, check]) => check)
    expect(failed.toSorted().join(', '), output).toBe(failing)
  })

  test('every scenario of the runner is in that file', async () => {
    const known = [...(printed.get('list --server') ?? '').matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name)
    const named = [...cases.map(([name]) => name), ...others.flatMap(({ scenarios }) => scenarios)]
    expect([...new Set(named)].toSorted()).toEqual(known.toSorted())
    expect(applies.every(([, , passed = '']) => /^([1-9]\d*) of \1$/.test(passed))).toBe(true)
    expect(cases).toHaveLength(12)
  })
})
