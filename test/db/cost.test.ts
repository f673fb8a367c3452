import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LoadRequest } from '../bench/connection.ts'
import { type Operation, operationsOf, type Scene } from '../bench/operation-list.ts'
import { type Answer, createClient } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { type Sent, sentDuring } from '../harness/sent.ts'
import { startService, type TestService } from '../harness/service.ts'

let service: TestService
let person: Person
let scene: Scene
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  const { api, cookie } = person
  await credit(service, person.accountId, 100_000_000n)
  const [beneficiary, asking, renamed] = [await newBeneficiary(api), await newBeneficiary(api), await newBeneficiary(api)]
  await api.post('/v1/spending-policies', { name: 'Limit', daily_limit_minor: '90000000' })
  const policy = await api.post('/v1/spending-policies', {
    name: 'Ask',
    approval_threshold_minor: '1',
    beneficiary_ids: [asking],
  })
  const permissions = (await api.post('/v1/accounts/me/api-keys', { name: 'Plain' })).body.permissions as string[]
  const further = ['grant.manage', 'workspace.manage', 'policy.manage', 'mandate.manage', 'approval.decide']
  const key = await createKey(person, { permissions: [...permissions, ...further] })
  const spare = await createKey(person)
  const payment = await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
  const waiting = await api.post('/v1/payments', { beneficiary_id: asking, amount_minor: '10000' })
  const topup = await api.post('/v1/topups/initiate', { amount_minor: '10000', phone_number: '254722000001' })
  const dashboard = await api.post('/v1/auth/dashboard-tokens')
  scene = {
    key: key.key,
    session: cookie,
    'access token': key.key,
    'dashboard token': dashboard.body.token,
    admin: '',
    client: '',
    accounts: person.accountId,
    address: person.wallet.address,
    workspace: policy.body.workspace_id,
    grants: spare.grantId,
    'api-keys': spare.id,
    invitations: '',
    beneficiaries: beneficiary,
    asking,
    renamed,
    'spending-policies': policy.body.id,
    payments: payment.body.id,
    approvals: waiting.body.approval_id,
    'payment-batches': '',
    topups: topup.body.id,
  }
})
afterAll(() => service.close())

let serial = 95_000_000

/** The scene of an operation. An operation that uses something up gets a scene of its own. */
const sceneFor = async ({ uses }: Operation): Promise<Scene> =>
  uses ? { ...scene, ...uses.take((await send(uses.request(scene))).body) } : scene

