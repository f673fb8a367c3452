import { globSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { namedStatements } from '../../src/db/statement.ts'

// Commands load these modules.
import '../../src/modules/audit-log/export.ts'
import '../../src/modules/attempts/attempt.ts'
import '../../src/modules/attempts/trace.ts'
import { everyPayee } from '../../src/policy/scope-sql.ts'
import { createClient } from '../harness/client.ts'
import { connected } from '../harness/connected.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { openService } from '../harness/service.ts'
import { fillTables } from './filled.ts'

const service = await openService()
// Requests of this client send only the service's own statements.
const person = await signIn(createClient(service.api.url))
await credit(service, person.accountId, 1_000_000n)
const beneficiary = await newBeneficiary(person.api)
const key = await createKey(person)

/** Tables that stay small, or that a statement reads as a whole. Every other table grows with use. */
const small = new Set([
  'dashboard_files',
  'installation',
  'operator_invitations',
  'counted_hours',
  'installation_keys',
  'signing_keys',
  'duplicate_checks',
  'rail_health',
  'rail_pauses',
  'send_logs',
  'provider_tokens',
  'write_losses',
  'verify_points',
])

/** Reads that scan a table on purpose, with the reason why they are rare. */
const knowingly = new Set([
  'metrics.rows reads all of stream_places: a row for each open stream, once for each reading of the metrics',
  'request_log.trim reads all of request_log: an index of seven days, six times an hour',
  'reconciliation.booked reads all of payments: once for each statement that a provider sends, a few a day',
  'reconciliation.fees reads all of payments: once a day, for each provider whose balances are compared',
  'balance_queries.prune reads all of balance_queries: once an hour, at most a few queries for each number and day',
  'audit.last_seal_before reads all of audit_seals: from the newest back to the instant, which is at most minutes ago',
  'balance_queries.prune reads all of balance_queries: a few rows for each day, once an hour',
  'sessions.prune reads all of dashboard_tokens: with the rows of sessions',
  'oauth.prune_unused_clients reads all of oauth_grants: in parts, six times an hour, with the rows of oauth_clients',
  'oauth.prune_lapsed_clients reads all of oauth_grants: in parts, six times an hour, with the rows of oauth_clients',
  'oauth.prune_lapsed_clients reads all of oauth_clients: in parts, six times an hour, of a table from which it deletes',
  'oauth.prune_lapsed_clients reads all of oauth_authorizations: with the rows of oauth_clients',
])

/** Administrators' paged lists of all tenants: newest first, so that a page without rare filters ends early. */
const paged = new Set([
  'accounts.list',
  'adjustments.list',
  'audit.list',
  'payments.all',
  'reconciliation.differences',
  'suspense.list',
  'provider_alerts.list',
  'movements.list',
])
const isPaged = (sentence: string): boolean => paged.has(sentence.split(/[+ ]/)[0] ?? '')

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  Plans?: Plan[]
}

/** `rows`: the table's rows. */
type Index = { name: string; partial: boolean; leads: string; rows: number }

/** Partial indexes that grow with their tables: reading one of them whole is reading the table. */
const growing = new Set([
  'payments_paid',
  'payments_idempotency_key',
  'payments_unapproved',
  'payments_approved',
  'payments_receipt_key',
])

const readIndexes = async (client: pg.Client): Promise<ReadonlyMap<string, Index>> => {
  const { rows } = await client.query<Index>(
    `select indexrelid::regclass::text as name, indpred is not null and not indexrelid::regclass::text = any($1) as partial, pg_get_indexdef(indexrelid, 1, true) as leads, reltuples as rows
     from pg_index join pg_class c on c.oid = indrelid`,
    [[...growing]],
  )
  return new Map(rows.map((row) => [row.name, row]))
}

type Reads = (plan: Plan, limited: boolean) => boolean

const explain = async (client: pg.Client, text: string, reads: Reads): Promise<string[]> => {
  const { rows } = await client.query(`explain (generic_plan, format json) ${text}`)
  return scansIn(rows[0]['QUERY PLAN'][0].Plan, reads, false)
}

