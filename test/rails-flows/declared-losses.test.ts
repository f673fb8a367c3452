import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTx, type Statement } from '../../src/db/client.ts'
import { sealAuditLog } from '../../src/events/seal.ts'
import { formatId, newId } from '../../src/lib/ids.ts'
import { sendingRails } from '../../src/lib/rail-names.ts'
import { resumeAfterLoss } from '../../src/modules/exceptions/losses-service.ts'
import { listPauses, pauseRail, resumeRail } from '../../src/modules/exceptions/pauses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { authorizeAgent, postForm, refresh, registerClient } from '../harness/oauth.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { alerts, b2cResult, deliver, ordersTo, pass, pay, paymentOf } from './scene.ts'

const administrator = newWallet()
let service: TestService
let person: Person
beforeEach(async () => {
  service = await startService({ env: { ADMIN_ACCOUNTS: administrator.address } })
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
})
afterEach(() => service.close())

const operator = shellOperator('a person')
/** The provider has no id of ours for it, so a second send pays twice. */
const toPaybill = (destination: string) => ({ payment_rail: 'MPESA_B2B', destination, account_reference: 'A1' })
const statusOf = async (id: string): Promise<string> => (await paymentOf(person, id)).status
const state = () => service.deps.lossDetection.state()
/** A process's check of every second. */
const look = async (where = service, times = 3) => {
  for (let turn = 0; turn < times; turn += 1) await where.deps.lossDetection.check()
}

/** A report about an attempt of this service that the database lacks. */
const reportOfLost = async () => {
  const id = newId()
  const order = { key: newId(), conversation: 'AG_1', receipt: 'LOST000001', party: '254722000001', amountMinor: 1_000n }
  const url = `${service.operatorUrl}/callbacks/${id}/${service.deps.orderNames.secretOf(id)}/result`
  return deliver(url, b2cResult({ ...order, rail: 'MPESA_B2C' } as Parameters<typeof b2cResult>[0]))
}

test('a report with the right secret about an attempt that is not there proves a loss: nothing is sent, and what waits is unknown', async () => {
  const stream = await openStream(person.api)
  const waiting = await pay(person, toPaybill('400301'))
  const forged = `${service.operatorUrl}/callbacks/${newId()}/${service.deps.orderNames.secretOf(newId())}/result`
  await deliver(forged, {})
  expect(state()).not.toBe('lost')
  expect((await reportOfLost()).status).toBe(200)
  expect(state()).toBe('lost')
  await look()
  expect(await statusOf(waiting)).toBe('unknown')
  expect(alerts(service).filter((alert) => alert === 'database_lost_writes')).toHaveLength(1)
  expect((await stream.next('stream.reset')).type).toBe('stream.reset')
  expect((await service.api.get('/readyz')).body.rails.MPESA_B2B).toContain('lost committed writes')
  const later = await pay(person, toPaybill('400302'))
  await pass(service, 60)
  for (const party of ['400301', '400302']) expect(ordersTo(service, party)).toHaveLength(0)
  expect((await resumeAfterLoss(service.deps.db, operator, [], 'a test')).resumed.sort()).toEqual([...sendingRails].sort())
  await look()
  expect(state()).toBe('trusted')
  await pass(service, 60)
  expect([await statusOf(waiting), await statusOf(later)]).toEqual(['unknown', 'succeeded'])
  expect(ordersTo(service, '400301')).toHaveLength(0)
})

test.each(['loss_detection.look', 'loss_detection.missing'])(
  'a loss that is reported while the service looks at the server (%s) is not forgotten when the look finds everything',
  async (name) => {
    await look()
    const { db, lossDetection } = service.deps
    const { query } = db
    db.query = (async (statement: Statement, values?: readonly unknown[]) => {
      const rows = await query(statement, values)
      if (statement.name === name) lossDetection.reportLoss('a test')
      return rows
    }) as typeof query
    lossDetection.doubt()
    await lossDetection.check()
    db.query = query
    expect(state()).toBe('lost')
    await look()
    expect(state()).toBe('lost')
  },
)

test('a lost connection alone holds nothing for long: everything remembered is found, and what waits is sent', async () => {
  const id = await pay(person, toPaybill('400308'))
  service.deps.lossDetection.doubt()
  expect(service.deps.lossDetection.trusted()).toBeUndefined()
  await look()
  expect(state()).toBe('trusted')
  await pass(service, 60)
  expect(await statusOf(id)).toBe('succeeded')
})

