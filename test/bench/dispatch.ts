import { findGenerator } from './load.ts'
import { payments, preparePayers } from './prepare.ts'
import { type Bench, cpuSeconds, startSandbox, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'
import { secondsUntilNone } from './until-none.ts'

export type DispatchOptions = { rounds: number; seconds: number; write: boolean }

/** Until the compiler has seen every path. */
const warmUpSeconds = 8

type Counts = { accepted: number; sent: number }

/**
 * P9: how many of the accepted payments have reached the rail when the last was accepted, how long the rest takes, and what a payment costs
 * from its request until its result is booked. The emulated provider is a process of its own and answers at once.
 */
export const measureDispatch = async (bench: Bench, options: DispatchOptions): Promise<void> => {
  const sandbox = await startSandbox(bench.folder)
  const service = await startService(bench.databaseUrl, bench.folder, { JOBS: 'inline', SANDBOX_URL: sandbox.url })
  try {
    const { measure } = await findGenerator()
    const payers = await preparePayers(service.url, bench, 50)
    const load = { name: 'payments', url: service.url, requests: payments(payers) }
    const count = async (): Promise<Counts> => {
      const [counts] = await bench.query(
        `select (select count(*) from payments) as accepted, (select count(*) from rail_attempts where state not in ('recorded', 'not_sent')) as sent`,
      )
      return { accepted: Number(counts?.accepted), sent: Number(counts?.sent) }
    }
    const untilSent = () => secondsUntilNone(bench, 'select from payments where dispatch_due_at is not null')
    const untilBooked = () => secondsUntilNone(bench, `select from payments where status in ('processing', 'unknown')`)
    await measure(load, { connections: 32, seconds: warmUpSeconds })
    await untilBooked()
    const figures = {
      rate: { name: 'accepted per second, with dispatch and an emulated rail in a process of its own', goal: '', digits: 0 },
      share: { name: 'sent ÷ accepted, when the last was accepted', goal: 'about 1', digits: 2 },
      rest: { name: 'seconds until all were sent', goal: '≤ 1', digits: 2 },
      booked: { name: 'booked per second, from the first request to the last result', goal: '', digits: 0 },
      node: { name: 'ms of Node, from the request until its result is booked', goal: '', digits: 2 },
      postgres: { name: 'ms of Postgres, from the request until its result is booked', goal: '', digits: 2 },
    }
    const values: Record<keyof typeof figures, number[]> = { rate: [], share: [], rest: [], booked: [], node: [], postgres: [] }
    const cpu = () => ({ node: cpuSeconds(service.pid), postgres: cpuSeconds(bench.postgresPid) })
    for (let round = 1; round <= options.rounds; round += 1) {
      const [before, cpuBefore, began] = [await count(), cpu(), performance.now()]
      const { perSecond } = await measure(load, { connections: 32, seconds: options.seconds })
      const after = await count()
      const accepted = after.accepted - before.accepted
      values.rate.push(perSecond)
      values.share.push((after.sent - before.sent) / accepted)
      values.rest.push(await untilSent())
      await untilBooked()
      const cpuAfter = cpu()
      values.booked.push(accepted / ((performance.now() - began) / 1000))
      values.node.push(((cpuAfter.node - cpuBefore.node) * 1000) / accepted)
      values.postgres.push(((cpuAfter.postgres - cpuBefore.postgres) * 1000) / accepted)
      say(`round ${round} of ${options.rounds}`)
    }
    const result = Object.entries(figures).map(([key, figure]) => ({
      ...figure,
      ...spread(values[key as keyof typeof figures]),
    }))
    for (const one of result) say(row(one.name, one, one.goal, one.digits))
    await save('dispatch', result, options.write)
  } finally {
    await service.stop()
    await sandbox.stop()
  }
}
