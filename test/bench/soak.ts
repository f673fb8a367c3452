import { setTimeout as wait } from 'node:timers/promises'
import { findGenerator, type Load, openTurns } from './load.ts'
import { payments, preparePayers, reads, refreshTokens } from './prepare.ts'
import { type Bench, residentMb, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'
import { openReaders } from './streams.ts'

const sampleMs = 1_000
const streams = 200

/** What V8 has in its old generation: after a collection it is what is still in use. */
const oldSpaceMb = async (operatorUrl: string | undefined): Promise<number> => {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text()
  return Number(/^nodejs_heap_space_size_used_bytes\{space="old"\} (\d+)/m.exec(text)?.[1]) / 2 ** 20
}

/**
 * Whether memory stays flat: reads, lists, payments, refused requests, sign-ins and rotations of refresh tokens all the time, and streams
 * that come and go. Jobs are off, because the emulated rails keep their orders in the same process.
 */
export const measureSoak = async (bench: Bench, { minutes, write }: { minutes: number; write: boolean }): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder, { STREAMS_PER_ACCOUNT: '10000' })
  const { measure } = await findGenerator()
  const payers = await preparePayers(service.url, bench, 50)
  const keys = payers.map(({ key }) => key)
  const mixed: Load = {
    name: 'mixed',
    url: service.url,
    requests: [
      ...payments(payers),
      ...reads(keys),
      ...reads(keys, '/v1/payments?limit=20'),
      ...reads(keys, '/v1/payments/pay_00000000000000000000000000'),
      ...payments(payers).map((one) => ({ ...one, body: { amount_minor: '-1' } })),
      ...reads(['service_live_unknown']),
    ],
  }
  const turns = [
    await openTurns({ kind: 'sign_in', dialect: 'ours', url: service.url, wallets: 4 }),
    await openTurns(await refreshTokens(bench, payers.slice(0, 4), service.url)),
  ]
  try {
    const ends = performance.now() + minutes * 60_000
    const samples: number[] = []
    const used: number[] = []
    const isOver = () => performance.now() >= ends
    const sample = async () => {
      for (; !isOver(); await wait(sampleMs)) {
        samples.push(residentMb(service.pid))
        used.push(await oldSpaceMb(service.operatorUrl))
      }
    }
    const load = async () => {
      while (!isOver()) await measure(mixed, { connections: 8, seconds: 20 })
    }
    const turn = async (one: (typeof turns)[number]) => {
      while (!isOver()) await one.measure(20, 5)
    }
    const listen = async () => {
      while (!isOver()) {
        const readers = await openReaders(service.url, keys, streams)
        await wait(10_000)
        readers.stop()
        await wait(2_000)
      }
    }
    await Promise.all([sample(), load(), ...turns.map(turn), listen()])
    const sixth = (of: readonly number[], n: number) => spread(of.slice((of.length * n) / 6, (of.length * (n + 1)) / 6))
    const [early, late] = [sixth(used, 1), sixth(used, 5)]
    const result = [
      {
        name: `MB in use after a collection, last ÷ second sixth of ${minutes} minutes`,
        goal: '≤ 1.1',
        ...spread([late.min / early.min]),
      },
      { name: 'MB in use after a collection, last sixth', goal: '', digits: 0, ...spread([late.min]) },
      { name: 'MB resident, second sixth', goal: '', digits: 0, ...sixth(samples, 1) },
      { name: 'MB resident, last sixth', goal: '', digits: 0, ...sixth(samples, 5) },
    ]
    for (const one of result) say(row(one.name, one, one.goal))
    await save('soak', result, write)
  } finally {
    for (const one of turns) one.stop()
    await service.stop()
  }
}
