import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Caller, untilBooked } from './callers.ts'
import { asked, costOf, type Load, type Run } from './load.ts'
import { type Bench, cpuSeconds, type Started, startProvider, startService } from './processes.ts'

/** Each caller pays each payee that it has paid before. */
export const paying = (run: Pick<Run, 'operations'>, service: Started, callers: readonly Caller[], connections = 32): Load => {
  const scenes = callers.flatMap((caller) => caller.paid.map((beneficiaries) => ({ ...caller, beneficiaries })))
  return asked(run, 'payments.create', service, scenes, connections)
}

/** One function that pays, from ten clients of pgbench, for accounts that `who` draws. `ms`: processor time of Postgres. */
const pgbench = async ({ databaseUrl, folder, postgresPid }: Bench, who: string, seconds: number) => {
  const file = join(folder, 'pgbench.sql')
  await writeFile(file, `\\set who ${who}\n\\set k random(1, 9000000000000000)\nselect bench.pay(:k::text, :who, 10000);\n`)
  const args = ['-n', '-c10', '-j1', `-T${Math.ceil(seconds)}`, '-Mprepared', `-f${file}`, databaseUrl]
  const before = cpuSeconds(postgresPid)
  const { stdout } = await promisify(execFile)('pgbench', args)
  const took = (cpuSeconds(postgresPid) - before) * 1000
  const found = (figure: RegExp) => Number(figure.exec(stdout)?.[1])
  return { perSecond: found(/tps = ([\d.]+)/), ms: took / found(/actually processed: (\d+)/) }
}

/** P2: accepted payments without jobs ÷ one function that pays, in turn. */
export const measurePayments = async (run: Run): Promise<void> => {
  const { bench, service, writers, notes, size } = run
  const load = (callers: readonly Caller[], connections: number, seconds = size.seconds) =>
    costOf(bench, service, paying(run, service, callers, connections), seconds)
  await load(writers, 128, size.warm)
  for (let round = 1; round <= size.rounds; round += 1) {
    const many = await pgbench(bench, 'random(0, 99)', size.seconds)
    const hot = await pgbench(bench, '500', size.seconds)
    for (const [connections, ofMany, ofHot] of [
      [32, '', '≥ 0.7'],
      [128, '≥ 0.2', '≥ 1.0'],
    ] as const) {
      const accepted = await load(writers, connections)
      const one = await load(writers.slice(0, 1), connections)
      notes.note(`${connections} connections, many accounts ÷ pgbench`, accepted.perSecond / many.perSecond, ofMany)
      notes.note(`${connections} connections, one account ÷ pgbench-hot`, one.perSecond / hot.perSecond, ofHot)
      notes.note(`${connections} connections: p99 ÷ mean`, accepted.p99Ms / accepted.meanMs, '≤ 4')
      if (connections === 128) continue
      notes.note('Node, ms a payment', accepted.nodeMs)
      notes.note('Postgres, ms a payment', accepted.postgresMs)
      notes.note("processor time, both ÷ pgbench's function", accepted.ms / many.ms, '≤ 3.3')
    }
  }
}

/** P3: until results are booked, by jobs and the emulated provider in a process of its own. */
export const measureBooking = async (run: Run): Promise<void> => {
  const { bench, writers, notes, size } = run
  const provider = await startProvider(bench)
  /** The next transaction that writes. */
  const nextTransaction = async () =>
    Number((await bench.query('select pg_snapshot_xmax(pg_current_snapshot())::text as at'))[0]?.at)
  for (let round = 1; round <= size.rounds; round += 1) {
    const service = await startService(bench, { JOBS: 'inline', SANDBOX_URL: provider.url })
    const pay = (seconds: number) => costOf(bench, service, paying(run, service, writers), seconds, () => untilBooked(bench))
    await pay(size.warm)
    const first = await nextTransaction()
    const { done, nodeMs, postgresMs, ms } = await pay(2 * size.seconds)
    notes.note('Node, ms a payment', nodeMs)
    notes.note('Postgres, ms a payment', postgresMs)
    notes.note('both, ms a payment', ms, '≤ 2.5')
    notes.note('transactions that write, a payment', ((await nextTransaction()) - first) / done, '≤ 0.6')
    await service.stop()
  }
  await provider.stop()
}
