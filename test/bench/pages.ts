import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signInWithWallet } from '#client/wallet'
import { type Answer, type Client, createClient } from '../harness/client.ts'
import { type Fill, fillWorkspace } from './fill-workspace.ts'
import type { Scene } from './operation-list.ts'
import { type Bench, type Started, startService } from './processes.ts'
import { type PageRead as Page, type PageResult, savePages, say } from './report.ts'
import { furnish } from './scene.ts'

export type PagesOptions = { write: boolean } & Fill

type Parameter = { name: string; in: string; schema: { enum?: string[]; type?: string; format?: string } }
type Documented = { operationId: string; parameters?: Parameter[] }
type Document = { paths: Record<string, { get?: Documented }> }
type List = { name: string; path: string; admin: boolean }

const pageRows = 20
/** Pages of a hundred rows that are read before the deep one. */
const deepAfter = 50

/** A value for each parameter that is no part of paging. One that is not here fails the bench, so that a new filter is measured. */
const values = (scene: Scene, batch: string): Readonly<Record<string, string>> => ({
  account_id: '',
  account_reference: 'INV77',
  action: 'policy.archived',
  actor: 'acc_00000000000000000000000000',
  after: '',
  amount_max_minor: '2000',
  amount_min_minor: '90000',
  attention: 'late_success',
  batch_id: batch,
  beneficiary_id: scene.beneficiary,
  confirmation: 'confirmed',
  created_after: new Date(Date.now() - 3 * 86_400_000).toISOString(),
  created_before: new Date(Date.now() - 86_400_000).toISOString(),
  email: 'nobody@example.com',
  from: new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10),
  grant_id: scene.grant,
  id: '',
  idempotency_key: 'k77',
  initiator_account_id: '',
  made_by_grant_id: scene.grant,
  mandate_id: 'man_00000000000000000000000000',
  metadata: '',
  payment_rail: 'MPESA_B2C',
  q: 'Supplier 7',
  reconciliation_id: '',
  status: '',
  subject_id: scene.payment,
  to: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
  type: '',
  verification: 'match',
  wallet_address: '',
  workspace_id: '',
})

const statuses: Readonly<Record<string, readonly string[]>> = {
  'payments.list': ['succeeded', 'failed', 'pending_approval'],
  'approvals.list': ['pending', 'approved'],
  'beneficiaries.list': ['active', 'all'],
  'policies.list': ['active', 'all'],
  'payment_batches.list': ['completed', 'processing'],
  'mandates.list': ['active'],
  'request_log.list': ['4xx'],
  'admin.list_accounts': ['active', 'frozen'],
  'admin.list_payments': ['succeeded', 'unknown'],
  'admin.list_adjustments': ['pending'],
  'admin.list_suspense': ['open'],
  'admin.list_differences': ['open'],
}
/** One that each payment brings, and one that none of them does. */
const types: Readonly<Record<string, readonly string[]>> = {
  'accounts.history': ['payment', 'adjustment'],
  'notifications.list': ['payment.succeeded', 'policy.archived'],
}

/** Every list of the API's own document, plain and with each of its parameters. */
const listsOf = async (service: Started, scene: Scene, batch: string): Promise<List[]> => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  const known = values(scene, batch)
  return Object.entries(document.paths).flatMap(([path, { get }]): List[] => {
    const names = (get?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
    if (!get || !names.includes('cursor')) return []
    const { operationId: operation } = get
    const of = (parameter: string): readonly string[] => {
      if (parameter === 'status') return statuses[operation] ?? []
      if (parameter === 'type') return types[operation] ?? []
      const value = known[parameter]
      if (value === undefined) throw new Error(`${operation}: there is no value for ${parameter}`)
      return value === '' ? [] : [value]
    }
    const filters = names.filter((name) => name !== 'cursor' && name !== 'limit')
    const at = path.replace('{id}', scene.beneficiary)
    const admin = operation.startsWith('admin.')
    return [
      { name: operation, path: `${at}?`, admin },
      ...filters.flatMap((name) =>
        of(name).map((value) => ({
          name: `${operation}, ${name} ${value.length > 12 ? '…' : value}`,
          path: `${at}?${name}=${encodeURIComponent(value)}&`,
          admin,
        })),
      ),
    ]
  })
}

