import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { readMigrations, readReleases } from '../../src/db/migrations.ts'
import { isFull } from '../faults/world.ts'
import { createClient, type Json } from '../harness/client.ts'
import { connected } from '../harness/connected.ts'
import { signIn } from '../harness/people.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/postgres.ts'
import { compiledOnce, programs } from '../harness/programs.ts'
import { tables } from '../upgrade/dump.ts'
import { type Balancer, balancers, isInstalled } from './balancer.ts'
import { freePlaces, newPayer, payAtRate, startPair } from './pair.ts'
import { committedRelease, nextRelease, type ReleaseFolder, thisRelease } from './release-folder.ts'

// Each costs 25 milliseconds of processor time until it has ended.
const perSecond = isFull ? 50 : 4
const leastPayments = isFull ? 500 : 60
const clients = isFull ? 12 : 3
const fromEachSide = isFull ? 20 : 6
const grownPayments = 1_000_000

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const started = async (): Promise<{ places: Awaited<ReturnType<typeof freePlaces>>; balancer: Balancer }> => {
  const places = await freePlaces()
  const name = isInstalled('haproxy') ? 'haproxy' : 'a plain one'
  if (name !== 'haproxy') process.stderr.write('haproxy is not installed here: the upgrade runs behind a plain balancer\n')
  const balancer = await balancers[name](places)
  ends.push(balancer.close)
  return { places, balancer }
}

const listed = async (api: ReturnType<typeof createClient>, query: string): Promise<Json[]> => {
  const found: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: { body: Json } = await api.get(`/v1/payments?limit=100${query}${cursor && `&cursor=${cursor}`}`)
    found.push(...body.data)
    cursor = body.next_cursor
  }
  return found
}

/** Every change that a rolling upgrade may make, to every table: the previous version must not depend on all columns. */
const additions = async (url: string): Promise<string[]> => {
  const names = await connected(url, async (client) =>
    (await client.query<{ text: string }>(tables)).rows.map(({ text }) => text),
  )
  return [
    'create table further (id uuid primary key, note text)',
    ...names.map((name, index) => `alter table ${name} add column further ${index % 2 ? 'text' : `text default '' not null`}`),
    '-- no transaction\ncreate index concurrently if not exists payments_further on payments (further)',
  ]
}

