import pg from 'pg'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import { connect } from '../../src/db/connect.ts'
import { connectionConfig, settingsOf } from '../../src/db/connection-settings.ts'
import { namedStatements } from '../../src/db/statement.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { newId } from '../../src/lib/ids.ts'
import { listBeneficiaries } from '../../src/modules/beneficiaries/queries.ts'
import { listPayments, type PaymentFilter, readMatching } from '../../src/modules/payments/queries.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { fillTables } from './filled.ts'
import '../../src/ledger/history.ts'
import '../../src/modules/payments/summary.ts'
import '../../src/ledger/reports.ts'
import '../../src/ledger/statement.ts'
import '../../src/modules/audit-log/queries.ts'
import '../../src/modules/delegation/queries.ts'
import '../../src/modules/delegation/view-service.ts'
import '../../src/modules/identity/sessions/service.ts'
import '../../src/modules/payments/approvals/queries.ts'
import '../../src/modules/payments/attention/attention.ts'
import '../../src/events/read.ts'
import '../../src/modules/payments/batch/queries.ts'
import '../../src/modules/payments/create/payment-batch.ts'
import '../../src/modules/payments/evaluation/context.ts'
import '../../src/modules/policies/queries.ts'
import '../../src/modules/policies/write.ts'
import '../../src/modules/request-log/queries.ts'
import '../../src/modules/workspaces/queries.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client(connectionConfig(database.url, settingsOf(10_000)))
  await client.connect()
  await fillTables(client, 3_000)
  for (const table of ['payments', 'approvals', 'payment_batches'])
    await client.query(`update ${table} set workspace_id = (select workspace_id from ${table} limit 1), status = 'failed'`)
  await client.query(
    `update beneficiaries set workspace_id = (select workspace_id from beneficiaries limit 1), verification = 'no_match'`,
  )
  await client.query('vacuum analyze')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const textOf = (name: string): string => namedStatements().find((statement) => statement.name === name)?.text ?? ''

const planOf = async (text: string): Promise<string> => {
  const { rows } = await client.query(`explain (generic_plan, format json) ${text}`)
  return JSON.stringify(rows[0]['QUERY PLAN'])
}

test.for([
  ['approvals.list+status', 'approvals_workspace_status'],
  ['payments.list+status', 'payments_workspace_status'],
  ['payment_batches.list+status', 'payment_batches_status'],
])('%s finds its page in the index that has it, also where one workspace has all rows', async ([name = '', index = '']) => {
  const text = textOf(name)
  const plan = await planOf(text)
  expect(plan).toMatch(new RegExp(`"Index Name":"${index}"[^}]*"Index Cond":"[^"]*status = `))
  // This proves that the page's order is not enough.
  const table = text.match(/from "(\w+)"/)?.[1]
  expect(await planOf(`select * from ${table} where workspace_id = $1 and status = $2 order by id desc limit $3`)).not.toContain(
    `"${index}"`,
  )
})

test.for(['payments', 'payment_batches'])(
  'changes of %s are read from the cursor on, up to the open transactions',
  async (table) => {
    expect(await planOf(textOf(`${table}.changes`))).toMatch(
      new RegExp(`"Index Name":"${table}_changed"[^}]*"Index Cond":"[^"]*ROW.workspace_id, changed. >= ROW[^"]*changed < `),
    )
  },
)

test('payees of one verification find their page in the index that has it', async () => {
  const db = connect({
    url: database.url,
    poolSize: 1,
    logger: pino({ level: 'silent' }),
    clock: systemClock,
    statementTimeoutMs: 10_000,
  })
  // The query of the API's request, with its flags, is built on first use.
  const filter = { limit: 25, verification: 'match' as const }
  expect(await listBeneficiaries(db, newId(), { before: null, take: 20 }, filter)).toEqual([])
  await db.close()
  for (const name of ['beneficiaries.list+verification', 'beneficiaries.list+active+verification'])
    expect(await planOf(textOf(name))).toMatch(
      /"Index Name":"beneficiaries_verification"[^}]*"Index Cond":"[^"]*verification = ANY/,
    )
})

