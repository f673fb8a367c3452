import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { checkInstallation } from '../../src/db/installation.ts'
import { catchUpTransactionIds } from '../../src/db/start.ts'
import { rememberDuplicateCheck } from '../../src/modules/exceptions/duplicate-checks-service.ts'
import { pauseRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { readCommand } from '../../src/operate/admin/commands.ts'
import { factsOf, verifyDaily } from '../../src/operate/verify/verify.ts'
import { startAdministered } from '../admin/administrators.ts'
import { addPasskey } from '../harness/authenticator.ts'
import type { Client, Json } from '../harness/client.ts'
import { createTestClock } from '../harness/clock.ts'
import { createMandate } from '../harness/mandates.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../harness/people.ts'
import type { TestDatabase } from '../harness/postgres.ts'
import { startPushService } from '../harness/push-service.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { playExamples } from '../http/example-scene.ts'

/** Information for a dump's reader: the settings that fit its data, its people, and the release's answers about them. */
export type About = {
  version: string
  now: string
  settings: Record<string, string>
  privateKey: `0x${string}`
  accountId: string
  cookie: string
  apiKey: string
  beneficiary: string
  waiting: { payment: string; approval: string; scheduled: string; executeAt: string }
  answers: Record<string, Json>
}

const ring = () => `release:${randomBytes(32).toString('base64')}`

/** Changes with each request, or depends on the address, as a receipt's signature does through its issuer. */
const passing = new Set(['last_used_at', 'issuer', 'jws'])

const lasting = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(lasting)
  if (typeof value === 'string') return value.replace(/localhost:\d+/g, 'localhost')
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, entry]) => (passing.has(name) ? [] : [[name, lasting(entry)]])))
}

const operationsOf = (document: Json): { path: string; method: string; id: string }[] =>
  Object.entries<Record<string, Json>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => ({ path, method, id: String(operationId) })),
  )

/** Changes while it is read: the requests themselves are listed, or each answer is new. */
const unsteady = new Set(['/v1/request-log', '/v1/notifications/stream'])

/** The reads of a person's browser and of a key: every list of the API, and each payment, approval, top-up and receipt. */
const addressesOf = (document: Json, payments: readonly string[], others: readonly string[]): string[] => [
  ...operationsOf(document)
    .filter(({ path, method }) => method === 'get' && path.startsWith('/v1/') && !path.includes('{') && !unsteady.has(path))
    .map(({ path }) => (path.includes('/statement') ? `${path}?from=2026-03-01&to=2026-03-31` : path)),
  ...payments.map((id) => `/v1/payments/${id}`),
  ...others,
]

const read = async (api: Client, addresses: readonly string[]): Promise<Record<string, Json>> => {
  const answers: Record<string, Json> = {}
  for (const address of addresses) {
    const { status, body } = await api.get(address)
    if (status === 200 && body !== undefined) answers[address] = lasting(body)
  }
  return answers
}