/**
 * With scans disabled, a whole table is read by an index without a condition. Exceptions: an index of only the wanted rows, and
 * the first rows in its order.
 */
const readsAll =
  (indexes: ReadonlyMap<string, Index>): Reads =>
  (plan, limited) => {
    if (plan['Node Type'] === 'Seq Scan') return true
    if (!/^Index (Only )?Scan$/.test(plan['Node Type']) || plan['Index Cond'] !== undefined) return false
    return !indexes.get(plan['Index Name'] ?? '')?.partial && !(limited && plan.Filter === undefined)
  }

/** An index and a plan write one expression differently. */
const plain = (expression: string): string => expression.replaceAll(/[\s()]/g, '')

/** So does an index without a condition on its first column, the tenant's. In empty tables or parts all indexes cost alike. */
const readsTenants = (indexes: ReadonlyMap<string, Index>): Reads => {
  const all = readsAll(indexes)
  return (plan, limited) => {
    const index = indexes.get(plan['Index Name'] ?? '')
    const condition = plan['Index Cond']
    if (index && index.rows <= 0) return false
    if (!index || condition === undefined) return all(plan, limited)
    return !index.partial && !plain(condition).includes(plain(index.leads))
  }
}

const scansIn = (plan: Plan, reads: Reads, limited: boolean): string[] => [
  ...(reads(plan, limited) && plan['Relation Name'] !== undefined && !small.has(plan['Relation Name'])
    ? [plan['Relation Name']]
    : []),
  ...(plan.Plans ?? []).flatMap((below) => scansIn(below, reads, plan['Node Type'] === 'Limit')),
]

/** The settings of the service's connections. */
const settings = 'set enable_seqscan = off; set enable_bitmapscan = off; set enable_mergejoin = off; set jit = off'

const scansOfAll = async (client: pg.Client, reads: Reads): Promise<string[]> => {
  await client.query(settings)
  const scanning: string[] = []
  // Excludes earlier tests of this process, whose tables do not exist here.
  for (const { name, text } of namedStatements().filter((statement) => !statement.name.startsWith('test.'))) {
    for (const table of await explain(client, text, reads)) scanning.push(`${name} reads all of ${table}`)
  }
  return [...new Set(scanning)].filter((sentence) => !isPaged(sentence))
}

const known = [...knowingly].map((sentence) => sentence.split(':')[0])
const isKnown = (sentence: string): boolean => known.includes(sentence.replace(/\+\w+/, ''))

/** The statements' names in the sources. An optional parameter, or a turn of joined lookups, extends a name. */
const namesInSources = (): string[] =>
  globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:statement|prepare|prepareText<[^()]*>\(\))\(\s*'([\w.]+)'/g)].map(
      ([, name]) => name ?? '',
    ),
  )

test('no named statement is left out of what is explained here', () => {
  const explained = new Set(namedStatements().map(({ name }) => name.split(/[@+]/)[0]))
  const named = namesInSources()
  expect(named.length).toBeGreaterThan(200)
  expect(named.filter((name) => !explained.has(name))).toEqual([])
  // This proves that the test detects one more.
  expect(explained.has('payments.forgotten')).toBe(false)
})