test('an amount that is searched for is found by its index among all payments of a workspace; where there is none, few pages are read', async () => {
  const db = connect({
    url: database.url,
    poolSize: 1,
    logger: pino({ level: 'silent' }),
    clock: systemClock,
    statementTimeoutMs: 10_000,
  })
  const { rows } = await client.query('select workspace_id from payments limit 1')
  const [workspaceId, text, amount] = [rows[0].workspace_id, '7777777.77', 777_777_777n]
  const search = { search: { text, amount } }
  const list = (source: Db, filter: PaymentFilter) => listPayments(source, workspaceId, { before: null, take: 20 }, filter)
  expect(await readMatching(db, workspaceId, search, list)).toEqual([])
  await db.close()
  await client.query('begin')
  await client.query('set local enable_bitmapscan = on')
  await client.query(`prepare searched as ${textOf('payments.list+pattern+receipts+searchedAmount')}`)
  const values = `'${workspaceId}', '%${text}%', '{"${text}"}', ${amount}, 20`
  const explained = await client.query(`explain (analyze, buffers, format json) execute searched(${values})`)
  await client.query('rollback')
  const [{ Plan: plan }] = explained.rows[0]['QUERY PLAN']
  expect(JSON.stringify(plan)).toMatch(
    /"Index Name":"payments_amount"[^}]*"Index Cond":"[^"]*workspace_id = [^"]*amount_minor = /,
  )
  expect(JSON.stringify(plan)).toMatch(/"Index Name":"payments_receipt_key"[^}]*"Index Cond":"[^"]*provider_receipt = ANY/)
  expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(60)
})

test.for([
  ['ledger.history_rare+types', 'ledger_transfers_rare', '= (?:CASE )?[a-z]+\\.type'],
  ['audit.list+rareAction', 'audit_log_default_actions', 'lower.action. = '],
  ['audit.of_workspace+rareAction', 'audit_log_default_rare', 'action = '],
])(
  '%s reads nothing of what payments bring, also where there is none of what is asked for',
  async ([name = '', index, condition]) => {
    expect(await planOf(textOf(name))).toMatch(new RegExp(`"Index Name":"${index}"[^}]*"Index Cond":"[^"]*${condition}`))
  },
)

test('what looks the same as a payment is found by its look, among any number of others to its payee', async () => {
  expect(await planOf(textOf('payments.past'))).toMatch(
    /"Index Name":"payments_lookalikes"[^}]*"Index Cond":"[^"]*payee_id = [^"]*hashtextextended[^"]*created_at > /,
  )
})

test('what repeats is looked for among the payments of its day alone', async () => {
  const plan = await planOf(textOf('attention.repeated'))
  expect(plan).toMatch(
    /"Index Name":"payments_workspace"[^}]*"Index Cond":"[^"]*workspace_id = ANY .ARRAY.key.workspace[^"]* AND [^"]*ROW\(workspace_id, id\) > ROW\(key.workspace, COALESCE/,
  )
})

test.for([
  ['events.earlier', 'workspaces', '\\(id = mine\\.workspace\\)'],
  ['events.earlier_of_rare_types', 'workspaces', '\\(id = mine\\.owner\\)'],
  ['grants.links', 'workspaces', 'id = ANY'],
  ['grants.links', 'usage_counters', 'subject_id = ANY'],
])('%s reads %s once for a page, not for each row', async ([name = '', table, condition]) => {
  expect(await planOf(textOf(name))).toMatch(new RegExp(`"Relation Name":"${table}"[^}]*"Index Cond":"[^"]*${condition}`))
})

test('the counters of a policy without a total are made without a look at its payments', async () => {
  expect(await planOf(textOf('policies.seed_counters'))).toContain('"One-Time Filter":"($7 IS NOT NULL)"')
})

test('a summary of payments reads sums of its hours, and payments of its workspace', async () => {
  const conditions = [
    ...(await planOf(textOf('payments.sums'))).matchAll(
      /"Index Name":"(payments_\w+|hour_totals_\w+)"[^}]*?"Index Cond":"([^"]*)"/g,
    ),
  ]
  const of = (index: string) => conditions.filter(([, name]) => name === index).map(([, , condition]) => condition)
  expect(of('hour_totals_account_id_hour_workspace_id_type_beneficiary_id_pk')).toEqual([
    expect.stringMatching(/account_id = .* AND .*hour >= .* AND .*hour < /),
  ])
  // Payments that have not succeeded are read by their status; in a workspace with one payment, as here, by the workspace.
  expect(of('payments_workspace')).toContainEqual(expect.stringMatching(/ROW\(workspace_id, id\) > /))
})

