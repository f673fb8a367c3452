import { randomUUID } from 'node:crypto'
import { type Client, createClient } from '../harness/client.ts'
import { findGenerator, type Load } from './load.ts'
import { payments, preparePayers } from './prepare.ts'
import { type Bench, cpuSeconds, startService } from './processes.ts'
import { type Result, row, save, say, spread } from './report.ts'

export type BatchOptions = { rounds: number; seconds: number; write: boolean }

const rows = 1_000
const connections = 128
/** Batches of one round: about as much work as the single payments of the same round. */
const batchesInTurn = 3

/** Of one payment, in milliseconds. `wallMs`: how long the next one takes to be accepted. */
type Cost = { nodeMs: number; postgresMs: number; wallMs: number }

const created = ({ status, text, body }: { status: number; text: string; body: { id: string } }) => {
  if (status !== 201) throw new Error(`${status} ${text.slice(0, 300)}`)
  return body
}

/** Rows as a list of salaries has them: each finds its payee by the phone. */
const named = Array.from({ length: rows }, (_, n) => ({
  display_name: `Employee ${n}`,
  destination: `2547${String(40_000_000 + n)}`,
  amount_minor: '10000',
}))

/** A thousand payees, as the first payroll of a company creates them. */
const newPayees = async (api: Client): Promise<string[]> => {
  const { id } = created(await api.post('/v1/payment-batches', { items: named }, { key: randomUUID() }))
  const payees: string[] = []
  for (let cursor = ''; ; ) {
    const page = (await api.get(`/v1/payments?batch_id=${id}&limit=100${cursor}`)).body
    payees.push(...page.data.map(({ beneficiary_id }: { beneficiary_id: string }) => beneficiary_id))
    if (page.next_cursor === null) return payees
    cursor = `&cursor=${page.next_cursor}`
  }
}

const readsInTurn = 100
const moreBatches = 1_000

type Growing = { bench: Bench; cost: (work: () => Promise<number>) => Promise<Cost> }

/** What reads cost when an account has a thousand batches more, ÷ what they cost with a few; and deep pages ÷ the first. */
const whileBatchesGrow = async (
  api: Client,
  items: readonly object[],
  { bench, cost }: Growing,
): Promise<Record<string, number[]>> => {
  const list = '/v1/payment-batches?limit=25'
  const first = (await api.get(list)).body.data[0]?.id
  const paths = {
    'a page of 25 batches': list,
    'one batch': `/v1/payment-batches/${first}`,
    'its items': `/v1/payments?batch_id=${first}&limit=100`,
  }
  const take = async (path: string) => {
    const { nodeMs, postgresMs } = await cost(async () => {
      for (let n = 0; n < readsInTurn; n += 1) if ((await api.get(path)).status !== 200) throw new Error(path)
      return readsInTurn
    })
    return nodeMs + postgresMs
  }
  const takeAll = async () => {
    const taken: Record<string, number> = {}
    for (const [name, path] of Object.entries(paths)) taken[name] = await take(path)
    return taken
  }
  await takeAll()
  await bench.query('vacuum analyze')
  const before = await takeAll()
  for (let n = 0; n < moreBatches; n += 1) {
    const ten = items.slice((n * 10) % rows, ((n * 10) % rows) + 10)
    created(await api.post('/v1/payment-batches', { items: ten }, { key: randomUUID() }))
  }
  await bench.query('vacuum analyze')
  const after = await takeAll()
  let cursor = ''
  for (let page = 1; page < moreBatches / 25; page += 1)
    cursor = `&cursor=${(await api.get(`${list}${cursor}`)).body.next_cursor}`
  const [deep, front] = [await take(`${list}${cursor}`), await take(list)]
  return {
    ...Object.fromEntries(
      Object.keys(paths).map((name) => [
        `${name}, ${moreBatches} more batches ÷ a few: processor time`,
        [(after[name] ?? 0) / (before[name] ?? 1)],
      ]),
    ),
    'page 40 of the batches ÷ page 1: processor time': [deep / front],
  }
}

