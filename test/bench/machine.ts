import { setTimeout as wait } from 'node:timers/promises'
import { range } from './callers.ts'
import { jsonOf, type LoadRequest, openConnection } from './connection.ts'
import { measure, type Run } from './load.ts'
import { paying } from './payments.ts'
import { residentMb, startService } from './processes.ts'

/** P7: time to ready on an existing database; memory when idle, and per stream. */
const measureStart = async ({ bench, writers, notes, size }: Run): Promise<void> => {
  for (let round = 1; round <= size.rounds; round += 1) {
    const service = await startService(bench)
    await wait(10_000)
    const idle = residentMb(service.pid)
    notes.note('ms until ready', service.readyMs, '≤ 1500')
    notes.note('MB when idle', idle, '≤ 150')
    const streams = range(2_000).map(() => openConnection(service.url))
    for (const [at, stream] of streams.entries()) {
      const request = { method: 'GET', path: '/v1/notifications/stream', credential: writers[at % writers.length]?.key ?? '' }
      stream.send(request).catch(() => undefined)
    }
    await wait(5_000)
    notes.note('KB of a stream', ((residentMb(service.pid) - idle) * 1024) / streams.length, '≤ 25')
    for (const stream of streams) stream.close()
    await service.stop()
  }
}

/** P8: five times as many connections as saturate a process; one large request beside small ones. */
const measureOverload = async (run: Run): Promise<void> => {
  const { service, writers, notes, size } = run
  const load = (connections: number, seconds: number) => measure(paying(run, service, writers, connections), seconds)
  await load(128, size.warm)
  for (let round = 1; round <= size.rounds; round += 1) {
    const [capacity, flood] = [await load(128, size.seconds), await load(640, size.seconds)]
    notes.note('at 5 × capacity: p99 of what is accepted ÷ at capacity', flood.p99Ms / capacity.p99Ms, '≤ 3')
    notes.note('at 5 × capacity: ms until a refusal, p99', flood.refusedP99Ms, '≤ 100')
  }
  const [large, small] = [openConnection(service.url), openConnection(service.url)]
  const [caller] = writers
  const during = async (name: string, request: LoadRequest): Promise<{ id: string; approval_id: string }> => {
    const answer = jsonOf(large, request)
    let longest = 0
    do {
      const began = performance.now()
      await small.send({ method: 'GET', path: '/healthz' })
      longest = Math.max(longest, performance.now() - began)
    } while ((await Promise.race([answer, wait(1)])) === undefined)
    notes.note(`${name}: longest wait of another request, ms`, longest, '≤ 50')
    return answer
  }
  const post = (path: string, body?: unknown, session = caller?.session): LoadRequest => {
    return { method: 'POST', path, credential: `cookie ${session}`, body }
  }
  const items = range(1_000).map(() => ({ beneficiary_id: caller?.asking, amount_minor: '1000', narrative: 'Salary' }))
  const many = post('/v1/payment-batches', { items, duplicates_intended: true })
  for (let round = 1; round <= size.rounds; round += 1) {
    const list = await during('a list of 1,000 payments', many)
    await during('its approval', post(`/v1/approvals/${list.approval_id}/decide`, { decision: 'approve' }))
    const other = await jsonOf(large, many)
    await during('the cancellation of another', post(`/v1/payment-batches/${other.id}/cancel`))
    await during('a search without hits', { ...post('/v1/payments?q=nothing-has-this'), method: 'GET' })
    const lines = range(10_000).map((at) => `MANY${round}X${at},2026-03-04 20:00:00,Completed,${at + 1}.00,`)
    const statement = ['Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn', ...lines, ''].join('\n')
    const upload = post('/v1/admin/reconciliations', { source: `portal-${round}.csv`, statement }, caller?.admin)
    await during("a provider's statement of 10,000 lines", upload)
  }
  for (const connection of [large, small]) connection.close()
}

export const measureMachine = async (run: Run): Promise<void> => {
  await measureStart(run)
  await measureOverload(run)
}
