import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Statement } from '../../src/db/client.ts'
import { createLossDetection } from '../../src/db/loss-detection.ts'
import { createRecoveryPoint, type ServerPosition, type TrackedWrite } from '../../src/db/recovery-point.ts'
import { newId } from '../../src/lib/ids.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A starting process, with the recovery point that an earlier process left. */
const detectionOf = (place?: ServerPosition, left: readonly TrackedWrite[] = []) => {
  const written: (ServerPosition | undefined)[] = []
  const recoveryPoint = createRecoveryPoint(service.clock)
  const file = {
    saved: [{ serverPosition: place, writes: left }],
    write: (place: ServerPosition | undefined) => void written.push(place),
    forget: () => undefined,
  }
  const lossDetection = createLossDetection({ ...service.deps, db: { ...service.deps.db, recoveryPoint } }, file)
  return { lossDetection, recoveryPoint, written }
}
const audit = (): TrackedWrite => ({ kind: 'audit', id: `${newId()}:${newId()}`, atMs: service.clock.now().getTime() })

test('a server that nobody knew before is trusted at once, and written down', async () => {
  const { lossDetection, written } = detectionOf()
  expect(lossDetection.trusted()).toBeUndefined()
  await lossDetection.check()
  expect([lossDetection.state(), written.map((place) => place?.server)]).toEqual(['trusted', [lossDetection.trusted()]])
})

test('the server from before the last end of the process is trusted at once; another one after two seconds, in which other processes look', async () => {
  const first = detectionOf()
  await first.lossDetection.check()
  const again = detectionOf(first.recoveryPoint.serverPosition())
  await again.lossDetection.check()
  expect([again.lossDetection.state(), again.written]).toEqual(['trusted', []])

  const moved = detectionOf({ system: '1', server: '00000001/1', position: 2n ** 60n })
  await moved.lossDetection.check()
  expect(moved.lossDetection.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1_999)
  await moved.lossDetection.check()
  expect(moved.lossDetection.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1)
  await moved.lossDetection.check()
  expect([moved.lossDetection.trusted(), moved.written.map((place) => place?.server)]).toEqual([
    first.lossDetection.trusted(),
    [first.lossDetection.trusted()],
  ])
})

test('a server whose log is behind what was acknowledged has lost writes, and so has one without the newest commit', async () => {
  const first = detectionOf()
  await first.lossDetection.check()
  const place = first.recoveryPoint.serverPosition() as ServerPosition
  const behind = detectionOf({ ...place, server: '00000001/1', position: 2n ** 60n })
  await behind.lossDetection.check()
  expect(behind.lossDetection.state()).toBe('lost')
  const without = detectionOf(place, [audit()])
  await without.lossDetection.check()
  expect(without.lossDetection.state()).toBe('lost')
})

test('the position of the recovery point is that of the log before the newest acknowledged commit, and never behind it', async () => {
  const { db } = service.deps
  const lossDetection = createLossDetection(service.deps)
  await lossDetection.check()
  await signIn(service.api)
  const [now] = await db.query<{ position: string }>(`select pg_current_wal_insert_lsn() - '0/0' as position`)
  const position = db.recoveryPoint.serverPosition()?.position ?? 0n
  expect([position > 0n, position < BigInt(now?.position ?? 0)]).toEqual([true, true])
})

test('a server that was trusted is not, after another one has answered', async () => {
  const { db } = service.deps
  let { query } = db
  const passing: typeof query = (statement, values) => query(statement, values)
  const lossDetection = createLossDetection({
    ...service.deps,
    db: { ...db, recoveryPoint: createRecoveryPoint(service.clock), query: passing },
  })
  await lossDetection.check()
  const ours = lossDetection.trusted()
  const other = [{ server: '00000002/1', system: '1', position: '1', lost: false }]
  query = (async (statement: Statement, values: readonly unknown[]) =>
    statement.name === 'loss_detection.look' ? other : db.query(statement, values)) as typeof query
  await lossDetection.check()
  expect([ours === undefined, lossDetection.trusted()]).toEqual([false, undefined])
})
