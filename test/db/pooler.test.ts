import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, inTx } from '../../src/db/client.ts'
import { settingsOf } from '../../src/db/connection-settings.ts'
import { probeServer } from '../../src/db/pooler.ts'
import { statement } from '../../src/db/statement.ts'
import { factsOf, verifyDaily } from '../../src/operate/verify/verify.ts'
import { credit, fund, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { startService, type TestService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { findBreaches } from '../harness/verify.ts'
import { canKeepStatements, findPgbouncer, startPgbouncer } from './between.ts'

/** Fewer than concurrent callers, so that each connection to Postgres serves many of them in turn. */
const servers = 4
const settings = settingsOf(7_000)

/** Two processes behind one pooler. A sentence if no such pooler exists. */
const openScene = async (keepsStatements: boolean) => {
  const program = findPgbouncer()
  if (program === undefined) return 'PgBouncer is not installed: nothing was tried with a pooler'
  if (keepsStatements && !(await canKeepStatements(program)))
    return 'this PgBouncer is older than 1.21: nothing was tried with a pooler that keeps prepared statements'
  const database = await createTestDatabase()
  const bouncer = await startPgbouncer(program, database.url, { keepsStatements, servers })
  const { pooler } = await probeServer(bouncer.url, settings)
  const through = { url: bouncer.url, ...(pooler && { pooler }) }
  const first = await startService({ database, through })
  const second = await startService({ database, through, clock: first.clock, provider: first })
  await first.deps.db.query('create table test_notes (number int primary key check (number < 1000), lone int)')
  await first.deps.db.query('alter table test_notes add unique (lone) deferrable initially deferred')
  await first.deps.db.query('insert into test_notes (number, lone) values (0, 0)')
  const close = async () => {
    await second.close()
    await first.close()
    await bouncer.stop()
    await database.drop()
  }
  const direct = await probeServer(database.url, settings)
  return { database, through, pooler, direct, first, second, close }
}
type Scene = Exclude<Awaited<ReturnType<typeof openScene>>, string>

const note = statement('test.pooled-note')`insert into test_notes (number, lone) values ($1, $2) returning number`
const noted = statement('test.pooled-notes')`select number from test_notes where number = any($1::int[]) order by number`

/** One transaction of three rows. `fault`: its second row or its commit is refused. */
const writeNotes = (db: Database, from: number, fault: 'row' | 'commit' | null) =>
  inTx(db, async (tx) => {
    await tx.query(note, [from, null])
    const answers = await Promise.all([
      tx.query(note, [fault === 'row' ? 5000 : from + 1, null]),
      tx.query(note, [from + 2, fault === 'commit' ? 0 : null]),
      tx.query(noted, [`{${from}}`]),
    ])
    return answers.flat()
  })

type Payer = { person: Person; agent: Person['api']; beneficiary: string }

const newPayer = async (service: TestService): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  const policy = await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '5000' })
  expect(policy.status).toBe(201)
  return { person, agent: (await createKey(person)).api, beneficiary: await newBeneficiary(person.api) }
}

/** Pays, asks, is refused, and finds exactly its own records. */
const payOnce = async ({ person, agent, beneficiary }: Payer, mark: string) => {
  const pay = (amount_minor: string) =>
    agent.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor, metadata: { mark: `${mark} ${amount_minor}` } })
  const [small, large, refused] = await Promise.all([pay('1000'), pay('6000'), pay('20000000')])
  expect(small).toMatchObject({ status: 201, body: { status: 'processing', metadata: { mark: `${mark} 1000` } } })
  expect(large).toMatchObject({ status: 201, body: { status: 'pending_approval', metadata: { mark: `${mark} 6000` } } })
  expect(refused).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } })
  const decided = await person.api.post(`/v1/approvals/${large.body.approval_id}/decide`, { decision: 'approve' })
  expect(decided).toMatchObject({ status: 200, body: { id: large.body.approval_id, payment: { id: large.body.id } } })
  return [small.body.id, large.body.id]
}