/** Leaves traces that only an operator, another process or a removed approver leaves. */
const leaveTraces = async (service: TestService, { api }: Person, { url }: TestDatabase): Promise<void> => {
  const { config, db } = service.deps
  await addPasskey(api, config.publicUrl)
  const policy = await api.post('/v1/spending-policies', { name: 'Month', monthly_limit_minor: '90000000' }, { key: 'a policy' })
  expect(policy.status).toBe(201)
  // Begun and not finished.
  await service.api.post('/v1/auth/wallet/nonce', { address: newWallet().address })

  // A wallet decides and is unlinked, so its decision is void.
  const other = newWallet()
  const message = await walletMessage(api, other)
  const link = { provider: 'wallet', message, signature: await other.signMessage({ message }) }
  const linked = await api.post('/v1/accounts/me/identities', link)
  const { token } = (await api.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
  const clerk = await signIn(service.api)
  expect((await clerk.api.post('/v1/workspaces/invitations/accept', { token })).status).toBe(200)
  const payee = await newBeneficiary(api)
  const strict = { name: 'Two people', approval_threshold_minor: '900000', required_approval_count: 2 }
  expect((await api.post('/v1/spending-policies', strict)).status).toBe(201)
  const held = await api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '950000' })
  expect([held.status, held.text]).toEqual([201, held.text])
  const approval = `/v1/approvals/${held.body.approval_id}`
  const text = (await api.get(`${approval}/message?decision=approve`)).body.message
  const signature = await other.signMessage({ message: text })
  expect((await api.post(`${approval}/decide-by-signature`, { decision: 'approve', signature })).status).toBe(200)
  expect((await api.delete(`/v1/accounts/me/identities/${linked.body.id}`)).status).toBe(200)

  const operator = shellOperator('the finance team')
  await readCommand(['invite', 'new@example.com']).run({ ...service, databaseUrl: url, operator, close: async () => undefined })
  await db.transaction(async (tx) => {
    await rememberDuplicateCheck(tx, operator, { rail: 'MPESA_B2C', account: '600000' })
    await pauseRail(tx, operator, 'PESALINK', 'a holiday of the bank')
  })
  const rings = { ENCRYPTION_KEYS: config.ENCRYPTION_KEYS, TOKEN_SECRETS: config.TOKEN_SECRETS, ORDER_KEY: config.ORDER_KEY }
  await checkInstallation(url, { currency: config.CURRENCY, rings })
  const facts = () => factsOf(service.deps)
  const { clock, logger } = service.deps
  await verifyDaily({ directUrl: url, clock, logger, facts, onBroken: (broken) => expect(broken).toEqual([]) })
}

/** A workspace whose zone changed again after the first change had begun. */
const changeZones = async (database: TestDatabase, env: Record<string, string>): Promise<void> => {
  const service = await startService({ database, env, clock: createTestClock(new Date('2025-10-06T09:00:00Z')) })
  const mover = newWallet()
  for (const time_zone of ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo']) {
    const { api } = await signIn(service.api, mover)
    expect((await api.patch('/v1/workspaces/current', { time_zone })).status).toBe(200)
    service.clock.advance(40 * 86_400)
  }
  await service.close()
}

/** A browser that gets an approval's notification, and a balance that does not cover payments due in an hour. */
const tellPersons = async (service: TestService): Promise<void> => {
  const pushes = await startPushService()
  const person = await signIn(service.api)
  const browser = pushes.browser()
  expect((await person.api.post('/v1/accounts/me/push-subscriptions', browser.subscription)).status).toBe(201)
  await fund(service, person, 100_000n)
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })
  const beneficiary_id = await newBeneficiary(person.api)
  const pay = async (fields: object) => (await person.api.post('/v1/payments', { beneficiary_id, ...fields })).body.status
  expect(await pay({ amount_minor: '60000' })).toBe('pending_approval')
  const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  expect(await pay({ amount_minor: '45000', execute_at })).toBe('scheduled')
  await service.deps.jobs.sweep()
  await service.settle()
  expect(browser.received).toHaveLength(1)
  await pushes.close()
}

