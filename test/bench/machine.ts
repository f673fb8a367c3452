import { setTimeout as wait } from 'node:timers/promises'
import { range } from './callers.ts'
import { jsonOf, type LoadRequest, openConnection } from './connection.ts'
import { measure, type Run } from './load.ts'
import { paying } from './payments.ts'
import { cpuSeconds, residentMb, type Started, startService } from './processes.ts'
import { Notes } from './results.ts'

/** P7: time to ready on an existing database; memory when idle, and per stream. P8: five times as many connections as saturate a process. */
export const measureMachine = async (run: Run): Promise<void> => {
  const { bench, writers, notes, size } = run
  for (let round = 1; round <= size.rounds; round += 1) {
    const service = await startService(bench)
    await wait(10_000)
    notes.note('ms until ready', service.readyMs, '≤ 1000')
    notes.note('MB when idle', residentMb(service.pid), '≤ 150')
    const open = async (count: number) => {
      const streams = range(count).map((index) => {
        const stream = openConnection(service.url)
        const request = {
          method: 'GET',
          path: '/v1/notifications/stream',
          credential: writers[index % writers.length]?.key ?? '',
        }
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
  const load = (connections: number, seconds: number) => measure(paying(run, run.service, writers, connections), seconds)
  await load(128, size.warm)
  for (let round = 1; round <= size.rounds; round += 1) {
    const [capacity, flood] = [await load(128, size.seconds), await load(640, size.seconds)]
    notes.note('at 5 × capacity: p99 of what is accepted ÷ at capacity', flood.p99Ms / capacity.p99Ms, '≤ 4')
    notes.note('at 5 × capacity: ms until a refusal, p99', flood.refusedP99Ms, '≤ 200')
  }
}

/** One large request: its processor time per item, and the longest time that it keeps another request waiting. */
export const beside = async <T extends object>(
  { bench, notes }: Pick<Run, 'bench' | 'notes'>,
  { url, pid }: Started,
  { name, items, goal }: { name: string; items?: number; goal?: string },
  ask: () => Promise<T>,
): Promise<T> => {
  const now = () => cpuSeconds(pid) + cpuSeconds(bench.postgresPid)
  const small = openConnection(url)
  const before = now()
  const answer = ask()
  let longest = 0
  do {
    const began = performance.now()
    await small.send({ method: 'GET', path: '/healthz' })
    longest = Math.max(longest, performance.now() - began)
  } while ((await Promise.race([answer, wait(1)])) === undefined)
  small.close()
  if (items) notes.note(`${name}: processor time, ms an item`, ((now() - before) * 1000) / items, goal)
  notes.note(`${name}: longest stop, ms`, longest, '≤ 50')
  return answer
}

/** P4 and P8: the large requests that a person waits for. */
export const measureWaits = async (run: Run): Promise<void> => {
  const { service, writers, notes, size } = run
  const [caller] = writers
  const large = openConnection(service.url)
  const request = (method: string, path: string, body?: unknown, session = caller?.session): LoadRequest => {
    return { method, path, credential: `cookie ${session}`, body }
  }
  const batchOf = (count: number, query = '') => {
    const payees = [caller?.asking, ...(caller?.paid ?? [])]
    const items = range(count).map((index) => ({
      beneficiary_id: payees[index % payees.length],
      amount_minor: `${index + 10}00`,
    }))
    return request('POST', `/v1/payment-batches${query}`, { items, duplicates_intended: true })
  }
  // The first round warms up.
  for (let round = 0; round <= size.rounds; round += 1) {
    const noting = { ...run, notes: round === 0 ? new Notes() : notes }
    const during = (name: string, asked: LoadRequest, more = {}) =>
      beside(noting, service, { name, ...more }, () => jsonOf(large, asked))
    await during('a dry run of 1,000 payments', batchOf(1_000, '?dry_run=true'))
    // 4 ms, and 0.3 an item.
    await during('a batch of 200', batchOf(200), { items: 200, goal: '≤ 0.32' })
    const batch = await during('a batch of 1,000', batchOf(1_000), { items: 1_000, goal: '≤ 0.25' })
    await during('its approval, read', request('GET', `/v1/approvals/${batch.approval_id}`))
    await during('its approval', request('POST', `/v1/approvals/${batch.approval_id}/decide`, { decision: 'approve' }))
    const other = await jsonOf(large, batchOf(1_000))
    await during('its cancellation', request('POST', `/v1/payment-batches/${other.id}/cancel`))
    await during('a receipt', request('GET', `/v1/payments/${caller?.payments}/receipt`))
    await during('a search without hits', request('GET', '/v1/payments?q=nothing-has-this'))
    const lines = range(10_000).map((index) => `MANY${round}X${index},2026-03-04 20:00:00,Completed,${index + 1}.00,`)
    const statement = ['Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn', ...lines, ''].join('\n')
    const upload = { source: `portal-${round}.csv`, statement }
    await during("a provider's statement of 10,000 lines", request('POST', '/v1/admin/reconciliations', upload, caller?.admin))
  }
  large.close()
}