test.each([
  ['audit', `${newId()}:${newId()}`],
  ['sent', newId()],
  ['seal', `999999:${'cd'.repeat(32)}`],
] as const)('a row that was acknowledged (%s) and is not there is a loss, though everything else is found', async (kind, id) => {
  const { db, lossDetection } = service.deps
  db.recoveryPoint.track(kind, [id])
  lossDetection.doubt()
  await look()
  expect(state()).toBe('lost')
  // A person has reconciled, so the loss is not reported again.
  await resumeAfterLoss(service.deps.db, operator, [], 'a test')
  await look()
  lossDetection.doubt()
  await look()
  expect(state()).toBe('trusted')
})

/** Deletes rows behind the service's back, like a server that lost its last writes. */
const losing = (tables: readonly string[]) =>
  service.deps.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    for (const table of tables) await tx.query(`delete from ${table}`)
  })

test.each([[['payments']], [['rail_attempts']], [['idempotency_keys', 'audit_log']], [['audit_seals']]])(
  'what the service has committed to %s, and the database does not have, is a loss; a key that is gone is not taken as a new one',
  async (tables) => {
    const beneficiary_id = await newBeneficiary(person.api, toPaybill('400310'))
    const requests = [
      () => person.api.post('/v1/payments', { beneficiary_id, amount_minor: '150000' }, { key: 'one payment' }),
      () => person.api.post('/v1/spending-policies', { name: 'one', daily_limit_minor: '1000000' }, { key: 'one policy' }),
    ]
    for (const request of requests) expect((await request()).status).toBe(201)
    await service.settle()
    await sealAuditLog(service.deps)
    await look()
    service.deps.lossDetection.doubt()
    await look()
    expect(state()).toBe('trusted')
    await losing(tables)
    service.deps.lossDetection.doubt()
    await look()
    expect(state()).toBe('lost')
    const answers = await Promise.all(requests.map((request) => request()))
    const gone = { status: 503, reason: 'database_lost_writes' }
    const kept = { status: 201, reason: undefined }
    expect(answers.map(({ status, body }) => ({ status, reason: body.details?.reason }))).toEqual([
      tables.includes('payments') ? gone : kept,
      tables.includes('idempotency_keys') ? gone : kept,
    ])
    expect(ordersTo(service, '400310')).toHaveLength(1)
  },
)

test('for the time of the hold, a credential that is not in the database may be in the writes that were lost: 503, not 401', async () => {
  const { key } = await createKey(person)
  const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id: formatId('oauth_client', newId()) }
  const token = () => postForm(service.api, '/v1/oauth/token', form)
  const page = () =>
    service.api.get(`/v1/oauth/authorize?client_id=${form.client_id}`, { headers: { accept: 'application/json' } })
  const client = await registerClient(service.api)
  const introspect = async (token = 'service_oat_x', as = client) => {
    const { status, body } = await postForm(service.api, '/v1/oauth/introspect', { token, ...as.credentials })
    return [status, body.error ?? body.active]
  }
  const revoke = async () => {
    const { status, body } = await postForm(service.api, '/v1/oauth/revoke', { token: 'service_oat_x', ...client.credentials })
    return [status, body.error]
  }
  expect(await revoke()).toEqual([200, undefined])
  // The database loses the last rotation.
  const agent = await authorizeAgent(service.api, person)
  const [before] = await service.deps.db.query<{ row: object }>('select to_jsonb(g) as row from oauth_grants g')
  const rotated = (await refresh(service.api, agent.client, agent.refreshToken)).body.refresh_token
  await service.deps.db.query(
    `update oauth_grants g set (generation, current_hash) = (select o.generation, o.current_hash from jsonb_populate_record(g, $1) as o)`,
    [JSON.stringify(before?.row)],
  )
  const answers = async () => {
    const bearers = [`service_live_${'0'.repeat(64)}`, 'service_oat_x', 'service_dash_x']
    const credentials = [...bearers.map((bearer) => ({ bearer })), { cookie: 'x'.repeat(43) }]
    const read = await Promise.all(credentials.map((credential) => service.api.as(credential).get('/v1/accounts/me')))
    return [...read, await token(), await page()].map(({ status, body }) => [status, body.details?.reason ?? body.error])
  }
  const invalid = [401, 'invalid_token']
  expect(await answers()).toEqual([invalid, invalid, invalid, invalid, [401, 'invalid_client'], [400, 'invalid_client']])
  expect([await introspect(), await introspect(rotated, agent.client)]).toEqual([
    [200, false],
    [200, false],
  ])
  await reportOfLost()
  await look()
  const lost = [503, 'database_lost_writes']
  const later = [503, 'temporarily_unavailable']
  expect(await answers()).toEqual([lost, lost, lost, lost, later, later])
  expect([await introspect(), await introspect(rotated, agent.client)]).toEqual([later, later])
  expect(await introspect(agent.refreshToken, agent.client)).toEqual([200, true])
  expect(await revoke()).toEqual(later)
  const shown = await service.api.get(`/v1/oauth/authorize?client_id=${form.client_id}`, { headers: { accept: 'text/html' } })
  expect([shown.status, shown.headers.get('retry-after'), shown.text]).toEqual([
    503,
    '60',
    expect.stringContaining('Try again later'),
  ])
  // An existing one works, and its wrong secret stays wrong.
  const wrong = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const own = [key, wrong].map((bearer) => service.api.as({ bearer }).get('/v1/accounts/me'))
  expect((await Promise.all(own)).map(({ status }) => status)).toEqual([200, 401])
  await resumeAfterLoss(service.deps.db, operator, [], 'a test')
  await look()
  expect(await answers()).toEqual([invalid, invalid, invalid, invalid, [401, 'invalid_client'], [400, 'invalid_client']])
})

