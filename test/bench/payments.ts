import { type Caller, untilBooked } from './callers.ts'
import { say } from './connection.ts'
import { costOf, type Load, measure, pgbench, type Timing } from './load.ts'
import { measured } from './operation-list.ts'
import { type Bench, cpuSeconds, type Started, startProvider, startService } from './processes.ts'
import type { Notes } from './results.ts'

/** Each caller pays each of its payees. */
export const paymentsOf = ({ url }: Started, callers: readonly Caller[], connections: number, seconds: number): Load => {
  const pay = measured['payments.create']
  const requests = callers.flatMap((one) => one.payees.flatMap((beneficiary) => pay?.request({ ...one, beneficiary }) ?? []))
  return { kind: 'requests', url, connections, seconds, requests }
}

const floor = (who: string) => `\\set who ${who}\n\\set k random(1, 9000000000000000)\nselect bench.pay(:k::text, :who, 10000);\n`

/** P2: payments that are accepted, jobs off, ÷ one function that pays, in turn. */
export const measurePayments = async (
  bench: Bench,
  service: Started,
  payers: readonly Caller[],
  notes: Notes,
  timing: Timing,
) => {
  const load = (callers: readonly Caller[], connections: number, seconds = timing.seconds) =>
    costOf(bench, service, paymentsOf(service, callers, connections, seconds))
  // Nothing is compiled yet, and no statement planned.
  const cold = (await load(payers, 32, 1)).ms
  await load(payers, 128, timing.warmSeconds)
  for (let round = 1; round <= timing.rounds; round += 1) {
    const many = await pgbench(bench, floor('random(0, 99)'), timing.seconds)
    const hot = await pgbench(bench, floor('500'), timing.seconds)
    for (const [connections, ofMany, ofHot] of [
      [32, '≥ 0.3', '≥ 1.0'],
      [128, '≥ 0.4', '≥ 1.5'],
    ] as const) {
      const accepted = await load(payers, connections)
      const one = await load(payers.slice(0, 1), connections)
      notes.note(`${connections} connections, many accounts ÷ pgbench`, many && accepted.perSecond / many, ofMany)
      notes.note(`${connections} connections, one account ÷ pgbench-hot`, hot && one.perSecond / hot, ofHot)
      notes.note(`${connections} connections: p99 ÷ mean`, accepted.p99Ms / accepted.meanMs, '≤ 4')
      if (connections === 32) notes.note('Node, ms a payment', accepted.nodeMs)
      if (connections === 32) notes.note('Postgres, ms a payment', accepted.postgresMs)
      if (connections === 32) notes.note('the first second of a process ÷ later, ms a payment', cold / accepted.ms, '≤ 3')
    }
    say(`payments: round ${round} of ${timing.rounds}`)
  }
}

/** Payments for so many seconds, until the last one is booked. A transaction counts that writes. */
const untilLastBooked = async (bench: Bench, service: Started, payers: readonly Caller[], seconds: number) => {
  const transaction = async () => Number((await bench.query('select pg_snapshot_xmax(pg_current_snapshot())::text as at'))[0]?.at)
  const now = async () => [
    performance.now(),
    cpuSeconds(service.pid) * 1000,
    cpuSeconds(bench.postgresPid) * 1000,
    await transaction(),
  ]
  const before = await now()
  const { done } = await measure(paymentsOf(service, payers, 32, seconds))
  await untilBooked(bench)
  const [ms = 0, nodeMs = 0, postgresMs = 0, transactions = 0] = (await now()).map((at, of) => (at - (before[of] ?? 0)) / done)
  return { perSecond: 1000 / ms, nodeMs, postgresMs, ms: nodeMs + postgresMs, transactions }
}

/** P3 and two processes: until results are booked, by jobs and the emulated provider in a process of its own. */
export const measureBooking = async (
  bench: Bench,
  payers: readonly Caller[],
  env: Record<string, string>,
  notes: Notes,
  timing: Timing,
) => {
  const provider = await startProvider(bench.folder)
  const by = async (processes: string) => {
    const service = await startService(bench, { ...env, JOBS: 'inline', SANDBOX_URL: provider.url }, ['--processes', processes])
    await untilLastBooked(bench, service, payers, timing.warmSeconds)
    const found = await untilLastBooked(bench, service, payers, 2 * timing.seconds)
    await service.stop()
    return found
  }
  for (let round = 1; round <= timing.rounds; round += 1) {
    const [one, two] = [await by('1'), await by('2')]
    const service = await startService(bench, env)
    await measure(paymentsOf(service, payers, 32, timing.warmSeconds))
    const accepted = await costOf(bench, service, paymentsOf(service, payers, 32, timing.seconds))
    await service.stop()
    notes.note('Node, ms a payment', one.nodeMs)
    notes.note('Postgres, ms a payment', one.postgresMs)
    notes.note('both, ms a payment', one.ms, '≤ 4.0')
    notes.note('both ÷ until it is accepted', one.ms / accepted.ms, '≤ 3')
    notes.note('transactions that write, a payment', one.transactions, '≤ 2.0')
    notes.note('two processes: booked a second ÷ by one', two.perSecond / one.perSecond, '≥ 1')
    notes.note('two processes: transactions that write, a payment', two.transactions)
    say(`until-booked: round ${round} of ${timing.rounds}`)
  }
  await provider.stop()
}
