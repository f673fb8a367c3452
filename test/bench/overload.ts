import { findGenerator } from './load.ts'
import { payments, preparePayers } from './prepare.ts'
import { type Bench, residentMb, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

/** The number of connections that saturates one process. */
const capacity = 128

/** P11: what is accepted at five times capacity waits no more than three times as long; the rest is refused within 100 ms. */
export const measureOverload = async (
  bench: Bench,
  { rounds, seconds, write }: { rounds: number; seconds: number; write: boolean },
): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder)
  try {
    const { measure } = await findGenerator()
    const load = { name: 'payments', url: service.url, requests: payments(await preparePayers(service.url, bench, 100)) }
    await measure(load, { connections: capacity, seconds: 2 })
    const before = residentMb(service.pid)
    const ratios: number[] = []
    const kept: number[] = []
    const probes: number[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const atCapacity = await measure(load, { connections: capacity, seconds })
      const flood = measure({ ...load, name: 'flood' }, { connections: 5 * capacity, seconds: seconds + 1 })
      // One more caller, whose answers are counted separately: the generator's percentiles mix accepted and refused requests.
      const accepted: number[] = []
      const until = performance.now() + seconds * 1000
      const [first] = load.requests
      while (first && performance.now() < until) {
        const began = performance.now()
        const answer = await fetch(service.url + first.path, {
          method: first.method,
          headers: {
            authorization: `Bearer ${first.credential}`,
            'content-type': 'application/json',
            'idempotency-key': crypto.randomUUID(),
          },
          body: JSON.stringify(first.body),
        })
        await answer.text()
        const ms = performance.now() - began
        if (answer.status === 201) accepted.push(ms)
        else probes.push(ms)
      }
      const flooded = await flood
      const p99 = accepted.sort((a, b) => a - b)[Math.floor(accepted.length * 0.99)] ?? Number.NaN
      if (Number.isFinite(p99)) ratios.push(p99 / atCapacity.p99Ms)
      kept.push(flooded.perSecond / atCapacity.perSecond)
      say(
        `round ${round}: ${flooded.refused} refused; p99 at capacity ${atCapacity.p99Ms.toFixed(0)} ms, of what is accepted ${p99.toFixed(0)} ms`,
      )
    }
    const result = [
      { name: 'p99 of what is accepted at 5 × capacity ÷ at capacity', goal: '≤ 3', ...spread(ratios) },
      { name: 'payments a second at 5 × capacity ÷ at capacity', goal: '', ...spread(kept) },
      { name: 'ms until a refusal', goal: '≤ 100', ...spread(probes) },
      { name: 'MB resident, after ÷ before', goal: '', ...spread([residentMb(service.pid) / before]) },
    ]
    for (const one of result) say(row(one.name, one, one.goal))
    await save('overload', result, write)
  } finally {
    await service.stop()
  }
}
