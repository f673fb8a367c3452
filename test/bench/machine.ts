import { setTimeout as wait } from 'node:timers/promises'
import { range } from './callers.ts'
import { openConnection } from './connection.ts'
import { measure, type Run } from './load.ts'
import { paying } from './payments.ts'
import { residentMb, startService } from './processes.ts'

/** P7: time to ready on an existing database; memory when idle, and per stream. */
const measureStart = async ({ bench, writers, notes, size }: Run): Promise<void> => {
  for (let round = 1; round <= size.rounds; round += 1) {
    const service = await startService(bench)
    await wait(10_000)
    notes.note('ms until ready', service.readyMs, '≤ 1000')
    notes.note('MB when idle', residentMb(service.pid), '≤ 150')
    const open = async (count: number) => {
      const streams = range(count).map((at) => {
        const stream = openConnection(service.url)
        const request = { method: 'GET', path: '/v1/notifications/stream', credential: writers[at % writers.length]?.key ?? '' }
        stream.send(request).catch(() => undefined)
        return stream
      })
      await wait(5_000)
      return streams
    }
    // The first streams warm up the code, which all share.
    const streams = await open(500)
    const warm = residentMb(service.pid)
    streams.push(...(await open(1_500)))
    notes.note('KB of a stream', ((residentMb(service.pid) - warm) * 1024) / 1_500, '≤ 32')
    for (const stream of streams) stream.close()
    await service.stop()
  }
}

/** P8: five times as many connections as saturate a process. */
const measureOverload = async (run: Run): Promise<void> => {
  const { service, writers, notes, size } = run
  const load = (connections: number, seconds: number) => measure(paying(run, service, writers, connections), seconds)
  await load(128, size.warm)
  for (let round = 1; round <= size.rounds; round += 1) {
    const [capacity, flood] = [await load(128, size.seconds), await load(640, size.seconds)]
    notes.note('at 5 × capacity: p99 of what is accepted ÷ at capacity', flood.p99Ms / capacity.p99Ms, '≤ 4')
    notes.note('at 5 × capacity: ms until a refusal, p99', flood.refusedP99Ms, '≤ 200')
  }
}

export const measureMachine = async (run: Run): Promise<void> => {
  await measureStart(run)
  await measureOverload(run)
}