const read = async (client: Client, path: string): Promise<Answer> => {
  const answer = await client.get(path)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
  return answer
}

/** A page that the service did not answer: the others are still measured. */
const unanswered: Page = { blocks: Number.POSITIVE_INFINITY, rows: 0 }

/** Blocks do not depend on what else the machine does; whether they were in memory is left out. */
const touched = async (bench: Bench, client: Client, path: string): Promise<Page> => {
  const first = await read(client, path).catch((error: unknown) => say(`  ${path}: ${error}`))
  if (!first) return unanswered
  await bench.query('select pg_stat_statements_reset()')
  const answer = await read(client, path)
  const [found] = await bench.query(
    `select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::int as blocks from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database()) and query ~* '^\\s*(select|with|/)' and query !~ 'pg_stat'`,
  )
  const { data, entries = [], totals } = answer.body
  return { blocks: Number(found?.blocks), rows: (data ?? [...entries, ...(totals?.by_payee ?? [])]).length }
}

const cursorFarIn = async (client: Client, path: string): Promise<string | null> => {
  let cursor: string | null = null
  for (let page = 0; page < deepAfter; page += 1) {
    const answer: Answer = await read(client, `${path}limit=100${cursor ? `&cursor=${cursor}` : ''}`)
    if (answer.body.next_cursor === null) break
    cursor = answer.body.next_cursor
  }
  return cursor
}

/** An index has a level or two more, and a search may look through what one page has of other rows. */
const isFlat = (small: Page, large: Page): boolean =>
  large.blocks <= Math.max(3 * small.blocks, 30 + 12 * Math.max(1, large.rows))

/** P6: what each list and each of its filters reads, of a small workspace and of a large one, on its first page and far in. */
export const measurePages = async (bench: Bench, options: PagesOptions): Promise<void> => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const service = await startService(bench.databaseUrl, bench.folder, { ADMIN_ACCOUNTS: wallet.address })
  try {
    const scene = await furnish(service, bench, 1)
    const { session = '' } = await signInWithWallet({ baseUrl: service.url }, wallet)
    const clients = {
      person: createClient(service.url, { cookie: scene.session }),
      admin: createClient(service.url, { cookie: session }),
    }
    const { body } = await clients.person.post('/v1/payment-batches', {
      items: [{ beneficiary_id: scene.beneficiary, amount_minor: '10000', account_reference: 'INV77' }],
    })
    const lists = await listsOf(service, scene, body.id)
    const clientOf = ({ admin }: List) => (admin ? clients.admin : clients.person)
    await bench.query('vacuum analyze')
    const small = new Map<string, Page>()
    for (const list of lists) small.set(list.name, await touched(bench, clientOf(list), `${list.path}limit=${pageRows}`))
    await fillWorkspace(bench, options)
    const result: PageResult[] = []
    for (const list of lists) {
      const client = clientOf(list)
      const before = small.get(list.name) ?? { blocks: 0, rows: 0 }
      const large = await touched(bench, client, `${list.path}limit=${pageRows}`)
      const cursor = large === unanswered ? null : await cursorFarIn(client, list.path)
      const deep = cursor ? await touched(bench, client, `${list.path}limit=${pageRows}&cursor=${cursor}`) : large
      const flat = isFlat(before, large) && isFlat(before, deep)
      result.push({ name: list.name, small: before, large, deep, flat })
      say(
        `  ${list.name.padEnd(56)} ${before.blocks} (${before.rows}) → ${large.blocks} (${large.rows}), far in ${deep.blocks} (${deep.rows})${flat ? '' : '   NOT FLAT'}`,
      )
    }
    await savePages(result, options)
  } finally {
    await service.stop()
  }
}