test('a request starts no parallel workers', async () => {
  const { rows } = await client.query('show max_parallel_workers_per_gather')
  expect(rows).toEqual([{ max_parallel_workers_per_gather: '0' }])
})

const owned = {
  'payments.list': ['payments', 'workspace_id'],
  'audit.of_workspace': ['audit_log_default', 'workspace_id'],
  'beneficiaries.list': ['beneficiaries', 'workspace_id'],
  'policies.list': ['spending_policies', 'workspace_id'],
  'members.list': ['members', 'workspace_id'],
  'grants.of_workspace': ['grants', 'workspace_id'],
  'grants.list': ['grants', 'account_id'],
  'api_keys.list': ['api_keys', 'account_id'],
  'sessions.page': ['sessions', 'account_id'],
  'request_log.list': ['request_log', 'account_id'],
  'ledger.history': ['ledger_transfers', 'customer_account_id'],
} as const

describe('where a database has two owners, one of whom wrote nothing for long', () => {
  beforeAll(async () => {
    for (const [table, owner] of Object.values(owned)) {
      await client.query(
        `update ${table} t set ${owner} = of.ids[1 + of.n % 2] from (
           select id, row_number() over () as n, array['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']::uuid[] as ids from ${table}) as of
         where of.id = t.id`,
      )
      const { rows } = await client.query(
        `select c.relname as key from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = $1::regclass and i.indisprimary`,
        [table],
      )
      // Rows lie in the order of their ids, as in service tables.
      await client.query(`cluster ${table} using ${rows[0].key}`)
      await client.query(`analyze ${table}`)
    }
  })

  test.for(Object.entries(owned))('%s reads the rows of its owner alone', async ([name, [table, owner]]) => {
    const plan = await planOf(textOf(name))
    expect(plan).toMatch(new RegExp(`"Relation Name":"${table}"[^}]*"Index Cond":"[^"]*${owner} = `))
    expect(plan).not.toMatch(new RegExp(`"Relation Name":"${table}"[^}]*"Filter":"[^"]*${owner} = `))
  })

  // Reads between two ids, without an order that only an index of the owner has.
  test.for([
    'ledger.flow',
    'ledger.statement_summary',
    'ledger.statement_entries',
    'ledger.balance_after',
    'payments.sums',
    'payments.totals+createdAfter',
    'payments.totals+createdBefore',
    'attention.repeated',
  ])('%s reads between ids of its owner alone', async (name) => {
    const plan = await planOf(textOf(name))
    const reads = [...plan.matchAll(/"Relation Name":"(?:payments|ledger_transfers)"[^}]*?"Index Cond":"([^"]*)"[^}]*/g)]
    const others = reads.filter(([node, condition = '']) => {
      const isLookup = /\b(?:id|hold_transfer_id) = /.test(condition)
      return (
        !isLookup &&
        !/(?:workspace_id|customer_account_id) = |ROW\((?:workspace_id|customer_account_id), id\) > /.test(condition) &&
        /_id = /.test(node)
      )
    })
    expect(reads.length).toBeGreaterThan(0)
    expect(others.map(([node]) => node)).toEqual([])
  })

  test('what last reached a payee is read along an index of its payments', async () => {
    await client.query(`update payments set payee_id = workspace_id, status = 'succeeded'`)
    await client.query('analyze payments')
    for (const name of ['payments.past', 'payment_batches.lines']) {
      const plan = await planOf(textOf(name))
      expect(plan).toMatch(/"Index Cond":"[^"]*payee_id = /)
      expect(plan).not.toMatch(/"Index Name":"payments_(?:pkey|workspace)"[^}]*"Filter":"[^"]*payee_id = /)
    }
  })

  test('a page of events is read in the order of its workspace and of its account', async () => {
    await client.query(
      `update events_default t set workspace_id = of.id, account_id = of.id from (select id as event, ('00000000-0000-7000-8000-00000000000' || 1 + row_number() over () % 2)::uuid as id from events_default) as of where of.event = t.id`,
    )
    await client.query('analyze events_default')
    for (const name of ['events.earlier', 'events.later']) {
      const plan = await planOf(textOf(name))
      expect(plan, name).toMatch(/"Index Cond":"[^"]*account_id = \(sent.account_id\)/)
      expect(plan, name).not.toMatch(/"Filter":"[^"]*(workspace_id = mine|account_id = \(sent.account_id)/)
    }
  })
})
