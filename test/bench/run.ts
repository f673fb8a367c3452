import { parseArgs } from 'node:util'
import { ensureBundled } from '../../scripts/bundle.ts'
import { payers, prepareCallers, usual } from './callers.ts'
import { measureGrowth } from './growth.ts'
import { stopLoad } from './load.ts'
import { measureOverload, measureStart } from './machine.ts'
import { measureOperations } from './operations.ts'
import { measureBooking, measurePayments } from './payments.ts'
import { measurePeers } from './peers.ts'
import { openBench, startFloor, startService } from './processes.ts'
import { linesOf, Notes, save } from './results.ts'

// Each part writes its lines of the table in docs/performance.md. Without a name all parts run: two hours on a quiet machine.

const parts = ['operations', 'payments', 'until-booked', 'peers', 'machine', 'growth'] as const
const defaults = {
  rounds: 8,
  seconds: 1,
  warm: 5,
  callers: 1_500,
  payments: 2_000_000,
  events: 10_000_000,
  keys: 100_000,
  large: 400_000,
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    ...Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' } as const])),
  },
})
const given = Object.entries(values).map(([name, value]) => [name, Number(value)])
const { rounds, seconds, warm, callers, ...growth } = { ...defaults, ...Object.fromEntries(given) } as typeof defaults
const timing = { rounds, seconds, warmSeconds: warm }
const wanted = parts.filter((part) => positionals.length === 0 || positionals.includes(part))
if (wanted.length === 0) throw new Error(`there is no such part: say ${parts.join(', ')}`)

// The service as production starts it.
await ensureBundled()
const bench = await openBench()
try {
  const readerCount = wanted.includes('operations') || wanted.includes('peers') ? callers : 1
  const isOnlyGrowth = wanted.every((part) => part === 'growth')
  const { groups, env } = await prepareCallers(bench, isOnlyGrowth ? [] : [usual(readerCount), payers(300)])
  const [readers = [], writers = []] = groups
  const floor = await startFloor(bench)
  for (const part of wanted) {
    const notes = new Notes()
    const how = `${rounds} rounds of ${seconds} s`
    if (part === 'growth') await measureGrowth(bench, notes, timing, growth)
    else if (part === 'until-booked') await measureBooking(bench, writers, env, notes, timing)
    else if (part === 'machine') {
      await measureStart(bench, writers, notes, timing)
      await measureOverload(bench, writers, env, notes, timing)
    } else {
      const service = await startService(bench, env)
      if (part === 'payments') await measurePayments(bench, service, writers, notes, timing)
      if (part === 'peers') await measurePeers(bench, service, readers, notes, timing)
      if (part === 'operations') {
        const sides = { service, floor, readers, writers }
        const rows = await measureOperations(bench, sides, timing, new RegExp(values.only ?? ''))
        const lines = linesOf(rows)
        if (values.only === undefined) await save(part, `${how}, ${readers.length} callers`, lines)
        else process.stdout.write(`${lines.join('\n')}\n`)
      }
      await service.stop()
    }
    const size = `${how}; ${growth.payments} payments, ${growth.events} events, ${growth.keys} keys`
    if (part !== 'operations') await save(part, part === 'growth' ? size : how, notes.lines())
  }
  await floor.stop()
} finally {
  stopLoad()
  await bench.stop()
}