test('where a connection is lost, nothing is sent before the server was looked at', async () => {
  await look()
  const goOn = endsAt('loss_detection.look')
  const id = await pay(person, toPaybill('400311'))
  await service.deps.db
    .query(
      'select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    .catch(() => undefined)
  await expect.poll(() => service.deps.lossDetection.trusted()).toBeUndefined()
  await service.deps.jobs.drain().catch(() => undefined)
  expect(ordersTo(service, '400311')).toHaveLength(0)
  goOn()
  await look()
  await pass(service, 60)
  expect([state(), await statusOf(id), ordersTo(service, '400311').length]).toEqual(['trusted', 'succeeded', 1])
})

test('a second loss, after a person has ended the first, is declared as well', async () => {
  service.deps.lossDetection.reportLoss('a test')
  await look()
  await resumeAfterLoss(service.deps.db, operator, [], 'a test')
  await look()
  expect(state()).toBe('trusted')
  const waiting = await pay(person, toPaybill('400309'))
  service.clock.advance(1)
  service.deps.lossDetection.reportLoss('another test')
  await look()
  expect([state(), await statusOf(waiting)]).toEqual(['lost', 'unknown'])
  expect(alerts(service).filter((alert) => alert === 'database_lost_writes')).toHaveLength(2)
  expect((await resumeAfterLoss(service.deps.db, operator, [], 'a test')).resumed).toHaveLength(sendingRails.length)
})

test('a process that only read a loss, or detected it before its end, does not pause the rails again after an operator has ended it', async () => {
  const other = await startService({ database: service.database, clock: service.clock, provider: service })
  const endsBeforeItDeclares = async () => {
    service.deps.lossDetection.reportLoss('a test')
    await look()
    const { db } = other.deps
    const { transaction } = db
    db.transaction = async (work) => {
      db.transaction = transaction
      service.clock.advance(1)
      await resumeAfterLoss(service.deps.db, operator, [], 'a test')
      return transaction(work)
    }
    await other.deps.lossDetection.check()
    for (const each of [service, other]) await look(each)
    expect(await listPauses(service.deps.db)).toEqual([])
    expect([state(), other.deps.lossDetection.state()]).toEqual(['trusted', 'trusted'])
  }
  await look(other)
  await endsBeforeItDeclares()
  service.clock.advance(1)
  other.deps.lossDetection.reportLoss('the same loss')
  await endsBeforeItDeclares()
  expect([service, other].flatMap(alerts).filter((alert) => alert === 'database_lost_writes')).toHaveLength(2)
  await other.close()
})

test('a loss that is noticed while an operator has paused every rail is declared all the same, and these pauses outlast it', async () => {
  await inTx(service.deps.db, async (tx) => {
    for (const rail of sendingRails) await pauseRail(tx, operator, rail, 'a drill')
  })
  const waiting = await pay(person, toPaybill('400303'))
  service.deps.lossDetection.reportLoss('a test')
  await look()
  expect([state(), await statusOf(waiting)]).toEqual(['lost', 'unknown'])
  expect(alerts(service)).toContain('database_lost_writes')
  expect((await resumeAfterLoss(service.deps.db, operator, [], 'a test')).resumed).toHaveLength(sendingRails.length)
  await look()
  const later = await pay(person, toPaybill('400304'))
  await pass(service, 60)
  expect(ordersTo(service, '400304')).toHaveLength(0)
  await inTx(service.deps.db, async (tx) => {
    for (const rail of sendingRails) await resumeRail(tx, operator, rail)
  })
  // A pause is reread within a second.
  await expect.poll(() => pass(service, 5).then(() => statusOf(later))).toBe('succeeded')
  expect(ordersTo(service, '400303')).toHaveLength(0)
})

test('what an operator resumes while a loss is declared stays stopped by the loss', async () => {
  await inTx(service.deps.db, (tx) => pauseRail(tx, operator, 'MPESA_B2B', 'a drill'))
  service.deps.lossDetection.reportLoss('a test')
  await look()
  await inTx(service.deps.db, (tx) => resumeRail(tx, operator, 'MPESA_B2B'))
  await expect(inTx(service.deps.db, (tx) => resumeRail(tx, operator, 'MPESA_B2B'))).rejects.toMatchObject({ code: 'conflict' })
  await look()
  expect(state()).toBe('lost')
  expect((await resumeAfterLoss(service.deps.db, operator, [], 'a test')).resumed).toHaveLength(sendingRails.length)
  await expect(inTx(service.deps.db, (tx) => resumeRail(tx, operator, 'MPESA_B2B'))).rejects.toMatchObject({ code: 'not_found' })
})

/** This process stops at one of its statements. */
const endsAt = (name: string) => {
  const { db } = service.deps
  const { query, run } = db
  const dieAt = (statement: Statement | string) => {
    if (typeof statement !== 'string' && statement.name.split('+')[0] === name) throw new Error('the process ended')
  }
  db.query = (async (statement: Statement | string, values?: readonly unknown[]) => {
    dieAt(statement)
    return query(statement as Statement, values)
  }) as typeof query
  db.run = async (prepared, values) => {
    dieAt(prepared.variant(values, false).statement)
    return run(prepared, values)
  }
  return () => {
    db.query = query
    db.run = run
  }
}

test('an attempt that was recorded and not yet sent when the loss was declared is not sent afterwards, and may be called failed', async () => {
  const id = await pay(person, toPaybill('400307'))
  const goOn = endsAt('attempts.claim')
  await expect(service.deps.jobs.drain()).rejects.toThrow('the process ended')
  goOn()
  expect(await service.deps.db.query('select state from rail_attempts')).toEqual([{ state: 'recorded' }])
  service.deps.lossDetection.reportLoss('a test')
  await look()
  expect(await statusOf(id)).toBe('unknown')
  await resumeAfterLoss(service.deps.db, operator, [], 'a test')
  await look()
  for (const seconds of [20, 60, 600]) await pass(service, seconds)
  expect([await statusOf(id), ordersTo(service, '400307').length]).toEqual(['unknown', 0])
  const fail = async () =>
    (await signIn(service.api, administrator)).api.post(`/v1/admin/payments/${id}/resolve`, {
      outcome: 'failed',
      evidence: 'in no statement',
    })
  const early = await fail()
  expect([early.status, early.body.details.reason]).toEqual([409, 'rail_may_answer'])
  service.clock.set(new Date(early.body.details.from))
  expect((await fail()).body).toMatchObject({ status: 'failed', failure_code: 'resolved_by_operator' })
})

test('a process that dies after it paused the rails, before it has marked what waits, leaves the rest to the next; what began to wait later is sent', async () => {
  const waiting = await pay(person, toPaybill('400305'))
  service.deps.lossDetection.reportLoss('a test')
  const goOn = endsAt('restore.waiting_payments')
  await expect(service.deps.lossDetection.check()).rejects.toThrow('the process ended')
  expect(await statusOf(waiting)).toBe('processing')

  service.clock.advance(1)
  const later = await pay(person, toPaybill('400306'))
  const other = await startService({ database: service.database, clock: service.clock, provider: service })
  await look(other)
  expect([await statusOf(waiting), await statusOf(later)]).toEqual(['unknown', 'processing'])
  // A process that only slept declares the loss too, without effect.
  goOn()
  await look()
  expect(await statusOf(later)).toBe('processing')
  await resumeAfterLoss(other.deps.db, operator, [], 'a test')
  await look(other)
  await look()
  await pass(other, 60)
  expect([await statusOf(waiting), await statusOf(later)]).toEqual(['unknown', 'succeeded'])
  expect([ordersTo(service, '400305').length, ordersTo(service, '400306').length]).toEqual([0, 1])
  await other.close()
})
