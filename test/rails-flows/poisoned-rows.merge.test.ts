import { expect, test, vi } from 'vitest'
import { type Capacity, createWorkerRunner } from '../../src/jobs/worker.ts'
import { newId, parseId } from '../../src/lib/ids.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { authorizeAgent, newPkce, registerClient, requestConsent } from '../harness/oauth.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { deliver, initiate, pass, pay, paymentOf, topupOf } from './scene.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })

const payer = async (): Promise<Person> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000n)
  return person
}

type Poison = { on?: 'update' | 'delete'; key?: string; condition?: string }

/** Makes every change of this row fail, or each for which `condition` holds, until it is repaired. */
const poison = async (
  table: string,
  id: string,
  { on = 'update', key = 'id', condition = 'true' }: Poison = {},
): Promise<void> => {
  await service.deps.db.query(
    `create or replace function refuse_poisoned() returns trigger language plpgsql as $$ begin raise exception 'poisoned' using errcode = 'data_corrupted'; end $$`,
  )
  await service.deps.db.query(
    `create trigger poisoned before ${on} on ${table} for each row when (old.${key} = '${id}' and ${condition}) execute function refuse_poisoned()`,
  )
}
const heal = (table: string) => service.deps.db.query(`drop trigger poisoned on ${table}`)

const raised = (): { alert: string; subject: string }[] =>
  service.log.flatMap((line) => {
    const entry = JSON.parse(line)
    return entry.alert === undefined ? [] : [{ alert: entry.alert, subject: entry.subject }]
  })

const uuidOf = (kind: Parameters<typeof parseId>[0], id: string): string => {
  const uuid = parseId(kind, id)
  if (!uuid) throw new Error(`${id} is no ${kind}`)
  return uuid
}

const silentPhone = '254700004999'
const fine = { payment_rail: 'MPESA_B2C', destination: '254733111222' }
const day = 86_400

type Due = { id: string; of: Person }
type Case = {
  sweep: string
  table: string
  /** The column of the row's id. Default: `id`. */
  key?: string
  kind: Parameters<typeof parseId>[0]
  make: (of: Person) => Promise<string>
  becomesDueIn: number
  stands: (due: Due) => Promise<string>
  before: string
  after: string
}