/** What a payment costs in a batch of a thousand, and alone at 128 connections; of the same account and payees, and of many accounts. */
export const measureBatches = async (bench: Bench, { rounds, seconds, write }: BatchOptions): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder)
  try {
    const { measure } = await findGenerator()
    const payers = await preparePayers(service.url, bench, 100)
    const [employer] = payers
    if (!employer) throw new Error('there is no payer')
    const api = createClient(service.url, { bearer: employer.key })
    const payees = await newPayees(createClient(service.url, { cookie: employer.session }))
    const items = payees.map((beneficiary_id, n) => ({ beneficiary_id, amount_minor: '10000', narrative: `Salary ${n}` }))

    const cost = async (work: () => Promise<number>): Promise<Cost> => {
      const before = [cpuSeconds(service.pid), cpuSeconds(bench.postgresPid), performance.now()] as const
      const done = Math.max(1, await work())
      const after = [cpuSeconds(service.pid), cpuSeconds(bench.postgresPid), performance.now()] as const
      return {
        nodeMs: ((after[0] - before[0]) * 1000) / done,
        postgresMs: ((after[1] - before[1]) * 1000) / done,
        wallMs: (after[2] - before[2]) / done,
      }
    }
    const singles = (load: Load) =>
      cost(async () => {
        const { perSecond, refused, failed } = await measure(load, { connections, seconds })
        if (refused + failed > 0) say(`  ${load.name}: ${refused} refused, ${failed} failed`)
        return perSecond * seconds
      })
    const batches = (of: readonly object[]) =>
      cost(async () => {
        for (let n = 0; n < batchesInTurn; n += 1)
          created(await api.post('/v1/payment-batches', { items: of }, { key: randomUUID() }))
        return batchesInTurn * rows
      })
    const ofMany: Load = { name: 'many accounts', url: service.url, requests: payments(payers) }
    const ofOne: Load = {
      name: 'one account',
      url: service.url,
      // As many as fit into the arguments of the generator.
      requests: payees.slice(0, 300).map((beneficiary) => ({
        method: 'POST',
        path: '/v1/payments',
        credential: employer.key,
        body: { beneficiary_id: beneficiary, amount_minor: '10000' },
      })),
    }
    await batches(items)
    await batches(named)
    await singles(ofMany)
    await singles(ofOne)

    const taken: { many: Cost; one: Cost; batch: Cost; named: Cost }[] = []
    for (let round = 0; round < rounds; round += 1) {
      await bench.query('vacuum analyze')
      const taking = {
        many: await singles(ofMany),
        one: await singles(ofOne),
        batch: await batches(items),
        named: await batches(named),
      }
      taken.push(taking)
      const shown = Object.entries(taking).map(
        ([name, { nodeMs, postgresMs }]) => `${name} ${nodeMs.toFixed(2)} + ${postgresMs.toFixed(2)}`,
      )
      say(`  ms of Node + Postgres a payment: ${shown.join(', ')}`)
    }
    const result: Result[] = []
    const note = (name: string, of: (each: (typeof taken)[number]) => number, goal = '') =>
      void result.push({ name, goal, ...spread(taken.map(of)) })
    const cpu = ({ nodeMs, postgresMs }: Cost) => nodeMs + postgresMs
    note('row of a batch ÷ single payment, many accounts: processor time', ({ batch, many }) => cpu(batch) / cpu(many), '≤ 0.5')
    note('row of a batch ÷ single payment, the same account: processor time', ({ batch, one }) => cpu(batch) / cpu(one), '≤ 0.5')
    note(
      'row by name and phone ÷ single payment, the same account: processor time',
      (each) => cpu(each.named) / cpu(each.one),
      '≤ 0.5',
    )
    note('single payment ÷ row of a batch, the same account: time', ({ batch, one }) => one.wallMs / batch.wallMs, '≥ 2')
    for (const name of ['batch', 'named', 'one', 'many'] as const) {
      note(`${name}: Node, ms a payment`, (each) => each[name].nodeMs)
      note(`${name}: Postgres, ms a payment`, (each) => each[name].postgresMs)
    }
    for (const [name, values] of Object.entries(await whileBatchesGrow(api, items, { bench, cost })))
      result.push({ name, goal: 'about 1', ...spread(values) })
    for (const each of result) say(row(each.name, each, each.goal))
    await save('batches', result, write, { seconds, connections, rows })
  } finally {
    await service.stop()
  }
}
