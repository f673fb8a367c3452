import { setTimeout as wait } from 'node:timers/promises'
import { findGenerator } from './load.ts'
import { payments, preparePayers } from './prepare.ts'
import { type Bench, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

export type DispatchOptions = { rounds: number; seconds: number; write: boolean }

const mostSeconds = 120

/** P9: how many of the accepted payments have reached the emulated rail when the last was accepted, and how long the rest takes. */
export const measureDispatch = async (bench: Bench, options: DispatchOptions): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder, { JOBS: 'inline' })
  try {
    const { measure } = await findGenerator()
    const payers = await preparePayers(service.url, bench, 50)
    const load = { name: 'payments', url: service.url, requests: payments(payers) }
    const count = async (): Promise<{ accepted: number; sent: number }> => {
      const [counts] = await bench.query(
        `select (select count(*) from payments) as accepted, (select count(*) from rail_attempts where state not in ('recorded', 'not_sent')) as sent`,
      )
      return { accepted: Number(counts?.accepted), sent: Number(counts?.sent) }
    }
    const untilSent = async (): Promise<number> => {
      const began = performance.now()
      for (;;) {
        const { accepted, sent } = await count()
        const seconds = (performance.now() - began) / 1000
        if (sent >= accepted) return seconds
        if (seconds > mostSeconds) throw new Error(`${accepted - sent} payments were not sent within ${mostSeconds} seconds`)
        await wait(20)
      }
    }
    await measure(load, { connections: 32, seconds: 1 })
    await untilSent()
    const [rates, shares, rests]: [number[], number[], number[]] = [[], [], []]
    for (let round = 1; round <= options.rounds; round += 1) {
      const before = await count()
      const { perSecond } = await measure(load, { connections: 32, seconds: options.seconds })
      const after = await count()
      rates.push(perSecond)
      shares.push((after.sent - before.sent) / (after.accepted - before.accepted))
      rests.push(await untilSent())
      say(`round ${round} of ${options.rounds}`)
    }
    const result = [
      { name: 'accepted per second, with dispatch and the emulated rail', goal: '', digits: 0, ...spread(rates) },
      { name: 'sent ÷ accepted, when the last was accepted', goal: 'about 1', digits: 2, ...spread(shares) },
      { name: 'seconds until all were sent', goal: '≤ 1', digits: 2, ...spread(rests) },
    ]
    for (const one of result) say(row(one.name, one, one.goal, one.digits))
    await save('dispatch', result, options.write)
  } finally {
    await service.stop()
  }
}
