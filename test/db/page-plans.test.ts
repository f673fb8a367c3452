import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { settingsOf } from '../../src/db/settings.ts'
import { namedStatements } from '../../src/db/statement.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { fillTables } from './filled.ts'

// Their statements are looked at.
import '../../src/ledger/payment-totals.ts'
import '../../src/ledger/reports.ts'
import '../../src/modules/audit-log/queries.ts'
import '../../src/modules/beneficiaries/queries.ts'
import '../../src/modules/payments/approvals/queries.ts'
import '../../src/modules/payments/attention/queries.ts'
import '../../src/modules/payments/batch/queries.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url, options: settingsOf({ statementTimeoutMs: 10_000 }) })
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
  // This proves that the order of the page is not enough.
  const table = text.match(/from "(\w+)"/)?.[1]
  expect(await planOf(`select * from ${table} where workspace_id = $1 and status = $2 order by id desc limit $3`)).not.toContain(
    `"${index}"`,
  )
})

test.for(['', '+active', '+active+confirmed'])(
  'payees of one verification find their page in the index that has it (%s)',
  async (flags) => {
    const plan = await planOf(textOf(`beneficiaries.list${flags}+verification`))
    expect(plan).toMatch(
      /"Index Name":"beneficiaries_verification"[^}]*"Index Cond":"[^"]*ROW.workspace_id, verification, id. >= /,
    )
  },
)

test.for([
  ['ledger.history_rare', 'ledger_transfers_rare', '= [a-z]+\\.type'],
  ['audit.list+rareAction', 'audit_log_default_actions', 'lower.action. = '],
  ['audit.of_workspace+rareAction', 'audit_log_default_rare', 'action = '],
])(
  '%s reads nothing of what payments bring, also where there is none of what is asked for',
  async ([name = '', index, condition]) => {
    expect(await planOf(textOf(name))).toMatch(new RegExp(`"Index Name":"${index}"[^}]*"Index Cond":"[^"]*${condition}`))
  },
)

test('what repeats is looked for among the payments of its day alone', async () => {
  const plan = await planOf(textOf('attention.repeated'))
  expect(plan).toMatch(
    /"Index Name":"payments_workspace"[^}]*"Index Cond":"[^"]*workspace_id = key.workspace[^"]* AND [^"]*id > COALESCE/,
  )
})

test('a summary of payments reads no payment that its sums have', async () => {
  const conditions = [
    ...(await planOf(textOf('payments.sums'))).matchAll(
      /"Index Name":"(payments_\w+|payment_totals_\w+|ledger_transfers_\w+)"[^}]*?"Index Cond":"([^"]*)"/g,
    ),
  ]
  const of = (index: string) => conditions.filter(([, name]) => name === index).map(([, , condition]) => condition)
  expect(of('ledger_transfers_history')).toEqual([expect.stringMatching(/customer_account_id = .* AND .*id > /)])
  expect(of('payment_totals_account_id_workspace_id_unit_begins_status_pk')).toEqual([
    expect.stringMatching(/workspace_id = .* AND .*unit = s.unit.* AND .*begins >= s.begins.* AND .*begins < s.ends/),
  ])
  expect(of('payments_workspace_status')).toEqual([expect.stringContaining('status = ANY')])
  expect(of('payments_unheld')).toEqual([expect.stringContaining('workspace_id =')])
  expect(of('ledger_transfers_pkey')).toEqual([expect.stringContaining('id = l.transfer_id')])
  for (const condition of of('payments_workspace')) expect(condition).toMatch(/workspace_id = .* AND .*id [<>=]/)
  const read = ['ledger_transfers_history', 'payment_totals_account_id_workspace_id_unit_begins_status_pk', 'payments_unheld']
  const known = [
    ...read,
    'ledger_transfers_pkey',
    'payment_points_pkey',
    'payments_pkey',
    'payments_workspace',
    'payments_workspace_status',
  ]
  expect(conditions.map(([, name]) => name).filter((name = '') => !known.includes(name))).toEqual([])
})

test('a request starts no parallel workers', async () => {
  const { rows } = await client.query('show max_parallel_workers_per_gather')
  expect(rows).toEqual([{ max_parallel_workers_per_gather: '0' }])
})
