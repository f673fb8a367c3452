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

type Saved = { savedPosition?: ServerPosition | undefined; savedWrites?: readonly TrackedWrite[] }

/** A starting process, with the recovery point that an earlier process saved. */
const startingProcess = ({ savedPosition, savedWrites = [] }: Saved = {}) => {
  const written: (ServerPosition | undefined)[] = []
  const recoveryPoint = createRecoveryPoint(service.clock)
  const file = {
    saved: [{ serverPosition: savedPosition, writes: savedWrites }],
    write: (position: ServerPosition | undefined) => void written.push(position),
    forget: () => undefined,
  }
  const lossDetection = createLossDetection({ ...service.deps, db: { ...service.deps.db, recoveryPoint } }, file)
  return { lossDetection, recoveryPoint, written }
}
const farAhead = 2n ** 60n
const anotherCluster = { system: '1', server: '00000001/1', position: farAhead }
const audit = (): TrackedWrite => ({ kind: 'audit', id: `${newId()}:${newId()}`, atMs: service.clock.now().getTime() })

test('a server without a saved position is trusted at once, and its position is saved', async () => {
  const { lossDetection, written } = startingProcess()
  expect(lossDetection.trusted()).toBeUndefined()
  await lossDetection.check()
  expect([lossDetection.state(), written.map((position) => position?.server)]).toEqual(['trusted', [lossDetection.trusted()]])
})

test('the server of the saved position is trusted at once after a restart', async () => {
  const first = startingProcess()
  await first.lossDetection.check()
  const again = startingProcess({ savedPosition: first.recoveryPoint.serverPosition() })
  await again.lossDetection.check()
  expect([again.lossDetection.state(), again.written]).toEqual(['trusted', []])
})

test('another cluster is trusted only after two seconds, in which other processes look', async () => {
  const first = startingProcess()
  await first.lossDetection.check()
  const moved = startingProcess({ savedPosition: anotherCluster })
  await moved.lossDetection.check()
  expect(moved.lossDetection.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1_999)
  await moved.lossDetection.check()
  expect(moved.lossDetection.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1)
  await moved.lossDetection.check()
  expect([moved.lossDetection.trusted(), moved.written.map((position) => position?.server)]).toEqual([
    first.lossDetection.trusted(),
    [first.lossDetection.trusted()],
  ])
})

test('a server has lost writes if its log is behind the acknowledged position, or if the newest commit is missing', async () => {
  const first = startingProcess()
  await first.lossDetection.check()
  const savedPosition = first.recoveryPoint.serverPosition() as ServerPosition
  const behind = startingProcess({ savedPosition: { ...savedPosition, server: '00000001/1', position: farAhead } })
  await behind.lossDetection.check()
  expect(behind.lossDetection.state()).toBe('lost')
  const without = startingProcess({ savedPosition, savedWrites: [audit()] })
  await without.lossDetection.check()
  expect(without.lossDetection.state()).toBe('lost')
})

test('writes from before a loss that an operator has ended are not missed by a process that slept meanwhile; later ones are', async () => {
  const first = startingProcess()
  await first.lossDetection.check()
  const savedPosition = first.recoveryPoint.serverPosition()
  const now = service.clock.now()
  const before = { ...audit(), atMs: now.getTime() - 1 }
  await service.deps.db.query(
    `insert into write_losses (noticed_at, noticed_by, ended_at, ended_by) values ($1::timestamptz, 'a test', $1::timestamptz + interval '1 s', 'a test')`,
    [now],
  )
  const slept = startingProcess({ savedPosition, savedWrites: [before] })
  await slept.lossDetection.check()
  expect([slept.lossDetection.state(), slept.recoveryPoint.newest('audit')]).toEqual(['trusted', []])
  const missing = startingProcess({ savedPosition, savedWrites: [before, { ...audit(), atMs: now.getTime() + 1 }] })
  await missing.lossDetection.check()
  expect(missing.lossDetection.state()).toBe('lost')
  await service.deps.db.query('delete from write_losses')
})

test('the recovery point is never ahead of the newest acknowledged commit', async () => {
  const { db } = service.deps
  const lossDetection = createLossDetection(service.deps)
  await lossDetection.check()
  await signIn(service.api)
  const [now] = await db.query<{ position: string }>(`select pg_current_wal_insert_lsn() - '0/0' as position`)
  const position = db.recoveryPoint.serverPosition()?.position ?? 0n
  expect([position > 0n, position < BigInt(now?.position ?? 0)]).toEqual([true, true])
})

test('a trusted server is no longer trusted after another one has answered', async () => {
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