/** Earlier payments to the payer's beneficiary, copied from one: an old version must search them as fast as before. */
const grow = (url: string, count: number) =>
  connected(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select quote_ident(column_name) as name from information_schema.columns where table_name = 'payments' order by ordinal_position`,
    )
    const names = rows.map(({ name }) => name)
    const changed: Readonly<Record<string, string>> = {
      id: `(lpad(to_hex((extract(epoch from created_at - n * interval '1 second') * 1000)::bigint), 12, '0') || '7000' || right(md5(n::text), 16))::uuid`,
      amount_minor: 'amount_minor + 100 * n',
      created_at: `created_at - n * interval '1 second'`,
      idempotency_key: 'null',
      request_hash: 'null',
      provider_receipt: 'null',
    }
    await client.query(
      `insert into payments (${names.join(', ')}) select ${names.map((name) => changed[name] ?? name).join(', ')}
       from (select * from payments where status = 'succeeded' limit 1) as one cross join generate_series(90000, 90000 + $1 - 1) as n`,
      [count],
    )
    await client.query('vacuum analyze payments')
  })

/** Blocks of the payments' table and indexes requested so far, and inserted payments. A server process reports its own within a second. */
const paymentsRead = (url: string): Promise<{ blocks: number; inserted: number }> =>
  connected(url, async (client) => {
    const { rows } = await client.query<{ blocks: string; inserted: string }>(
      `select heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read as blocks, n_tup_ins as inserted
       from pg_statio_user_tables join pg_stat_user_tables using (relid) where pg_statio_user_tables.relname = 'payments'`,
    )
    return { blocks: Number(rows[0]?.blocks), inserted: Number(rows[0]?.inserted) }
  })

type Api = ReturnType<typeof createClient>

/** A team on its owner's balance, as 0.3.0 makes them. Both versions pay for it. After the upgrade it gets its own balance. */
const sharedTeam = async (api: Api) => {
  const made = await api.post('/v1/workspaces', { name: 'Shared' })
  expect(made.status).toBe(201)
  const headers = { 'workspace-id': made.body.workspace.id }
  const payee = { type: 'person', display_name: 'Their driver', payment_rail: 'MPESA_B2C', destination: '0712000077' }
  const { id: beneficiary_id } = (await api.post('/v1/beneficiaries', payee, { headers })).body
  let paid = 0
  const pay = async (at: Api) => {
    paid += 1
    const answer = await at.post('/v1/payments', { beneficiary_id, amount_minor: '2000' }, { key: `team ${paid}`, headers })
    expect(answer.status).toBe(201)
  }
  const own = async (at: Api) => BigInt((await at.get('/v1/accounts/me')).body.balance.available_minor)
  const separation = '/v1/workspaces/current/separate-balance'
  const separate = (at: Api) => at.post(separation, { amount_minor: '100000' }, { headers })
  return {
    pay,
    paid: () => paid,
    /** `finish`: the operator's command once no process of the previous version is left. */
    separateAfter: async (at: Api, finish: () => Promise<unknown>) => {
      for (const early of [await separate(at), await at.post('/v1/workspaces', { name: 'Early' })])
        expect([early.status, early.body.details?.reason]).toEqual([503, 'upgrade_running'])
      await finish()
      const before = await own(at)
      const separated = await separate(at)
      expect([separated.status, separated.body.workspace]).toMatchObject([200, { balance_shared: false }])
      await pay(at)
      const view = async () => (await at.get('/v1/workspaces/current', { headers })).body.workspace.balance
      await expect.poll(view).toMatchObject({ available_minor: '98000', held_minor: '0' })
      expect(await own(at)).toBe(before - 100_000n)
      expect((await at.post('/v1/workspaces', { name: 'Later' })).status).toBe(201)
    },
  }
}

/**
 * Two processes of `old` under load; the migrations of `next` as a separate step; each process in turn replaced by one of `next`.
 * For a while both versions pay on one schema.
 */
const upgrade = async (
  database: TestDatabase,
  old: ReleaseFolder,
  next: ReleaseFolder,
  sharesBalances = false,
): Promise<void> => {
  await migrate(database.url, { folder: old.migrations })
  const { places, balancer } = await started()
  const settings = { PUBLIC_URL: balancer.url, TRUST_PROXY: '127.0.0.1', MIGRATE: 'off' }
  const pair = await startPair(places, settings, database, old.start)
  ends.push(pair.close)
  await Promise.all([balancer.joined(0), balancer.joined(1)])
  const payer = await newPayer(balancer.url)
  const apis = pair.urls.map((url) => createClient(url).as({ cookie: payer.person.cookie }))

  const [oneApi = payer.person.api] = apis
  const team = sharesBalances ? await sharedTeam(oneApi) : undefined

  let upgraded = false
  const from = performance.now()
  const paying = payAtRate(payer, { perSecond, clients, atLeast: leastPayments + 1, mayEnd: () => upgraded })
  let sides = 0
  try {
    const before = new Set(readMigrations(old.migrations).map(({ tag }) => tag))
    const applied = await migrate(database.url, { folder: next.migrations, pauseMs: 1_000 })
    const during = readMigrations(next.migrations).filter(({ tag, afterUpgrade }) => !before.has(tag) && !afterUpgrade)
    expect(applied).toEqual(during.map(({ tag }) => tag))
    // The previous version's processes are ready on the newer schema.
    for (const api of apis) expect((await api.get('/readyz')).body.status).toBe('ok')
    await pair.restartEach(balancer, next.start, async () => {
      for (const api of apis) {
        const body = { beneficiary_id: payer.beneficiary, amount_minor: '2000' }
        for (let count = 0; count < fromEachSide; count += 1) {
          sides += 1
          expect((await api.post('/v1/payments', body, { key: `beside ${sides}` })).status).toBe(201)
          await team?.pay(api)
        }
      }
    })
  } finally {
    upgraded = true
  }
  const answers = await paying
  const reached = Math.round(answers.length / ((performance.now() - from) / 1_000))

  expect(answers.length).toBeGreaterThan(leastPayments)
  // No payment failed.
  const refused = answers.flatMap(({ status, error }) => (status === 201 ? [] : [`${status} ${error}`]))
  expect(
    Object.entries(Object.groupBy(refused, (one) => one)).map(([one, all = []]) => [one, all.length]),
    pair.warnings().join('\n'),
  ).toEqual([])
  // No payment is lost or doubled: one per key, with one order each at the provider.
  await expect.poll(async () => (await listed(oneApi, '&status=processing')).length).toBe(0)
  const all = await listed(oneApi, '')
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(answers.map(({ id }) => id)))
  expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length)
  expect([all.length, sides]).toEqual([answers.length + sides, 4 * fromEachSide])
  expect(all.filter(({ status }) => status !== 'succeeded')).toEqual([])
  const movements: Json = await (await fetch(`${pair.sandboxUrl}/control/movements`)).json()
  expect(movements.data.filter(({ rail }: Json) => rail === 'MPESA_B2C')).toHaveLength(all.length + (team?.paid() ?? 0))
  const run = (command: string) =>
    promisify(execFile)(process.execPath, [programs.admin, command], {
      env: { PATH: process.env.PATH, ...compiledOnce, ...pair.environment, MIGRATE: 'off' },
    })
  const again = await signIn(createClient(balancer.url), payer.person.wallet)
  await team?.separateAfter(again.api, () => run('finish-upgrade'))
  // The command fails if a promise is broken.
  await run('verify')
  process.stdout.write(`${old.name} to ${next.name}: ${answers.length + sides} payments, ${reached} a second, none failed\n`)
}

/** Reads of an old version's payment must not grow with the payments: on its own schema, the newer one, or after a rollback. */
const keepsItsPlans = async (old: ReleaseFolder): Promise<void> => {
  const database = await createEmptyDatabase()
  await migrate(database.url, { folder: old.migrations })
  const { places, balancer } = await started()
  const settings = { PUBLIC_URL: balancer.url, TRUST_PROXY: '127.0.0.1', MIGRATE: 'off' }
  const pair = await startPair(places, settings, database, old.start)
  ends.push(pair.close)
  await Promise.all([balancer.joined(0), balancer.joined(1)])
  const payer = await newPayer(balancer.url)
  let made = 0
  const pay = async () => {
    made += 1
    const body = { beneficiary_id: payer.beneficiary, amount_minor: String(1_000 + 100 * made) }
    const { status, body: payment } = await payer.person.api.post('/v1/payments', body, { key: `grown ${made}` })
    expect(status).toBe(201)
    await expect.poll(async () => (await payer.person.api.get(`/v1/payments/${payment.id}`)).body.status).toBe('succeeded')
  }
  const blocksOfOne = async (payments = 20) => {
    await pay()
    const before = await paymentsRead(database.url)
    for (let count = 0; count < payments; count += 1) await pay()
    const after = await paymentsRead(database.url)
    return Math.round((after.blocks - before.blocks) / (after.inserted - before.inserted))
  }
  await pay()
  await grow(database.url, grownPayments)
  const own = await blocksOfOne()
  // Payments all the while: a migration that drops an index of the old plans stops them at once.
  let migrated = false
  const paying = payAtRate(payer, { perSecond: 5, clients: 2, atLeast: 50, mayEnd: () => migrated })
  const between: number[] = []
  try {
    const known = readMigrations(old.migrations).length
    for (const { tag: last } of readMigrations().slice(known)) {
      await migrate(database.url, { last, pauseMs: 1_000 })
      between.push(await blocksOfOne(5))
    }
  } finally {
    migrated = true
  }
  const answers = await paying
  expect(answers.filter(({ status }) => status !== 201)).toEqual([])
  const newer = await blocksOfOne()
  await pair.restartEach(balancer, thisRelease().start)
  await pay()
  await pair.restartEach(balancer, old.start)
  const rolledBack = await blocksOfOne()
  process.stdout.write(
    `${old.name}, ${grownPayments} payments: ${own} blocks a payment, ${between.join(', ')} between migrations beside ${answers.length} further payments, ${newer} and ${rolledBack} after a rollback\n`,
  )
  // A newer release's additional index costs a few blocks more per written row.
  expect(Math.max(...between, newer, rolledBack)).toBeLessThan(2 * own + 50)
}

describe(`a rolling upgrade under up to ${perSecond} payments a second`, { timeout: 600_000 }, () => {
  const all = readReleases().map(({ version }) => version)
  const recent = all.slice(-2)
  /** Releases whose teams pay from the owner's balance. */
  const sharing = ['0.2.0', '0.3.0']
  let installing: ReadonlyMap<string, Promise<ReleaseFolder | string>>
  // Runs beside the first test, which mostly waits: npm takes as long.
  beforeAll(() => {
    installing = new Map(recent.map((version) => [version, committedRelease(version)]))
  })
  afterAll(async () => {
    for (const released of await Promise.all(installing.values())) if (typeof released !== 'string') released.remove()
  })

  test('from this version to one that adds to every table: none fails, none is lost, none is paid twice', async () => {
    const database = await createEmptyDatabase()
    await migrate(database.url)
    const next = nextRelease(await additions(database.url))
    ends.push(next.remove)
    await upgrade(database, thisRelease(), next)
  })

  test.for(recent)('from %s to this version', async (version, { skip }) => {
    const released = await installing.get(version)
    if (typeof released === 'object')
      return upgrade(await createEmptyDatabase(), released, thisRelease(), sharing.includes(version))
    process.stderr.write(`the upgrade from ${version} is not run: ${released}\n`)
    return skip()
  })

  for (const version of all)
    test.runIf(isFull)(
      `${version} decides payments by its own plans on the schema of this version, and after a rollback`,
      async ({ skip }) => {
        const installed = installing.get(version)
        const released = await (installed ?? committedRelease(version))
        if (typeof released === 'string') {
          process.stderr.write(`the plans of ${version} are not tried: ${released}\n`)
          return skip()
        }
        if (!installed) ends.push(released.remove)
        await keepsItsPlans(released)
      },
    )
})
