import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Bench, residentMb, type Started, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

/** The heap has settled, and the first "last used" and event positions have been written. */
const idleMs = 10_000

/** P7: how soon a service answers, and what it keeps in memory while nobody asks it anything. */
export const measureStart = async (bench: Bench, options: { rounds: number; write: boolean }): Promise<void> => {
  const took: Record<'initialised' | 'empty' | 'again' | 'resident', number[]> = {
    initialised: [],
    empty: [],
    again: [],
    resident: [],
  }
  const idle = async (service: Started) => {
    await wait(idleMs)
    took.resident.push(residentMb(service.pid))
    await service.stop()
  }
  // Migrates, and compiles what the next start finds compiled.
  await (await startService(bench.databaseUrl, bench.folder)).stop()
  for (let round = 1; round <= options.rounds; round += 1) {
    const service = await startService(bench.databaseUrl, bench.folder)
    took.initialised.push(service.readyMs)
    await idle(service)
    // As `npm start` does it: without a database of yours, it brings its own.
    const folder = join(bench.folder, `start-${round}`)
    for (const list of [took.empty, took.again]) {
      const own = await startService('', folder)
      list.push(own.readyMs)
      await own.stop()
    }
    say(`round ${round} of ${options.rounds}`)
  }
  const result = [
    { name: 'ms until ready, on a database that is there', goal: '≤ 1500', digits: 0, ...spread(took.initialised) },
    { name: 'ms until ready, with a database of its own that is there', goal: '≤ 1500', digits: 0, ...spread(took.again) },
    { name: 'ms until ready, with a database of its own that it creates', goal: '≤ 5000', digits: 0, ...spread(took.empty) },
    { name: 'MB resident after ten idle seconds', goal: '≤ 150', digits: 0, ...spread(took.resident) },
  ]
  for (const one of result) say(row(one.name, one, one.goal, one.digits))
  await save('start', result, options.write)
}