describe.each([
  { name: 'forgets prepared statements', keepsStatements: false },
  { name: 'keeps prepared statements', keepsStatements: true },
])('a transaction pooler that $name', ({ keepsStatements }) => {
  let opened: Scene | string
  beforeAll(async () => {
    opened = await openScene(keepsStatements)
  })
  afterAll(async () => {
    if (typeof opened === 'object') await opened.close()
  })
  const scene = (skip: (why: string) => never): Scene => (typeof opened === 'string' ? skip(opened) : opened)

  test('is detected', ({ skip }) => {
    const { direct, pooler } = scene(skip)
    expect(direct.pooler).toBeUndefined()
    expect(pooler).toEqual({ keepsStatements, differingSettings: [] })
  })

  test('serves payments, streams and revocations', async ({ skip }) => {
    const { first } = scene(skip)
    const person = await signIn(first.api)
    await fund(first, person, 100_000n)
    const stream = await openStream(person.api)
    const beneficiary = await newBeneficiary(person.api)
    const pay = () => person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
    const answers = await Promise.all(Array.from({ length: 40 }, pay))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    await first.settle()
    await stream.next('payment.succeeded')
    stream.close()
    const { body } = await person.api.get('/v1/payments?status=succeeded&limit=100')
    expect(body.data).toHaveLength(40)
    await person.api.post('/v1/auth/logout')
    expect((await person.api.get('/v1/accounts/me')).body.error).toBe('session_revoked')
  })

  test('gives each of many callers at two processes what is its own', async ({ skip }) => {
    const { first, second } = scene(skip)
    const payers = await Promise.all([first, second, first, second, first, second].map(newPayer))
    const made = await Promise.all(
      payers.map(async (payer, number) => {
        const rounds = await Promise.all([0, 1, 2, 3].map((round) => payOnce(payer, `${number} ${round}`)))
        return rounds.flat().sort()
      }),
    )
    const listed = await Promise.all(
      payers.map(async ({ person }) => (await person.api.get('/v1/payments?limit=100')).body.data as { id: string }[]),
    )
    expect(listed.map((payments) => payments.map(({ id }) => id).sort())).toEqual(made)
    await first.settle()
    for (const { person } of payers) {
      const { body } = await person.api.get('/v1/accounts/me')
      expect(body.balance).toMatchObject({ available_minor: '972000', held_minor: '0' })
    }
    expect(await findBreaches(first)).toEqual([])
  })

  test('keeps a transaction whose statement or commit is refused apart from those beside it', async ({ skip }) => {
    const { first, second } = scene(skip)
    const faults = Array.from({ length: 48 }, (_, number) => (['row', null, 'commit', null] as const)[number % 4] ?? null)
    const settled = await Promise.allSettled(
      faults.map((fault, number) => writeNotes((number % 3 === 0 ? first : second).deps.db, 10 + number * 3, fault)),
    )
    const expected = faults.map((fault, number) => {
      const from = 10 + number * 3
      if (fault !== null) return { status: 'rejected', reason: { code: fault === 'row' ? '23514' : '23505' } }
      return { status: 'fulfilled', value: [from + 1, from + 2, from].map((one) => ({ number: one })) }
    })
    expect(settled).toMatchObject(expected)
    const rows = await first.deps.db.query<{ number: number }>('select number from test_notes where number >= 10 order by number')
    const kept = faults.flatMap((fault, number) => (fault === null ? [0, 1, 2].map((more) => 10 + number * 3 + more) : []))
    expect(rows.map(({ number }) => number)).toEqual(kept)
  })

  test('is bypassed by the daily check of all data, which never runs with the timeout of a request', async ({ skip }) => {
    const { database, through, first } = scene(skip)
    const service = await startService({ database, through, clock: first.clock, provider: first, fixed: { JOBS: 'inline' } })
    const logged = (text: string) => service.log.filter((line) => line.includes(text))
    await expect.poll(() => logged('data checked against every promise')).toHaveLength(1)
    expect(logged('a sweep failed')).toEqual([])
    await service.close()
    const onBroken = () => undefined
    const pooled = { directUrl: through.url, ...first.deps, facts: () => factsOf(first.deps), onBroken }
    await expect(verifyDaily(pooled)).rejects.toThrow('set DATABASE_DIRECT_URL to Postgres itself')
  })

  test('ends the settings of a transaction with it', async ({ skip }) => {
    const { db } = scene(skip).first.deps
    const settings = `select current_setting('transaction_read_only') as readonly, current_setting('plan_cache_mode') as plans`
    const inside = { readonly: 'on', plans: 'force_custom_plan' }
    const turns = Array.from({ length: 8 * servers }, (_, turn) => turn)
    const searches = await Promise.all(turns.map(() => db.search((tx) => tx.query(settings))))
    expect(searches).toEqual(turns.map(() => [inside]))
    const after = await Promise.all(turns.map(() => inTx(db, (tx) => tx.query(settings))))
    expect(after).toEqual(turns.map(() => [{ readonly: 'off', plans: 'force_generic_plan' }]))
  })
})
