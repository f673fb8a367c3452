import { parseArgs } from 'node:util'
import { ensureBundled } from '../../scripts/bundle.ts'
import { measureBatches } from './batches.ts'
import { measureCallbacks } from './callbacks.ts'
import { measureDispatch } from './dispatch.ts'
import { measureEventOrder } from './event-order.ts'
import { measureGrowth } from './growth.ts'
import { measureOperations } from './operations.ts'
import { measureOverload } from './overload.ts'
import { measurePages } from './pages.ts'
import { measurePeers } from './peers.ts'
import { measurePolicyLock } from './policy-lock.ts'
import { openBench } from './processes.ts'
import { measureRatios } from './ratios.ts'
import { measureSoak } from './soak.ts'
import { measureStart } from './start.ts'
import { measureStreams } from './streams.ts'
import { measureTwoProcesses } from './two-processes.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
    payers: { type: 'string', default: '100' },
    statements: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    payments: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '10000000' },
    keys: { type: 'string', default: '100000' },
    streams: { type: 'string', default: '10000' },
    policies: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '30' },
  },
})
const shared = { rounds: Number(values.rounds), seconds: Number(values.seconds), write: values.write }

const [what = 'ratios'] = positionals
// The service as production starts it.
await ensureBundled()
const bench = await openBench()
try {
  if (what === 'ratios')
    await measureRatios(bench, {
      ...shared,
      payers: Number(values.payers),
      statements: values.statements,
      only: values.only === undefined ? undefined : new RegExp(values.only),
    })
  else if (what === 'operations')
    await measureOperations(bench, {
      ...shared,
      check: values.check,
      only: values.only === undefined ? undefined : new RegExp(values.only),
    })
  else if (what === 'overload') await measureOverload(bench, shared)
  else if (what === 'batches') await measureBatches(bench, shared)
  else if (what === 'dispatch') await measureDispatch(bench, shared)
  else if (what === 'callbacks') await measureCallbacks(bench, shared)
  else if (what === 'streams') await measureStreams(bench, { ...shared, streams: Number(values.streams) })
  else if (what === 'event-order') await measureEventOrder(bench, shared)
  else if (what === 'policy-lock') await measurePolicyLock(bench, { write: shared.write, paymentCount: Number(values.payments) })
  else if (what === 'peers') await measurePeers(bench, shared)
  else if (what === 'two-processes') await measureTwoProcesses(bench, shared)
  else if (what === 'start') await measureStart(bench, shared)
  else if (what === 'soak') await measureSoak(bench, { write: shared.write, minutes: Number(values.minutes) })
  else if (what === 'pages')
    await measurePages(bench, { write: shared.write, paymentCount: Number(values.payments), eventCount: Number(values.events) })
  else if (what === 'growth')
    await measureGrowth(bench, {
      ...shared,
      paymentCount: Number(values.payments),
      eventCount: Number(values.events),
      keyCount: Number(values.keys),
      policyCount: Number(values.policies),
    })
  else
    throw new Error(
      `there is no bench called ${what}: leave it out, or say operations, batches, overload, dispatch, callbacks, growth, pages, streams, start, soak, event-order, policy-lock, two-processes or peers`,
    )
} finally {
  await bench.stop()
}