/** Rows in every table: the story of the examples, and a person whose work continues after the upgrade. */
export const fillDatabase = async (database: TestDatabase, version: string): Promise<About> => {
  const settings = { ENCRYPTION_KEYS: ring(), TOKEN_SECRETS: ring(), ORDER_KEY: ring(), RECEIPT_KEYS: ring(), VAPID_KEYS: ring() }
  await changeZones(database, settings)
  const { service, admin, second } = await startAdministered({ database, env: settings })
  const document = (await service.api.get('/openapi.json')).body
  await playExamples(service, operationsOf(document), [admin, second])

  const privateKey = generatePrivateKey()
  const person = await signIn(service.api, privateKeyToAccount(privateKey))
  await fund(service, person, 5_000_000n)
  const { body: topup } = await person.api.post('/v1/topups/initiate', { amount_minor: '10000', method: 'MPESA_PAYBILL' })
  const beneficiary = await newBeneficiary(person.api, { metadata: { vendor: '7' } })
  const key = await createKey(person, { spending_controls: { daily_limit_minor: '2000000' } })
  await createMandate(service, person.wallet)
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '500000' })
  const pay = async (fields: Record<string, unknown>, api = key.api): Promise<Json> => {
    service.clock.advance(60)
    const answer = await api.post('/v1/payments', { beneficiary_id: beneficiary, ...fields })
    expect([answer.status, answer.text]).toEqual([201, answer.text])
    return answer.body
  }
  const paid = await pay({ amount_minor: '120000', narrative: 'Tiles', metadata: { invoice: '12' } })
  await service.settle()
  const executeAt = new Date(service.clock.now().getTime() + 86_400_000).toISOString()
  const scheduled = await pay({ amount_minor: '70000', execute_at: executeAt })
  const held = await pay({ amount_minor: '600000', narrative: 'A roof' })
  await service.settle()
  // An hour is counted once it has ended.
  service.clock.advance(7_200)
  await service.deps.jobs.sweep()
  await tellPersons(service)
  await leaveTraces(service, person, database)
  // A process whose own jobs run leaves each job's next due time.
  const { clock } = service
  await (await startService({ database, clock, provider: service, env: { ...settings, JOBS: 'inline' } })).close()
  await service.settle()

  const cookie = person.cookie
  const addresses = addressesOf(
    document,
    [paid.id, held.id, scheduled.id],
    [`/v1/payments/${paid.id}/receipt`, `/v1/approvals/${held.approval_id}`, `/v1/topups/${topup.id}`],
  )
  const about: About = {
    version,
    now: service.clock.now().toISOString(),
    settings,
    privateKey,
    accountId: person.accountId,
    cookie,
    apiKey: key.key,
    beneficiary,
    waiting: { payment: held.id, approval: held.approval_id, scheduled: scheduled.id, executeAt },
    answers: await read(person.api, addresses),
  }
  expect(await findBreaches(service)).toEqual([])
  await service.close()
  return about
}

/** Today's service on an older release's database: it answers as that release did, and continues the waiting work. */
export const goesOn = async (database: TestDatabase, about: About): Promise<void> => {
  await catchUpTransactionIds(database.url)
  const service = await startService({ database, env: about.settings, clock: createTestClock(new Date(about.now)) })
  const before = service.api.as({ cookie: about.cookie })
  expect(Object.keys(about.answers).length).toBeGreaterThan(25)
  const now = await read(before, Object.keys(about.answers))
  // A session's end is now the one in its list: it moves with each use.
  const { expires_at: _, permissions, ...credential } = about.answers['/v1/credentials/current'] as Json
  // A role may have gained permissions since.
  const held = { ...credential, permissions: expect.arrayContaining(permissions) }
  const answers = { ...about.answers, '/v1/credentials/current': held }
  // Since 0.4.0 a workspace's statement covers its balance (a personal one: its person's). Evidence exports leave audit rows.
  const differs = (address: string) => /^\/v1\/workspaces\/current\/(statement|evidence|audit-log)/.test(address)
  for (const [address, answer] of Object.entries(answers).filter(([each]) => !differs(each)))
    expect([address, now[address]]).toMatchObject([address, answer])
  const sessions = (await before.get('/v1/accounts/me/sessions')).body.data
  expect(sessions.find(({ current }: Json) => current).expires_at).toBe(
    (await before.get('/v1/credentials/current')).body.expires_at,
  )
  expect(await findBreaches(service)).toEqual([])

  const person = await signIn(service.api, privateKeyToAccount(about.privateKey))
  expect(person.accountId).toBe(about.accountId)
  const key = service.api.as({ bearer: about.apiKey })
  const status = async (id: string) => (await key.get(`/v1/payments/${id}`)).body.status
  const paid = await key.post('/v1/payments', { beneficiary_id: about.beneficiary, amount_minor: '30000' })
  expect([paid.status, paid.text]).toEqual([201, paid.text])
  const decided = await person.api.post(`/v1/approvals/${about.waiting.approval}/decide`, { decision: 'approve' })
  expect([decided.status, decided.text]).toEqual([200, decided.text])
  await service.settle()
  expect(await Promise.all([paid.body.id, about.waiting.payment, about.waiting.scheduled].map(status))).toEqual([
    'succeeded',
    'succeeded',
    'scheduled',
  ])
  service.clock.set(new Date(about.waiting.executeAt))
  service.clock.advance(60)
  await service.deps.jobs.sweep()
  await service.settle()
  expect(await status(about.waiting.scheduled)).toBe('succeeded')
  await fund(service, person, 100_000n)
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
  await service.close()
}
