import { parseArgs } from 'node:util'
import { ensureBundled } from '../../scripts/bundle.ts'
import { describeService } from '../../scripts/describe-service.ts'
import { measureAgainst } from './against.ts'
import { prepareCallers } from './callers.ts'
import { measureGrowth } from './growth.ts'
import type { Run } from './load.ts'
import { measureMachine, measureWaits } from './machine.ts'
import { operationsOf } from './operation-list.ts'
import { measureOperations } from './operations.ts'
import { measureBooking, measurePayments } from './payments.ts'
import { measurePeers } from './peers.ts'
import { openBench, startFloor, startService } from './processes.ts'
import { Notes, save } from './results.ts'

// Each part writes its lines of the table in docs/performance.md. Default: all parts, two hours on a quiet machine. `against
// <commit> …` compares with other versions, and prints.

const parts: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  operations: measureOperations,
  payments: measurePayments,
  'until-booked': measureBooking,
  peers: measurePeers,
  machine: measureMachine,
  waits: measureWaits,
  growth: measureGrowth,
}
const sizes = { rounds: '8', seconds: '1', warm: '5', callers: '1500', payments: '2000000', events: '10000000', large: '400000' }
const options = Object.entries(sizes).map(([name, value]) => [name, { type: 'string', default: value }] as const)
const { values, positionals } = parseArgs({ allowPositionals: true, options: Object.fromEntries(options) })
const size = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)])) as Run['size']
const [against, ...commits] = positionals
if (against === 'against' && commits.length > 0) {
  await measureAgainst(commits, { ...size, callers: Math.min(size.callers, 300) })
  process.exit()
}
const wanted = Object.keys(parts).filter((part) => positionals.length === 0 || positionals.includes(part))
if (wanted.length === 0) throw new Error(`there is no such part: say ${Object.keys(parts).join(', ')}`)

// The service as in production.
await ensureBundled()
const bench = await openBench()
try {
  const areRead = wanted.some((part) => ['operations', 'peers', 'growth'].includes(part))
  // No job runs later, so writers' payments stay under way in a measurement: no measured read uses them.
  const [env, readers = [], writers = []] = await prepareCallers(bench, [areRead ? size.callers : 1, Math.min(size.callers, 300)])
  const operations = operationsOf((await describeService()).routes)
  const floor = await startFloor(bench)
  for (const part of wanted) {
    const service = await startService(bench, env)
    const notes = new Notes()
    await parts[part]?.({ bench, service, floor, notes, readers, writers, operations, size })
    await save(part, size, notes.lines())
    await service.stop()
  }
  await floor.stop()
} finally {
  await bench.stop()
}