describe('every named statement finds its rows by an index', () => {
  test('where tables are empty: with scans switched off, a plan that still scans has no index to use', async ({ skip }) => {
    await connected(service.database.url, async (client) => {
      const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`)
      skip(Number(rows[0]?.version) < 160_000, 'EXPLAIN (GENERIC_PLAN) needs PostgreSQL 16: the plans were not looked at')
      expect(namedStatements().length).toBeGreaterThan(50)
      const reads = readsAll(await readIndexes(client))
      expect((await scansOfAll(client, reads)).filter((sentence) => !isKnown(sentence))).toEqual([])
      // This proves that the check finds a missing index.
      expect(await explain(client, 'select id from payments where narrative = $1', reads)).toEqual(['payments'])
      expect(await explain(client, 'select id from payments order by id', reads)).toEqual(['payments'])
      expect(await explain(client, 'select id from payments where narrative = $1 order by id limit 1', reads)).toEqual([
        'payments',
      ])
      expect(await explain(client, 'select id from payments order by id limit 1', reads)).toEqual([])
    })
  })

  test('where every table has thousands of rows, of as many tenants', async ({ skip }) => {
    const database = await createTestDatabase()
    try {
      await connected(database.url, async (client) => {
        const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`)
        skip(Number(rows[0]?.version) < 160_000, 'EXPLAIN (GENERIC_PLAN) needs PostgreSQL 16: the plans were not looked at')
        await fillTables(client, 3_000)
        const reads = readsTenants(await readIndexes(client))
        expect((await scansOfAll(client, reads)).filter((sentence) => !isKnown(sentence))).toEqual([])
        // This proves that the check finds a statement that reads other tenants' rows.
        const ofAll = `select id from payments where status = 'succeeded' order by workspace_id, status limit 1`
        expect(await explain(client, ofAll, reads)).toEqual(['payments'])
      })
    } finally {
      await database.drop()
    }
  })
})

const conditionsOn = (table: string, plan: Plan): string[] => [
  ...(plan['Relation Name'] === table ? [plan['Index Cond'] ?? 'everything'] : []),
  ...(plan.Plans ?? []).flatMap((below) => conditionsOn(table, below)),
]

type Skip = (condition: boolean, reason: string) => void

/** The plans of named statements, made as the service's connections make them. */
const plansOf = async (names: readonly string[], skip: Skip): Promise<Plan[]> => {
  const [server] = await service.deps.db.query<{ version: string }>(`select current_setting('server_version_num') as version`)
  skip(Number(server?.version) < 160_000, 'EXPLAIN (GENERIC_PLAN) needs PostgreSQL 16: the plans were not looked at')
  return connected(service.database.url, async (client) => {
    await client.query('set enable_seqscan = off')
    await client.query('set enable_bitmapscan = off')
    await client.query('set enable_mergejoin = off')
    const plans: Plan[] = []
    for (const statementName of names) {
      const text = namedStatements().find(({ name }) => name === statementName)?.text ?? ''
      const { rows } = await client.query(`explain (generic_plan, format json) ${text}`)
      plans.push(rows[0]['QUERY PLAN'][0].Plan)
    }
    return plans
  })
}

test('the state that decides a payment is read by index, also where one payee has thousands of names', async ({ skip }) => {
  const { db } = service.deps
  const { rows } = await db.pool.query<{ id: string }>('select id from beneficiaries limit 1')
  await db.query(
    `insert into beneficiaries select (jsonb_populate_record(b, jsonb_build_object('id', uuidv7()))).* from beneficiaries b, generate_series(1, 3000) n
     where b.id = $1`,
    [rows[0]?.id],
  )
  try {
    await db.query('analyze beneficiaries')
    for (const plan of await plansOf(['payments.state'], skip)) {
      const conditions = conditionsOn('beneficiaries', plan)
      expect(conditions.length).toBeGreaterThan(3)
      expect(conditions).not.toContain('everything')
    }
  } finally {
    await db.query('delete from beneficiaries where id in (select id from beneficiaries order by id desc limit 3000)')
    await db.query('analyze beneficiaries')
  }
})

