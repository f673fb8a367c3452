import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import {
  ApiKeyRevokedError,
  ConflictError,
  ConnectionError,
  InsufficientFundsError,
  NotFoundError,
  Payments,
  PaymentsError,
  type PaymentsEvent,
  PolicyDeniedError,
  type StreamReset,
  WaitTimeoutError,
} from '#client'
import { decideByWallet, signInWithWallet, signMandate } from '#client/wallet'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { openService, startService } from '../harness/service.ts'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'

const service = await openService()
const proxy: FaultyProxy = await startFaultyProxy(service.api.url)
const person = await signIn(service.api)
const key = await createKey(person)
const beneficiary = await newBeneficiary(person.api)
await fund(service, person, 10_000_000n)
const client = new Payments({ baseUrl: proxy.url, apiKey: key.key })
afterEach(() => {
  proxy.faults.length = 0
  proxy.seen.length = 0
  proxy.rewrite(undefined)
})
afterAll(() => proxy.close())

const order = (amount = '1000') => ({ beneficiary_id: beneficiary, amount_minor: amount })
const countPayments = async () => (await client.payments.list().toArray(1000)).length
const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a call whose connection fails', () => {
  test('is sent again under one key, and pays once, when the request or the answer was lost', async () => {
    const before = await countPayments()
    proxy.seen.length = 0
    proxy.faults.push({ kind: 'lost' }, { kind: 'answer lost' }, { kind: 'answer cut' })
    const payment = await client.payments.create(order())
    expect(payment.status).toBe('processing')
    expect(proxy.seen).toHaveLength(4)
    expect(new Set(proxy.seen.map(({ key: sent }) => sent)).size).toBe(1)
    expect(await countPayments()).toBe(before + 1)
  })

  test('has an idempotency key on plain http pages too, which have no crypto.randomUUID', async () => {
    const missing = vi.spyOn(crypto, 'randomUUID').mockImplementation(() => {
      throw new TypeError('crypto.randomUUID is not a function')
    })
    try {
      await client.payments.create(order())
      expect(proxy.seen.map(({ key: sent }) => sent)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)])
    } finally {
      missing.mockRestore()
    }
  })

  test('throws an error with the idempotency key if no attempt was answered', async () => {
    proxy.faults.push({ kind: 'answer lost' }, { kind: 'answer lost' })
    const error = await caught(client.payments.create(order(), { retries: 1 }))
    if (!(error instanceof ConnectionError) || error.idempotencyKey === undefined)
      throw new Error(`not a lost connection: ${error}`)
    const before = await countPayments()
    const payment = await client.payments.create(order(), { idempotencyKey: error.idempotencyKey })
    expect(await countPayments()).toBe(before)
    expect(payment.amount_minor).toBe('1000')
  })

  test('ends in the same way if what answered for the service sent no JSON, and is sent again', async () => {
    const page = { kind: 'answer', status: 200, body: '<html>Sign in to this network</html>' } as const
    proxy.faults.push(page)
    expect((await client.account.get()).id).toBe(person.accountId)
    proxy.faults.push(page)
    const error = await caught(client.payments.create(order(), { retries: 0, idempotencyKey: 'page' }))
    if (!(error instanceof ConnectionError)) throw new Error(`not a lost connection: ${error}`)
    expect(error).toMatchObject({ idempotencyKey: 'page', message: expect.stringMatching(/JSON/) })
    proxy.faults.push({ kind: 'none' }, page)
    expect(await caught(signInWithWallet({ baseUrl: proxy.url }, newWallet()))).toBeInstanceOf(ConnectionError)
  })

  test('is not sent again if the program aborted it', async () => {
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    expect(await caught(client.payments.create(order(), { signal: stop.signal }))).toMatchObject({ message: 'enough' })
    expect(proxy.seen.filter(({ method }) => method === 'POST')).toEqual([])
  })
})

