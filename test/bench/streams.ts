import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { preparePayers } from './prepare.ts'
import { type Bench, residentMb, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

const reader = fileURLToPath(new URL('./stream-readers.ts', import.meta.url))

export const openReaders = async (url: string, credentials: readonly string[], count: number) => {
  const child = spawn(process.execPath, [reader, url, String(count), ...credentials], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const next = () => new Promise<string>((resolve) => lines.once('line', resolve))
  await next()
  return { next, stop: () => void child.kill() }
}

const post = async (url: string, bearer: string, name: string): Promise<number> => {
  const answer = await fetch(`${url}/v1/spending-policies`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  await answer.text()
  return Date.now()
}

/** P5: how much an idle stream costs, and how soon an event is at one of them and at a thousand. */
export const measureStreams = async (
  bench: Bench,
  { rounds, streams, write }: { rounds: number; streams: number; write: boolean },
): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder, { STREAMS_PER_ACCOUNT: '10000' })
  try {
    // The keys of one root may have half of an account's places, so the idle streams are of several accounts.
    const [many, one, ...others] = await preparePayers(service.url, bench, 6)
    if (!many || !one) throw new Error('there is no account to listen with')
    // Streams that have come and gone: what a process grows by once is not what one more stream costs.
    const gone = await openReaders(service.url, [many.key], 1_000)
    gone.stop()
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const before = residentMb(service.pid)
    const thousand = await openReaders(service.url, [many.key], 1_000)
    const idle = await openReaders(service.url, [one.key], 1)
    const rest = await openReaders(
      service.url,
      others.map(({ key }) => key),
      streams - 1_001,
    )
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const kilobytes = ((residentMb(service.pid) - before) * 1024) / streams
    const toOne: number[] = []
    for (let n = 0; n < rounds * 5; n += 1) {
      const received = idle.next()
      const sent = await post(service.url, one.key, `One ${n}`)
      toOne.push(Math.max(0, Number(JSON.parse(await received).p99) - sent))
    }
    rest.stop()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const toMany: number[] = []
    for (let n = 0; n < rounds; n += 1) {
      const received = thousand.next()
      const sent = await post(service.url, many.key, `Many ${n}`)
      toMany.push(Math.max(0, Number(JSON.parse(await received).p99) - sent))
    }
    for (const readers of [thousand, idle]) readers.stop()
    const result = [
      { name: `KB resident a stream, ${streams} idle`, goal: '≤ 20', ...spread([kilobytes]) },
      { name: `ms from the answer to one stream of ${streams}`, goal: '≤ 10', ...spread(toOne) },
      { name: 'ms from the answer to the 990th of 1,000 streams', goal: '≤ 50', ...spread(toMany) },
    ]
    for (const each of result) say(row(each.name, each, each.goal, 1))
    await save('streams', result, write)
  } finally {
    await service.stop()
  }
}
