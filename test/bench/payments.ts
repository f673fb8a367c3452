import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Caller, untilBooked } from './callers.ts'
import { asked, costOf, type Load, type Run } from './load.ts'
import { type Bench, type Started, startProvider, startService } from './processes.ts'

/** Each caller pays each payee that it has paid before. */
export const paying = (run: Pick<Run, 'operations'>, service: Started, callers: readonly Caller[], connections = 32): Load => {
  const scenes = callers.flatMap((caller) => caller.paid.map((beneficiaries) => ({ ...caller, beneficiaries })))
  return asked(run, 'payments.create', service, scenes, connections)
}

/** Payments per second by one function, from ten clients of pgbench, for accounts that `who` draws. */
const pgbench = async ({ databaseUrl, folder }: Bench, who: string, seconds: number): Promise<number> => {
  const file = join(folder, 'pgbench.sql')
  await writeFile(file, `\\set who ${who}\n\\set k random(1, 9000000000000000)\nselect bench.pay(:k::text, :who, 10000);\n`)
  const args = ['-n', '-c10', '-j1', `-T${Math.ceil(seconds)}`, '-Mprepared', `-f${file}`, databaseUrl]
  const { stdout } = await promisify(execFile)('pgbench', args)
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
}

/** P2: accepted payments without jobs ÷ one function that pays, in turn. */
export const measurePayments = async (run: Run): Promise<void> => {
  const { bench, service, writers, notes, size } = run
  const load = (callers: readonly Caller[], connections: number, seconds = size.seconds) =>
    costOf(bench, service, paying(run, service, callers, connections), seconds)
  // No code is compiled yet, and no statement planned.
  const cold = (await load(writers, 32, 1)).ms
  await load(writers, 128, size.warm)
  for (let round = 1; round <= size.rounds; round += 1) {
    const many = await pgbench(bench, 'random(0, 99)', size.seconds)
    const hot = await pgbench(bench, '500', size.seconds)
    for (const [connections, ofMany, ofHot] of [
      [32, '≥ 0.3', '≥ 1.0'],
      [128, '≥ 0.4', '≥ 1.5'],
    ] as const) {
      const accepted = await load(writers, connections)
      const one = await load(writers.slice(0, 1), connections)
      notes.note(`${connections} connections, many accounts ÷ pgbench`, accepted.perSecond / many, ofMany)
      notes.note(`${connections} connections, one account ÷ pgbench-hot`, one.perSecond / hot, ofHot)
      notes.note(`${connections} connections: p99 ÷ mean`, accepted.p99Ms / accepted.meanMs, '≤ 4')
      if (connections === 128) continue
      notes.note('Node, ms a payment', accepted.nodeMs)
      notes.note('Postgres, ms a payment', accepted.postgresMs)
      notes.note('the first second of a process ÷ later, ms a payment', cold / accepted.ms, '≤ 3')
    }
  }
}

/** P3 and two processes: until results are booked, by jobs and the emulated provider in a process of its own. */
export const measureBooking = async (run: Run): Promise<void> => {
  const { bench, writers, notes, size } = run
  const provider = await startProvider(bench)
  /** The next transaction that writes. */
  const nextTransaction = async () =>
    Number((await bench.query('select pg_snapshot_xmax(pg_current_snapshot())::text as at'))[0]?.at)
  const by = async (processes: string, env = {}, hasEnded?: () => Promise<void>) => {
    const service = await startService(bench, env, ['--processes', processes])
    const load = paying(run, service, writers)
    await costOf(bench, service, load, size.warm, hasEnded)
    const [began, first] = [performance.now(), await nextTransaction()]
    const cost = await costOf(bench, service, load, 2 * size.seconds, hasEnded)
    const perSecond = (cost.done * 1000) / (performance.now() - began)
    const transactions = ((await nextTransaction()) - first) / cost.done
    await service.stop()
    return { ...cost, perSecond, transactions }
  }
  const working = [{ JOBS: 'inline', SANDBOX_URL: provider.url }, () => untilBooked(bench)] as const
  for (let round = 1; round <= size.rounds; round += 1) {
    const [one, two, accepted] = [await by('1', ...working), await by('2', ...working), await by('1')]
    notes.note('Node, ms a payment', one.nodeMs)
    notes.note('Postgres, ms a payment', one.postgresMs)
    notes.note('both, ms a payment', one.ms, '≤ 4.0')
    notes.note('both ÷ until it is accepted', one.ms / accepted.ms, '≤ 3')
    notes.note('transactions that write, a payment', one.transactions, '≤ 2.0')
    notes.note('two processes: booked a second ÷ by one', two.perSecond / one.perSecond, '≥ 1')
    notes.note('two processes: transactions that write, a payment', two.transactions)
  }
  await provider.stop()
}