/** Sends a request with only the service's own statements. */
const send = async ({ method, path, credential = '', body, accept }: LoadRequest): Promise<Answer> => {
  const api = createClient(
    service.api.url,
    credential.startsWith('cookie ') ? { cookie: credential.slice(7) } : { bearer: credential },
  )
  serial += 1
  const raw = body === undefined ? undefined : JSON.stringify(body).replaceAll('{n}', String(serial))
  const answer = await api.call(method, path, { ...(raw !== undefined && { raw }), ...(accept && { headers: { accept } }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer
}

const sentFor = async (operation: Operation): Promise<Sent> => {
  const request = operation.request(await sceneFor(operation))
  return sentDuring(async () => {
    await send(request)
  })
}

/** How many statements an operation sends, and in how many trips, its credential's lookup included. */
type Cost = readonly [statements: number, trips: number]

/** The maximum per operation: one trip more than measured if separate answers may cost one. A cheaper change lowers it here. */
const most: Readonly<Record<string, Cost>> = {
  'accounts.get': [4, 2],
  'accounts.update': [9, 6],
  'accounts.history': [3, 3],
  // One of these three statements reads the workspace's earlier zones, because past days never change.
  'accounts.history_summary': [3, 3],
  'accounts.statement': [4, 4],
  'workspaces.statement': [4, 4],
  'credentials.current': [3, 2],
  'grants.list': [3, 3],
  'grants.get': [3, 3],
  'grants.update': [10, 7],
  'api_keys.create': [12, 5],
  'api_keys.list': [3, 3],
  'api_keys.get': [3, 3],
  'api_keys.update': [10, 7],
  'identities.list': [2, 2],
  'passkeys.list': [2, 2],
  // The third reads whether the account is an administrator's, whose sessions end earlier.
  'sessions.list': [3, 3],
  'workspaces.list': [3, 3],
  'workspaces.current': [2, 2],
  'workspaces.update': [9, 6],
  'workspaces.audit_log': [3, 3],
  'members.list': [2, 2],
  'workspace_grants.list': [3, 3],
  'beneficiaries.create': [11, 7],
  'beneficiaries.list': [2, 2],
  'beneficiaries.get': [2, 2],
  'beneficiaries.update': [9, 5],
  'beneficiaries.payments': [3, 3],
  'policies.list': [3, 3],
  'policies.get': [3, 2],
  'policies.simulate': [4, 2],
  // The list reads its events in parts.
  'notifications.list': [8, 6],
  'payments.create': [17, 7],
  'payments.list': [2, 2],
  'payments.summary': [3, 3],
  'payments.attention': [8, 3],
  'payments.get': [2, 2],
  'payments.receipt': [8, 4],
  'payments.cancel': [15, 7],
  'approvals.list': [6, 4],
  // The request records the reader.
  'approvals.get': [9, 5],
  'approvals.message': [3, 2],
  'approvals.decide': [14, 8],
  'mandates.list': [2, 2],
  'topups.initiate': [9, 5],
  'topups.get': [2, 2],
  'mcp.call, tools/list': [1, 1],
  'mcp.call, get_topup': [2, 2],
  'mcp.call, get_payment': [4, 4],
}

const within = ([statements, trips]: Cost, limit: Cost | undefined): boolean =>
  limit !== undefined && statements <= limit[0] && trips <= limit[1]

/** The least cost of a few tries: which answers come together is a matter of chance. */
const costOf = async (operation: Operation, limit: Cost | undefined): Promise<Cost> => {
  await sentFor(operation)
  let least: Cost = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let times = 0; times < 6 && !within(least, limit); times += 1) {
    const { statements, trips } = await sentFor(operation)
    least = [Math.min(least[0], statements.length), Math.min(least[1], trips)]
  }
  return least
}

test('no operation sends more statements, or takes more trips, than it may', async () => {
  const found: Record<string, Cost> = {}
  for (const [name, operation] of Object.entries(operationsOf(service.routes))) {
    if (!(name in most)) continue
    const cost = await costOf(operation, most[name])
    found[name] = within(cost, most[name]) ? (most[name] as Cost) : cost
  }
  expect(found).toEqual(most)
  // This proves that the test detects one more.
  expect(within([3, 2], [2, 2]) || within([2, 3], [2, 2]) || within([2, 2], undefined)).toBe(false)
})

test('an export of evidence reads what its receipts are made of together: eighty payments take fewer statements than that', async () => {
  const { api } = person
  const items = Array.from({ length: 80 }, (_, index) => ({
    beneficiary_id: scene.beneficiaries,
    amount_minor: `${200 + index}00`,
  }))
  const created = await api.post('/v1/payment-batches', { items, duplicates_intended: true })
  expect([created.status, created.text]).toEqual([201, created.text])
  await service.deps.jobs.sweep()
  const day = new Date(service.clock.now().getTime() + 3 * 3_600_000).toISOString().slice(0, 10)
  const path = `/v1/workspaces/current/evidence?from=${day}&to=${day}`
  let status = 0
  const { statements } = await sentDuring(async () => {
    status = (await api.get(path)).status
  })
  expect([status, statements.length < 80]).toEqual([200, true])
})

test('attempts whose results are due together are claimed by one statement', async () => {
  const payee = { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' }
  const beneficiary_id = await newBeneficiary(person.api, payee)
  const ids: string[] = []
  for (const amount_minor of ['110000', '120000', '130000']) {
    service.sandbox.rules.add({ effect: 'lose_callback', rail: 'PESALINK', times: 1, delay_ms: 0 })
    ids.push((await person.api.post('/v1/payments', { beneficiary_id, amount_minor })).body.id)
  }
  await service.settle()
  service.clock.advance(60)
  const { statements } = await sentDuring(() => service.deps.jobs.sweep())
  expect(statements.filter(({ name }) => name === 'attempts.postpone').length).toBe(1)
  const answers = await Promise.all(ids.map((id) => person.api.get(`/v1/payments/${id}`)))
  expect(answers.map(({ body }) => body.status)).toEqual(Array(3).fill('succeeded'))
})

test('no statement of a batch writes more than 128 payments, events or audit rows: other requests are served in between', async () => {
  const { api } = person
  const items = Array.from({ length: 300 }, (_, index) => ({ beneficiary_id: scene.asking, amount_minor: `${300 + index}00` }))
  const { statements } = await sentDuring(async () => {
    const { body } = await api.post('/v1/payment-batches', { items, duplicates_intended: true })
    const decided = await api.post(`/v1/approvals/${body.approval_id}/decide`, { decision: 'approve' })
    expect([decided.status, decided.body.status]).toEqual([200, 'approved'])
  })
  const sizes = statements.flatMap(({ text, values }) =>
    /^(insert into|update) "(payments|events|audit_log)"/.test(text)
      ? [Math.max(...values.map((value) => (Array.isArray(value) ? value.length : String(value).split('","').length)))]
      : [],
  )
  expect([Math.max(...sizes), sizes.filter((size) => size === 128).length]).toEqual([128, 12])
})
