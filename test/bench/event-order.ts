import { readFile } from 'node:fs/promises'
import { pgbench } from './load.ts'
import type { Bench } from './processes.ts'
import { type Result, row, save, say, spread } from './report.ts'

export type EventOrderOptions = { rounds: number; seconds: number; write: boolean }

const shapes = ['unordered', 'advisory', 'sequence', 'feed'] as const
type Shape = (typeof shapes)[number]

const compared = {
  unordered: 'no order at all ÷ advisory lock',
  sequence: 'position by account, no common order ÷ advisory lock',
  feed: 'position by account, with a common order to read by ÷ advisory lock',
} satisfies Record<Exclude<Shape, 'advisory'>, string>

const spread1000 = '\\set who random(1, 1000)'
const one = '\\set who 0'

/**
 * What a payment's transaction costs in each shape. The service decides payments in batches, so a process has one transaction of an
 * account under way: as many connections pay from one account as there are processes. Ten are what a service without batches would have.
 */
const loads = [
  { name: '1 payment, 1,000 accounts, 10 connections', who: spread1000, size: 1, connections: 10 },
  { name: '32 payments, 1,000 accounts, 10 connections', who: spread1000, size: 32, connections: 10 },
  { name: '32 payments, one account, 1 connection', who: one, size: 32, connections: 1 },
  { name: '32 payments, one account, 2 connections', who: one, size: 32, connections: 2 },
  { name: '32 payments, one account, 10 connections', who: one, size: 32, connections: 10 },
  { name: '1 payment, one account, 10 connections', who: one, size: 1, connections: 10 },
]

/** Every shape in turn, round by round; the ratio is taken within a round. */
export const measureEventOrder = async (bench: Bench, { rounds, seconds, write }: EventOrderOptions): Promise<void> => {
  await bench.query(await readFile(new URL('./event-order.sql', import.meta.url), 'utf8'))
  const ratios = new Map<string, number[]>()
  for (let round = 1; round <= rounds; round += 1) {
    for (const { name, who, size, connections } of loads) {
      const perSecond = {} as Record<Shape, number>
      // A different one is first in each round, because the state of the disk affects all of them.
      const turn = shapes.map((_, at) => shapes[(at + round) % shapes.length] ?? 'advisory')
      for (const shape of turn) {
        const script = `${who}\nselect ordered.pay_${shape}(:who, ${size});\n`
        const measured = await pgbench(bench.databaseUrl, script, { connections, seconds })
        if (measured === undefined) throw new Error('this bench needs pgbench')
        perSecond[shape] = measured
      }
      for (const [shape, what] of Object.entries(compared)) {
        const key = `${name}: ${what}`
        ratios.set(key, [...(ratios.get(key) ?? []), perSecond[shape as Shape] / perSecond.advisory])
      }
      say(`  ${name}: ${perSecond.advisory.toFixed(0)} transactions a second with the advisory lock`)
    }
    say(`round ${round} of ${rounds}`)
  }
  const result: Result[] = [...ratios].map(([name, values]) => ({ name, goal: '', ...spread(values) }))
  for (const line of result) say(row(line.name, line))
  await save('event-order', result, write, { seconds })
}