describe('a refusal', () => {
  test('that is temporary is retried after the time that the service names', async () => {
    proxy.faults.push(
      { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
      { kind: 'answer', status: 503, headers: { 'retry-after': '0', 'payments-should-retry': 'true' } },
      { kind: 'answer', status: 502, body: '<html>bad gateway</html>' },
    )
    const began = performance.now()
    expect((await client.account.get()).id).toBe(person.accountId)
    expect(performance.now() - began).toBeGreaterThanOrEqual(990)
    expect(proxy.seen).toHaveLength(4)
  })

  test('of a change with a version is not retried, as the change may hold, unless a limit of requests stopped it', async () => {
    const change = () => client.call('patch', '/v1/workspaces/current', { body: { name: 'Renamed' } })
    proxy.faults.push({ kind: 'answer', status: 503, headers: { 'retry-after': '0', 'payments-should-retry': 'true' } })
    expect(await caught(change())).toMatchObject({ status: 503 })
    expect(proxy.seen).toHaveLength(1)
    proxy.faults.push({ kind: 'answer', status: 429, headers: { 'retry-after': '0' } })
    await caught(change())
    expect(proxy.seen).toHaveLength(3)
  })

  test('that the service marks as final is not retried, with any status', async () => {
    proxy.faults.push({
      kind: 'answer',
      status: 503,
      headers: { 'payments-should-retry': 'false' },
      body: '{"error":"unavailable"}',
    })
    expect(await caught(client.account.get())).toMatchObject({ code: 'unavailable', shouldRetry: false })
    expect(proxy.seen).toHaveLength(1)
  })

  test('that names a wait of hours is thrown to the program', async () => {
    proxy.faults.push({ kind: 'answer', status: 429, headers: { 'retry-after': '7200' } })
    expect(await caught(client.account.get())).toMatchObject({ status: 429, retryAfterMs: 7_200_000 })
  })

  test('says by itself whether it is temporary', async () => {
    const answer = await service.api.get('/v1/payments/nothing', { bearer: key.key })
    expect([answer.status, answer.headers.get('payments-should-retry')]).toEqual([404, 'false'])
    const garbage = await service.api.get('/%ff')
    expect([garbage.status, garbage.headers.get('payments-should-retry')]).toEqual([404, 'false'])
    const busy = await startService({ database: service.database, clock: service.clock, env: { RATE_LIMIT_PER_MINUTE: '1' } })
    try {
      await busy.api.get('/v1/accounts/me', { bearer: key.key })
      const refused = await busy.api.get('/v1/accounts/me', { bearer: key.key })
      expect([refused.status, refused.headers.get('payments-should-retry')]).toEqual([429, 'true'])
    } finally {
      await busy.close()
    }
  })

  test("is an error of its code's class, with its details and request id", async () => {
    const limited = await createKey(person, { spending_controls: { per_payment_limit_minor: '1500' } })
    const agent = new Payments({ baseUrl: proxy.url, apiKey: limited.key })
    const denied = await caught(agent.payments.create(order('2000')))
    if (!(denied instanceof PolicyDeniedError)) throw new Error(`not denied: ${denied}`)
    expect(denied.details.decision.outcome).toBe('deny')
    expect(denied.requestId).toBe(denied.details.request_id)
    expect(await caught(client.payments.create(order('90000000')))).toBeInstanceOf(PaymentsError)
    expect(await caught(client.payments.get('pay_nothing'))).toBeInstanceOf(NotFoundError)
    const once = await createKey(person, { spending_controls: { on_duplicate: 'confirm' } })
    const careful = new Payments({ baseUrl: proxy.url, apiKey: once.key })
    const { id } = await careful.payments.create(order('3100'))
    const repeated = await caught(careful.payments.create(order('3100')))
    if (!(repeated instanceof ConflictError)) throw new Error(`no conflict: ${repeated}`)
    const existing: string | undefined = repeated.details.existing_payment_id
    expect([repeated.details.reason, existing]).toEqual(['possible_duplicate', id])
    await person.api.delete(`/v1/accounts/me/api-keys/${limited.id}`)
    expect(await caught(agent.account.get())).toBeInstanceOf(ApiKeyRevokedError)
    const poor = await signIn(service.api)
    const poorClient = new Payments({ baseUrl: proxy.url, apiKey: (await createKey(poor)).key })
    const payee = await newBeneficiary(poor.api)
    expect(await caught(poorClient.payments.create({ beneficiary_id: payee, amount_minor: '1000' }))).toBeInstanceOf(
      InsufficientFundsError,
    )
  })
})

test('iterating over a list returns every item once, page by page, to its end', async () => {
  const owner = await signIn(service.api)
  const names = await Promise.all(Array.from({ length: 7 }, () => newBeneficiary(owner.api)))
  const own = new Payments({ baseUrl: proxy.url, apiKey: (await createKey(owner)).key })
  proxy.seen.length = 0
  const ids: string[] = []
  for await (const { id } of own.beneficiaries.list({ limit: 3 })) ids.push(id)
  expect(ids.toSorted()).toEqual(names.toSorted())
  expect(proxy.seen).toHaveLength(3)
  expect(await own.beneficiaries.list({ limit: 3 }).toArray(4)).toHaveLength(4)
})

describe('waiting for a payment', () => {
  test('ends when it has succeeded', async () => {
    const payment = await client.payments.create(order())
    const waiting = client.payments.waitFor(payment.id)
    await service.settle()
    expect((await waiting).status).toBe('succeeded')
  })

  test('does not end at unknown, and says that paying again could pay twice', async () => {
    // The provider's answer is lost. Only its callback, which is not delivered here, would show the outcome.
    const unanswered = await newBeneficiary(person.api, { destination: '254711000004' })
    const payment = await client.payments.create({ beneficiary_id: unanswered, amount_minor: '1000' })
    await service.deps.jobs.drain()
    expect((await client.payments.get(payment.id)).status).toBe('unknown')
    const error = await caught(client.payments.waitFor(payment.id, { timeoutMs: 300 }))
    if (!(error instanceof WaitTimeoutError)) throw new Error(`it ended: ${error}`)
    expect(error.message).toMatch(/pay twice/)
    expect(error.last.status).toBe('unknown')
  })
})

describe('events', () => {
  type Received = PaymentsEvent | StreamReset
  const follow = (options: Parameters<Payments['events']>[0] = {}, reader = client) => {
    const stop = new AbortController()
    const received: Received[] = []
    const watchers = new Set<() => void>()
    const opened = Promise.withResolvers<void>()
    const ended = (async () => {
      for await (const event of reader.events({ ...options, signal: stop.signal, onOpen: () => opened.resolve() })) {
        received.push(event)
        for (const watcher of watchers) watcher()
      }
    })()
    const until = (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (received.length < count) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      })
    const close = () => {
      stop.abort()
      return ended
    }
    return { received, until, opened: opened.promise, close }
  }
  /** The connection breaks instead of delivering these events. */
  const loseWithConnection = (count: number) => {
    const lost = Promise.withResolvers<void>()
    let left = count
    proxy.rewrite((block) => {
      if (block.startsWith('retry:')) return 'retry: 20\n\n'
      if (left === 0 || block.includes('event: stream.reset')) return block
      left -= 1
      if (left === 0) {
        setImmediate(proxy.cutStreams)
        lost.resolve()
      }
      return ''
    })
    return lost.promise
  }
  const rename = (name: string) => person.api.patch('/v1/workspaces/current', { name })

  test('come over many connections, in order, none missed and none twice', async () => {
    proxy.rewrite((block) => (block.startsWith('retry:') ? 'retry: 20\n\n' : block + block))
    const stream = follow()
    await stream.opened
    for (const name of ['one', 'two', 'three', 'four']) {
      await rename(name)
      await stream.until(['one', 'two', 'three', 'four'].indexOf(name) + 1)
      proxy.cutStreams()
      await rename(`${name} while away`)
      await rename(name)
    }
    await stream.until(12)
    const { data } = (await person.api.get('/v1/notifications?limit=12')).body
    expect(stream.received.map(({ id }) => id)).toEqual(data.map(({ id }: { id: string }) => id).toReversed())
    await stream.close()
  })

  test('that are no longer stored give a reset, and the stream continues', async () => {
    const stream = follow({ lastEventId: 'evt_01h455vb4pex5vsknk084sn02q' })
    await stream.until(1)
    expect(stream.received[0]).toMatchObject({ id: null, type: 'stream.reset' })
    await rename('after the reset')
    await stream.until(2)
    expect(stream.received[1]).toMatchObject({ type: 'workspace.updated' })
    await stream.close()
  })

  test('that were lost with a connection that had brought none yet come over the next one, in order', async () => {
    const owner = await signIn(service.api)
    const { key: apiKey } = await createKey(owner, { permissions: ['beneficiary.read'] })
    const lost = loseWithConnection(2)
    const stream = follow({}, new Payments({ baseUrl: proxy.url, apiKey }))
    await stream.opened
    const ids = [await newBeneficiary(owner.api), await newBeneficiary(owner.api)]
    await lost
    await stream.until(2)
    ids.push(await newBeneficiary(owner.api))
    await stream.until(3)
    expect(stream.received.map(({ data }) => 'id' in data && data.id)).toEqual(ids)
    await stream.close()
  })

  test('that were lost with the connection that brought the reset come over the next one', async () => {
    const lost = loseWithConnection(1)
    const stream = follow({ lastEventId: 'evt_01h455vb4pex5vsknk084sn02q' })
    await stream.until(1)
    await rename('lost after the reset')
    await lost
    await rename('later')
    await stream.until(3)
    expect(stream.received.slice(1)).toMatchObject([{ data: { name: 'lost after the reset' } }, { data: { name: 'later' } }])
    await stream.close()
  })

  test('that began before the first connection was open are not missed', async () => {
    proxy.faults.push({ kind: 'none' }, { kind: 'lost' })
    proxy.rewrite((block) => (block.startsWith('retry:') ? 'retry: 20\n\n' : block))
    const stream = follow()
    while (!proxy.seen.some(({ path }) => path.startsWith('/v1/notifications?')))
      await new Promise((resolve) => setImmediate(resolve))
    await stream.opened
    await rename('first')
    await stream.until(1)
    expect(stream.received).toHaveLength(1)
    await stream.close()
  })

  test('end when their credential ends', async () => {
    const short = await createKey(person)
    const reader = new Payments({ baseUrl: proxy.url, apiKey: short.key })
    proxy.rewrite((block) => (block.startsWith('retry:') ? 'retry: 20\n\n' : block))
    const opened = Promise.withResolvers<void>()
    const ended = caught(
      (async () => {
        for await (const _ of reader.events({ onOpen: () => opened.resolve() }));
      })(),
    )
    await opened.promise
    await person.api.delete(`/v1/accounts/me/api-keys/${short.id}`)
    expect(await ended).toBeInstanceOf(ApiKeyRevokedError)
  })
})