/** All work that runs row by row, for all tenants. */
const cases: readonly Case[] = [
  {
    sweep: 'grants.end',
    table: 'grants',
    kind: 'grant',
    make: async (of) => {
      const expires_at = new Date(service.clock.now().getTime() + 60_000).toISOString()
      return (await createKey(of, { expires_at })).grantId
    },
    becomesDueIn: 61,
    stands: async ({ id, of }) =>
      (await of.api.get(`/v1/accounts/me/grants/${id}`)).body.revoked_at === null ? 'live' : 'revoked',
    before: 'live',
    after: 'revoked',
  },
  {
    sweep: 'mandates.expire',
    table: 'intent_mandates',
    kind: 'mandate',
    make: async (of) => (await createMandate(service, of.wallet)).id,
    becomesDueIn: 3_601,
    // Readers see the status by the clock. The recorded and published status follows the sweep.
    stands: async ({ id }) =>
      (
        await service.deps.db.query<{ status: string }>('select status from intent_mandates where id = $1', [
          uuidOf('mandate', id),
        ])
      )[0]?.status ?? '',
    before: 'active',
    after: 'expired',
  },
  {
    sweep: 'approvals.expire',
    table: 'approvals',
    kind: 'approval',
    make: async (of) => {
      await of.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100' })
      const { approval_id: id } = await paymentOf(of, await pay(of, fine))
      // The check of the payee's name changes the row too.
      await service.settle()
      return id
    },
    becomesDueIn: 3 * day + 1,
    stands: async ({ id }) =>
      (await service.deps.db.query<{ status: string }>('select status from approvals where id = $1', [uuidOf('approval', id)]))[0]
        ?.status ?? '',
    before: 'pending',
    after: 'expired',
  },
  {
    sweep: 'topups.expire',
    table: 'topups',
    kind: 'topup',
    make: async (of) => {
      const id = await initiate(of, silentPhone)
      await service.settle()
      return id
    },
    becomesDueIn: day,
    stands: async ({ id, of }) => (await topupOf(of, id)).status,
    before: 'pending',
    after: 'expired',
  },
  {
    sweep: 'attempts.reconcile.PESALINK',
    table: 'payments',
    kind: 'payment',
    make: async (of) => {
      // Sent and paid with a lost callback: a query finds the result.
      service.sandbox.rules.add({ effect: 'lose_callback', rail: 'PESALINK', times: 1, delay_ms: 0 })
      const id = await pay(of, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' })
      await service.settle()
      return id
    },
    becomesDueIn: 60,
    stands: async ({ id, of }) => (await paymentOf(of, id)).status,
    before: 'processing',
    after: 'succeeded',
  },
]
const reconciled = cases.filter(({ sweep }) => sweep === 'attempts.reconcile.PESALINK')
/** The attempts of several payments are claimed together. */
const swept = [...cases, ...reconciled.map((each): Case => ({ ...each, table: 'rail_attempts', key: 'subject_id' }))]

test.each(swept)('$sweep ($table) continues after a row that fails, reports it, and processes it when it can', async (each) => {
  const { sweep, table, key = 'id', kind, make, becomesDueIn, stands, before, after } = each
  const due: Due[] = []
  for (let count = 0; count < 3; count += 1) {
    const of = await payer()
    due.push({ id: await make(of), of })
  }
  const all = () => Promise.all(due.map(stands))
  expect(await all()).toEqual([before, before, before])
  await poison(table, uuidOf(kind, due[0]?.id ?? ''), { key })
  await pass(service, becomesDueIn)
  expect(await all()).toEqual([before, after, after])
  expect(raised()).toContainEqual({ alert: 'sweep_failing', subject: sweep })
  await heal(table)
  await pass(service, becomesDueIn)
  expect(await all()).toEqual([after, after, after])
})

test('payments.give_up continues after a row that fails, reports it, and processes it when it can', async () => {
  service.sandbox.rules.add({ effect: 'spike_arrest', rail: 'MPESA_B2C', times: null, delay_ms: 0 })
  const due: Due[] = []
  for (let count = 0; count < 3; count += 1) {
    const of = await payer()
    due.push({ id: await pay(of, fine), of })
    await service.settle()
  }
  const all = () => Promise.all(due.map(async ({ id, of }) => (await paymentOf(of, id)).status))
  expect(await all()).toEqual(['processing', 'processing', 'processing'])
  await poison('payments', uuidOf('payment', due[0]?.id ?? ''), { condition: "new.status = 'failed'" })
  for (let minute = 0; minute < 50; minute += 5) await pass(service, 300)
  expect(await all()).toEqual(['processing', 'failed', 'failed'])
  expect(raised()).toContainEqual({ alert: 'sweep_failing', subject: 'payments.give_up' })
  await heal('payments')
  await pass(service, 300)
  expect(await all()).toEqual(['failed', 'failed', 'failed'])
  service.sandbox.rules.clear()
  await pass(service, 300)
})

const rowOf = async (table: string, column: string, id: string): Promise<string> =>
  (await service.deps.db.query<{ told: string }>(`select ${column}::text as told from ${table} where id = $1`, [id]))[0]?.told ??
  ''

type WorkerCase = Omit<Case, 'sweep' | 'kind' | 'becomesDueIn'> & { worker: string }

/** All waiting work of a worker: the rows are due at once, and made before any of them is taken. */
const workers: readonly WorkerCase[] = [
  {
    worker: 'notices',
    table: 'approvals',
    make: async (of) => {
      await of.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100' })
      return uuidOf('approval', (await paymentOf(of, await pay(of, fine))).approval_id)
    },
    // After one notification, the next is due at half of its three days.
    stands: ({ id }) => rowOf('approvals', `(notice_due_at > created_at + interval '1 day')`, id),
    before: 'false',
    after: 'true',
  },
  {
    worker: 'mails',
    table: 'mails',
    make: async (of) => {
      const email = `${newId()}@example.com`
      expect((await of.api.post('/v1/workspaces/current/invitations', { role: 'viewer', email })).status).toBe(201)
      return (await service.deps.db.query<{ id: string }>(`select id from mails order by id desc limit 1`))[0]?.id ?? ''
    },
    stands: ({ id }) => rowOf('mails', 'state', id),
    before: 'due',
    after: 'sent',
  },
  {
    worker: 'names',
    table: 'beneficiaries',
    make: async (of) => uuidOf('beneficiary', await newBeneficiary(of.api)),
    stands: ({ id }) => rowOf('beneficiaries', '(name_checked_at is not null)', id),
    before: 'false',
    after: 'true',
  },
  {
    worker: 'payments',
    table: 'payments',
    make: async (of) => uuidOf('payment', await pay(of, fine)),
    stands: ({ id }) => rowOf('payments', 'status', id),
    before: 'processing',
    after: 'succeeded',
  },
  {
    worker: 'topups',
    table: 'topups',
    make: async (of) => uuidOf('topup', await initiate(of, '254722000001')),
    stands: ({ id }) => rowOf('topups', 'status', id),
    before: 'pending',
    after: 'succeeded',
  },
]

test.each(workers)('a row of $table that cannot be claimed delays no other of the worker $worker', async (each) => {
  const { table, make, stands, before, after } = each
  const due: Due[] = []
  for (let count = 0; count < 5; count += 1) {
    const of = await payer()
    due.push({ id: await make(of), of })
  }
  const all = () => Promise.all(due.map(stands))
  expect(await all()).toEqual(Array(5).fill(before))
  await poison(table, due[1]?.id ?? '')
  for (let round = 0; round < 3; round += 1) {
    await service.deps.jobs.drain().catch(() => undefined)
    await service.scheduler.runAll()
  }
  expect(await all()).toEqual([after, before, after, after, after])
  await heal(table)
  await pass(service, 1)
  expect(await all()).toEqual(Array(5).fill(after))
})

test('what a worker could not claim is reported, and is not asked for again at once', async () => {
  const asked: (readonly string[])[] = []
  const failures: unknown[] = []
  const claim = async ({ except }: Capacity) => {
    asked.push(except)
    return { tasks: [], more: false, failed: new Map(asked.length === 1 ? [['bad', new Error('unclaimable')]] : []) }
  }
  const runner = createWorkerRunner({
    worker: { name: 'test', limit: 2, claim },
    logger: service.deps.logger,
    onFailure: (key, count, error) => failures.push([key, count, error]),
  })
  runner.start()
  await vi.waitUntil(() => asked.length === 1)
  runner.wake()
  await vi.waitUntil(() => asked.length === 2)
  await runner.stop()
  expect(failures).toEqual([['bad', 1, new Error('unclaimable')]])
  expect(asked[1]).toEqual(['bad'])
})

test('a row that failed and was then processed elsewhere begins anew when it fails again', async () => {
  const failures: number[] = []
  let claims = 0
  let isDue = true
  const runner = createWorkerRunner({
    worker: {
      name: 'test',
      limit: 2,
      claim: async ({ except }) => {
        claims += 1
        return {
          tasks: [],
          more: false,
          failed: new Map(isDue && except.length === 0 ? [['row', new Error('unclaimable')]] : []),
        }
      },
    },
    logger: service.deps.logger,
    longestPauseMs: 1,
    onFailure: (_, count) => failures.push(count),
  })
  const claimUntil = (isReached: () => boolean) => vi.waitUntil(() => isReached() || void runner.wake(), { interval: 5 })
  runner.start()
  await claimUntil(() => failures.length === 1)
  isDue = false
  const before = claims
  await claimUntil(() => claims > before + 3)
  isDue = true
  await claimUntil(() => failures.length === 2)
  await runner.stop()
  expect(failures).toEqual([1, 1])
})

/** All pruned tables, with many rows per statement. */
const pruned: readonly { sweep: string; table: string; key?: string; make: () => Promise<unknown> }[] = [
  {
    sweep: 'events.prune',
    table: 'events_default',
    // The write of a process whose clock is far behind, outside all periods.
    make: () =>
      service.deps.db.query(
        `insert into events (id, type, account_id, data, created_at) values ($1, 'session.created', $2, '{}', $3)`,
        [newId().replace(/^.{8}/, '00000000'), newId(), service.clock.now()],
      ),
  },
  {
    sweep: 'idempotency.prune',
    table: 'idempotency_keys',
    key: 'scope',
    make: async () => (await payer()).api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key: 'once' }),
  },
  {
    sweep: 'callbacks.prune',
    table: 'callback_deliveries',
    make: () => deliver(`${service.operatorUrl}/callbacks/${newId()}/wrong/result`, {}),
  },
  {
    sweep: 'payment_refusals.prune',
    table: 'payment_refusals',
    make: async () => {
      const { api } = await payer()
      const beneficiary_id = await newBeneficiary(api)
      await api.post('/v1/payments', { beneficiary_id, amount_minor: '25000000' })
      await service.deps.refusals.settled()
    },
  },
  {
    sweep: 'oauth.prune',
    table: 'oauth_authorizations',
    make: async () => requestConsent(await payer(), await registerClient(service.api), newPkce()),
  },
  { sweep: 'oauth.prune', table: 'oauth_access_tokens', make: async () => authorizeAgent(service.api, await payer()) },
  { sweep: 'oauth.prune', table: 'oauth_grants', key: 'grant_id', make: async () => authorizeAgent(service.api, await payer()) },
  { sweep: 'oauth.prune', table: 'oauth_clients', make: async () => registerClient(service.api) },
  { sweep: 'oauth.prune', table: 'oauth_clients', make: async () => authorizeAgent(service.api, await payer()) },
  { sweep: 'nonces.prune', table: 'nonces', key: 'nonce', make: () => signIn(service.api) },
  { sweep: 'sessions.prune', table: 'sessions', make: () => signIn(service.api) },
  {
    sweep: 'sessions.prune',
    table: 'dashboard_tokens',
    make: async () => (await payer()).api.post('/v1/auth/dashboard-tokens'),
  },
  {
    sweep: 'balance_queries.prune',
    table: 'balance_queries',
    make: () =>
      service.deps.db.query(
        `insert into balance_queries (id, round_id, provider, account, secret_hash, came_in_minor, went_out_minor, requested_at)
         values ($1, $1, 'MPESA', '1', '', 0, 0, $2)`,
        [newId(), service.clock.now()],
      ),
  },
  {
    sweep: 'send_logs.prune',
    table: 'send_logs',
    make: () =>
      service.deps.db.query(
        `insert into send_logs (id, process, started_at, seen_at, stopped_at) values ($1, 'host:1', $2, $2, $2)`,
        [newId(), service.clock.now()],
      ),
  },
  { sweep: 'sign_in_flows.prune', table: 'sign_in_flows', make: () => service.api.get('/v1/auth/google/start') },
]

