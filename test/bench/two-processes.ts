import { findGenerator, type Load } from './load.ts'
import { payments, preparePayers, reads } from './prepare.ts'
import { type Bench, cpuSeconds, type Started, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

export type TwoProcessesOptions = { rounds: number; seconds: number; write: boolean }

const connectionsOfEach = 32
const payers = 100

/**
 * P8 by processor time: what a request costs Node and Postgres where two processes share the database ÷ where one has it alone, each process
 * with as many connections. On two cores two processes cannot be faster than one: load and Postgres need cores as well. Where cores allow,
 * they serve twice as many requests, divided by this ratio.
 */
export const measureTwoProcesses = async (bench: Bench, options: TwoProcessesOptions): Promise<void> => {
  const one = await startService(bench.databaseUrl, bench.folder)
  const two = await startService(bench.databaseUrl, bench.folder, {}, ['--processes', '2'])
  try {
    const accounts = await preparePayers(one.url, bench, payers)
    const { measure } = await findGenerator()
    const keys = accounts.map(({ key }) => key)
    const requests: Record<string, Load['requests']> = {
      read: reads(keys),
      payment: payments(accounts),
      'payment, one account': payments(accounts.slice(0, 1)),
    }
    const costOf = async (service: Started, name: string, processes: number, seconds: number): Promise<number> => {
      const before = cpuSeconds(service.pid) + cpuSeconds(bench.postgresPid)
      const load = { name, url: service.url, requests: requests[name] ?? [] }
      const { perSecond, refused, failed } = await measure(load, { connections: connectionsOfEach * processes, seconds })
      if (refused + failed > 0) say(`  ${name}: ${refused} refused, ${failed} failed`)
      return (cpuSeconds(service.pid) + cpuSeconds(bench.postgresPid) - before) / (perSecond * seconds)
    }
    const ratios = new Map(Object.keys(requests).map((name) => [name, [] as number[]]))
    for (const name of ratios.keys())
      for (const [service, processes] of [
        [one, 1],
        [two, 2],
      ] as const)
        await costOf(service, name, processes, 1)
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const [name, list] of ratios) {
        const alone = await costOf(one, name, 1, options.seconds)
        list.push((await costOf(two, name, 2, options.seconds)) / alone)
      }
      say(`round ${round} of ${options.rounds}`)
    }
    // 2 ÷ 1.7. What two processes do for one account waits for its locks in both.
    const goals: Record<string, string> = { read: '≤ 1.18', payment: '≤ 1.18' }
    const result = [...ratios].map(([name, list]) => ({
      name: `${name}: processor time of two processes ÷ of one`,
      goal: goals[name] ?? '',
      ...spread(list),
    }))
    for (const each of result) say(row(each.name, each, each.goal))
    await save('two-processes', result, options.write, { connectionsOfEach, seconds: options.seconds })
  } finally {
    await two.stop()
    await one.stop()
  }
}