test('a later page of the history and of events begins at its place in the index: nothing newer is read', async ({ skip }) => {
  const names = ['events.earlier', 'ledger.history']
  const [events = '', ...histories] = (await plansOf(names, skip)).map((plan) => JSON.stringify(plan))
  for (const history of histories)
    expect(history).toMatch(/"Index Cond":"[^"]*ROW\(customer_account_id, id\) < ROW\([^,]*, COALESCE\(/)
  expect(events).toMatch(/"Index Cond":"[^"]*ROW\([^)]*id\) < ROW\(COALESCE\(/)
})

const conditionsIn = (index: string, plan: Plan): string[] => [
  ...(plan['Index Name'] === index ? [plan['Index Cond'] ?? 'everything'] : []),
  ...(plan.Plans ?? []).flatMap((below) => conditionsIn(index, below)),
]

test('what was paid to a payee is read from an index of paid payments: those that wait for their results are not read', async ({
  skip,
}) => {
  const names = ['payments.past', 'approvals.by_id', 'approvals.list', 'approvals.paid_to_payee', 'payment_batches.lines']
  for (const [index, plan] of (await plansOf(names, skip)).entries()) {
    const conditions = conditionsIn('payments_paid', plan)
    expect([names[index], conditions[0], conditions.filter((condition) => !condition.includes('payee_id ='))]).toEqual([
      names[index],
      expect.any(String),
      [],
    ])
  }
})

test('the totals that a policy starts from are read by workspace, payee and day: other tenants and the number of payees cost nothing', async ({
  skip,
}) => {
  for (const plan of await plansOf(['policies.seed_counters', 'simulation.usage'], skip)) {
    const conditions = conditionsOn('spending_totals', plan)
    expect(conditions).toHaveLength(1)
    for (const column of ['workspace_id =', 'payee_id = ANY', 'day >=', 'day <']) expect(conditions[0]).toContain(column)
  }
  // One row for all payees together stands for any number.
  await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' })
  const another = await newBeneficiary(person.api, { destination: '254733000777' })
  await person.api.post('/v1/payments', { beneficiary_id: another, amount_minor: '10000' })
  const together = await service.deps.db.query<{ payments: bigint }>('select payments from spending_totals where payee_id = $1', [
    everyPayee,
  ])
  expect(together.map(({ payments }) => payments)).toEqual([2n])
})

test('sums of money at a provider continue from a stored point: a comparison reads only the transfers after it', async ({
  skip,
}) => {
  for (const plan of await plansOf(['ledger.clearing', 'ledger.clearing_advance'], skip)) {
    const read = ['ledger_transfers', 'payments', 'topups', 'suspense_items'].map((table) => conditionsOn(table, plan))
    expect(read).toEqual([
      [expect.stringMatching(/^\(id > /)],
      ...['payments', 'topups', 'suspense_items'].map(() => [
        expect.stringMatching(/^\(id = t\.reference_id|^\(id = \S*reference_id/),
      ]),
    ])
  }
})

/** The listener for events also sends this every ten seconds, whatever is requested. */
const control = /^(begin|commit|rollback|savepoint|release|notify|select 1$)/

/** Statements without a name, which were planned for this request alone. */
const unnamedDuring = async (request: () => Promise<unknown>): Promise<string[]> => {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await request()
    return spy.mock.calls
      .map(([query]) => query as unknown as string | { text: string; name?: string })
      .flatMap((query) => (typeof query === 'string' ? [query] : query.name === undefined ? [query.text] : []))
      .filter((text) => !control.test(text))
  } finally {
    spy.mockRestore()
  }
}

describe('the statements of the most frequent requests are planned once a connection, not once a request', () => {
  const pay = () => key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
  test.each<[string, () => Promise<{ status: number; body: { id?: string } }>]>([
    ['the current workspace', () => key.api.get('/v1/workspaces/current')],
    ['the account', () => key.api.get('/v1/accounts/me')],
    ['the history of the account', () => key.api.get('/v1/accounts/me/history')],
    ['the payments', () => key.api.get('/v1/payments')],
    ['a payment', async () => key.api.get(`/v1/payments/${(await pay()).body.id}`)],
    ['making a payment', () => pay()],
    ['the beneficiaries', () => key.api.get('/v1/beneficiaries')],
    ['a beneficiary', () => key.api.get(`/v1/beneficiaries/${beneficiary}`)],
    ['the policies', () => key.api.get('/v1/spending-policies')],
    ['the approvals', () => key.api.get('/v1/approvals')],
    ['the notifications', () => key.api.get('/v1/notifications')],
  ])('%s', async (_name, request) => {
    // Statements of the ORM have a name from their second use on.
    for (let times = 0; times < 3; times += 1) await request()
    const unnamed = await unnamedDuring(async () => expect((await request()).status).toBeLessThan(300))
    expect(unnamed).toEqual([])
  })
})
