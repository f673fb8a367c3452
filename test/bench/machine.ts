import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Caller, range } from './callers.ts'
import { Connection, jsonOf, type LoadRequest } from './connection.ts'
import { measure, type Timing } from './load.ts'
import { paymentsOf } from './payments.ts'
import { type Bench, residentMb, startService } from './processes.ts'
import type { Notes } from './results.ts'

/** P7: ready on a database that is there; memory when idle, and of a stream. */
export const measureStart = async (bench: Bench, payers: readonly Caller[], notes: Notes, { rounds }: Timing): Promise<void> => {
  for (let round = 1; round <= rounds; round += 1) {
    const service = await startService(bench)
    await wait(10_000)
    const idle = residentMb(service.pid)
    notes.note('ms until ready', service.readyMs, '≤ 1500')
    notes.note('MB when idle', idle, '≤ 150')
    const sockets = range(round === 1 ? 2_000 : 0).map((at) => {
      const head = `GET /v1/notifications/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${payers[at % payers.length]?.key}`
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) }).on('error', () => undefined)
      socket.resume().write(`${head}\r\n\r\n`)
      return socket
    })
    if (sockets.length > 0) await wait(5_000)
    if (sockets.length > 0) notes.note('KB of a stream', ((residentMb(service.pid) - idle) * 1024) / sockets.length, '≤ 25')
    for (const socket of sockets) socket.destroy()
    await service.stop()
  }
}

/** P8: five times as many connections as saturate a process; one large request beside small ones. */
export const measureOverload = async (
  bench: Bench,
  payers: readonly Caller[],
  env: Record<string, string>,
  notes: Notes,
  timing: Timing,
) => {
  const service = await startService(bench, env)
  await measure(paymentsOf(service, payers, 128, timing.warmSeconds))
  for (let round = 1; round <= timing.rounds; round += 1) {
    const capacity = await measure(paymentsOf(service, payers, 128, timing.seconds))
    const flood = await measure(paymentsOf(service, payers, 640, timing.seconds))
    notes.note('at 5 × capacity: p99 of what is accepted ÷ at capacity', flood.p99Ms / capacity.p99Ms, '≤ 3')
    notes.note('at 5 × capacity: ms until a refusal, p99', flood.refusedP99Ms, '≤ 100')
  }
  const [large, small] = [new Connection(service.url), new Connection(service.url)]
  const [caller] = payers
  const during = async (name: string, request: LoadRequest): Promise<{ id: string; approval_id: string }> => {
    let [longest, isServed] = [0, false]
    const answer = jsonOf(large, request).finally(() => {
      isServed = true
    })
    while (!isServed) {
      const began = performance.now()
      await small.send({ method: 'GET', path: '/healthz' })
      longest = Math.max(longest, performance.now() - began)
      await wait(1)
    }
    notes.note(`${name}: longest wait of another request, ms`, longest, '≤ 50')
    return answer
  }
  const post = (path: string, body?: unknown, session = caller?.session): LoadRequest => {
    return { method: 'POST', path, credential: `cookie ${session}`, body }
  }
  const items = range(1_000).map(() => ({ beneficiary_id: caller?.asking, amount_minor: '1000', narrative: 'Salary' }))
  for (let round = 1; round <= timing.rounds; round += 1) {
    // The administrator's proof may be of long ago.
    await bench.query('update sessions set proven_at = now()')
    const list = await during('a list of 1,000 payments', post('/v1/payment-batches', { items, duplicates_intended: true }))
    await during('its approval', post(`/v1/approvals/${list.approval_id}/decide`, { decision: 'approve' }))
    const other = await jsonOf(large, post('/v1/payment-batches', { items, duplicates_intended: true }))
    await during('the cancellation of another', post(`/v1/payment-batches/${other.id}/cancel`))
    await during('a search without hits', { ...post('/v1/payments?q=nothing-has-this'), method: 'GET' })
    const lines = range(10_000).map((at) => `MANY${round}X${at},2026-03-04 20:00:00,Completed,${at + 1}.00,`)
    const statement = ['Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn', ...lines, ''].join('\n')
    const upload = post('/v1/admin/reconciliations', { source: `portal-${round}.csv`, statement }, caller?.admin)
    await during("a provider's statement of 10,000 lines", upload)
  }
  for (const connection of [large, small]) connection.close()
  await service.stop()
}