test('a wallet can sign in, approve a payment and create a mandate', async () => {
  const wallet = newWallet()
  const { client: owner, outcome, account } = await signInWithWallet({ baseUrl: proxy.url }, wallet)
  expect(outcome).toBe('account_created')
  await fund(service, await signIn(service.api, wallet), 100_000n)
  await owner.policies.create({ name: 'Ask me', approval_threshold_minor: '20000' })
  const payee = await owner.beneficiaries.create({
    type: 'person',
    display_name: 'Wanjiru',
    payment_rail: 'MPESA_B2C',
    destination: '0722000111',
  })
  const payment = await owner.payments.create({ beneficiary_id: payee.id, amount_minor: '25000' })
  const [approval] = await owner.approvals.list({ status: 'pending' }).toArray(1)
  if (!approval) throw new Error('there is nothing to approve')
  expect(await caught(decideByWallet({ baseUrl: proxy.url }, wallet, approval.id, { confirm: () => false }))).toBeInstanceOf(
    Error,
  )
  const decided = await decideByWallet({ baseUrl: proxy.url }, wallet, approval.id, {
    confirm: (message) => message.includes(payment.id) && message.includes('250.00'),
  })
  expect(decided.status).toBe('approved')
  const terms = { description: 'Deliveries', max_total_minor: '50000', expires_at: '2099-01-01T00:00:00.000Z' }
  const mandate = await signMandate({ baseUrl: proxy.url }, wallet, terms)
  expect(mandate).toMatchObject({ status: 'active', account_id: account.id })
})