test.each(pruned)(
  '$sweep deletes the old rows of $table after a row that fails, and reports the failure',
  async ({ sweep, table, key = 'id', make }) => {
    const rows = async (): Promise<string[]> =>
      (await service.deps.db.query<{ key: string }>(`select ${key}::text as key from ${table}`)).map((row) => row.key)
    const others = new Set(await rows())
    for (let count = 0; count < 3; count += 1) await make()
    const made = (await rows()).filter((row) => !others.has(row))
    expect(made.length).toBeGreaterThanOrEqual(3)
    const left = async () => (await rows()).filter((row) => made.includes(row))
    await poison(table, made[1] ?? '', { on: 'delete', key })
    service.clock.advance(150 * day)
    await expect(service.deps.jobs.sweep()).rejects.toThrow()
    expect(await left()).toEqual([made[1]])
    expect(service.log.map((line) => JSON.parse(line)).findLast(({ msg }) => msg === 'a sweep failed')).toMatchObject({ sweep })
    await heal(table)
    await service.deps.jobs.sweep()
    expect(await left()).toEqual([])
  },
)

test('a sweep that fails completely does not stop the others, and is reported at the third failure', async () => {
  const of = await payer()
  const topup = await initiate(of, silentPhone)
  await service.settle()
  await service.deps.db.query(
    `create trigger poisoned before delete on idempotency_keys for each row execute function refuse_poisoned()`,
  )
  await of.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }, { key: 'old' })
  service.clock.advance(2 * day)
  for (let count = 0; count < 3; count += 1) await expect(service.deps.jobs.sweep()).rejects.toThrow()
  expect((await topupOf(of, topup)).status).toBe('expired')
  expect(raised()).toContainEqual({ alert: 'sweep_failing', subject: 'idempotency.prune' })
  await heal('idempotency_keys')
  await service.deps.jobs.sweep()
  await service.settle()
  expect(await findBreaches(service)).toEqual([])
})
