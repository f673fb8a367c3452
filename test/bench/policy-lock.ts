import { performance } from 'node:perf_hooks'
import { parseId } from '../../src/lib/ids.ts'
import { everyPayee, noGrant } from '../../src/policy/scope-sql.ts'
import { type Client, createClient } from '../harness/client.ts'
import { multiply } from './growth.ts'
import { type Payer, preparePayers } from './prepare.ts'
import { type Bench, startService } from './processes.ts'
import { type Result, row, save, say, spread } from './report.ts'

export type PolicyLockOptions = { write: boolean; paymentCount: number }

const timed = async (work: () => Promise<{ status: number; text: string }>): Promise<number> => {
  const from = performance.now()
  const { status, text } = await work()
  if (status >= 300) throw new Error(`${status} ${text}`)
  return performance.now() - from
}

/** Payments of the same account one after the other while `work` runs, and how long each of them took. */
const whilePaying = async (api: Client, { beneficiary }: Payer, work: () => Promise<void>): Promise<number[]> => {
  const took: number[] = []
  let working = true
  const paying = (async () => {
    const body = { beneficiary_id: beneficiary, amount_minor: '10000' }
    while (working) took.push(await timed(() => api.post('/v1/payments', body)))
  })()
  await work()
  working = false
  await paying
  return took
}

const changes = 20

/** How long payments of an account wait for its policies: the month has this many payments, first to a few payees, then each to another. */
export const measurePolicyLock = async (bench: Bench, { write, paymentCount }: PolicyLockOptions): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder)
  try {
    const [payer] = await preparePayers(service.url, bench, 1)
    if (!payer) throw new Error('there is no payer')
    const api = createClient(service.url, { cookie: payer.session })
    await timed(() => api.post('/v1/payments', { beneficiary_id: payer.beneficiary, amount_minor: '10000' }))
    await multiply(bench, 'payments', paymentCount, {
      id: 'gen_random_uuid()',
      status: `'succeeded'`,
      dispatch_due_at: 'null',
      counted_day: `date_trunc('month', t.counted_day)::date + n % 28`,
      payee_id: `('00000000-0000-7000-8000-' || lpad(to_hex(n % 200), 12, '0'))::uuid`,
    })
    const workspace = parseId('workspace', payer.workspaceId)
    const result: Result[] = []
    const note = (name: string, values: readonly number[], goal = '') =>
      void result.push({ name, goal, digits: 0, ...spread(values) })

    const recount = async () => {
      await bench.query('delete from spending_totals')
      await bench.query(
        `insert into spending_totals (workspace_id, account_id, day, payee_id, grant_id, rail, payment_type, used_minor, payments)
         select workspace_id, account_id, counted_day, coalesce(payee_id, $2), $2, rail, payment_type, sum(amount_minor), count(*) from payments
         where workspace_id = $1 group by workspace_id, account_id, counted_day, rail, payment_type, grouping sets ((payee_id), ())`,
        [workspace, everyPayee],
      )
      await bench.query('vacuum analyze')
    }
    const measure = async (payees: string) => {
      const [counted] = await bench.query('select count(*)::int as rows from spending_totals')
      const name = `${paymentCount} payments to ${payees}`
      say(`  ${name}: ${counted?.rows} totals`)
      // While the tables were filled the service closed the connections that this client still keeps.
      for (let count = 0; count < 5; count += 1) await api.get('/healthz').catch(() => undefined)
      const undisturbed = await whilePaying(api, payer, () => new Promise((resolve) => setTimeout(resolve, 3_000)))
      const changed: number[] = []
      const created: number[] = []
      const disturbed = await whilePaying(api, payer, async () => {
        for (let change = 0; change < changes; change += 1) {
          const made = await api.post('/v1/spending-policies', { name: 'Bench', daily_limit_minor: '800000000000000' })
          created.push(made.status)
          const path = `/v1/spending-policies/${made.body.id}`
          changed.push(await timed(() => api.patch(path, { version: 1, daily_limit_minor: '700000000000000' })))
          await api.delete(path)
        }
      })
      if (created.some((status) => status !== 201)) throw new Error('a policy was refused')
      note(`${name}: ms of a payment, undisturbed`, undisturbed)
      note(`${name}: ms of a policy's change`, changed)
      note(`${name}: ms of a payment while policies change`, disturbed, '≤ 200 more')
    }
    await recount()
    await measure('200 payees')
    // As the payments would have written them; the payments themselves are not read here.
    await bench.query('delete from spending_totals where payee_id <> $1', [everyPayee])
    await bench.query(
      `insert into spending_totals (workspace_id, account_id, day, payee_id, grant_id, rail, payment_type, used_minor, payments)
       select workspace_id, account_id, counted_day, gen_random_uuid(), $2, rail, payment_type, amount_minor, 1 from payments where workspace_id = $1`,
      [workspace, noGrant],
    )
    await bench.query('vacuum analyze spending_totals')
    await measure('as many payees')
    for (const one of result) say(row(one.name, one, one.goal, 0))
    await save('policy-lock', result, write, { changes })
  } finally {
    await service.stop()
  }
}
