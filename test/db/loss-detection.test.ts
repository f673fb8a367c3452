import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Statement } from '../../src/db/client.ts'
import { createWitness } from '../../src/db/loss-detection.ts'
import { createMark, type Noted, type Place } from '../../src/db/recovery-point.ts'
import { newId } from '../../src/lib/ids.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** As a process that starts: with the mark that one before it left. */
const witnessOf = (place?: Place, left: readonly Noted[] = []) => {
  const written: (Place | undefined)[] = []
  const mark = createMark(service.clock)
  const file = {
    left: [{ place, noted: left }],
    write: (place: Place | undefined) => void written.push(place),
    forget: () => undefined,
  }
  const witness = createWitness({ ...service.deps, db: { ...service.deps.db, mark } }, file)
  return { witness, mark, written }
}
const audit = (): Noted => ({ kind: 'audit', id: `${newId()}:${newId()}`, atMs: service.clock.now().getTime() })

test('a server that nobody knew before is trusted at once, and written down', async () => {
  const { witness, written } = witnessOf()
  expect(witness.trusted()).toBeUndefined()
  await witness.check()
  expect([witness.state(), written.map((place) => place?.server)]).toEqual(['trusted', [witness.trusted()]])
})

test('the server from before the last end of the process is trusted at once; another one after two seconds, in which other processes look', async () => {
  const first = witnessOf()
  await first.witness.check()
  const again = witnessOf(first.mark.place())
  await again.witness.check()
  expect([again.witness.state(), again.written]).toEqual(['trusted', []])

  const moved = witnessOf({ system: '1', server: '00000001/1', position: 2n ** 60n })
  await moved.witness.check()
  expect(moved.witness.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1_999)
  await moved.witness.check()
  expect(moved.witness.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1)
  await moved.witness.check()
  expect([moved.witness.trusted(), moved.written.map((place) => place?.server)]).toEqual([
    first.witness.trusted(),
    [first.witness.trusted()],
  ])
})

test('a server whose log is behind what was acknowledged has lost writes, and so has one without the newest commit', async () => {
  const first = witnessOf()
  await first.witness.check()
  const place = first.mark.place() as Place
  const behind = witnessOf({ ...place, server: '00000001/1', position: 2n ** 60n })
  await behind.witness.check()
  expect(behind.witness.state()).toBe('lost')
  const without = witnessOf(place, [audit()])
  await without.witness.check()
  expect(without.witness.state()).toBe('lost')
})

test('the position of the mark is that of the log before the newest acknowledged commit, and never behind it', async () => {
  const { db } = service.deps
  const witness = createWitness(service.deps)
  await witness.check()
  await signIn(service.api)
  const [now] = await db.query<{ position: string }>(`select pg_current_wal_insert_lsn() - '0/0' as position`)
  const position = db.mark.place()?.position ?? 0n
  expect([position > 0n, position < BigInt(now?.position ?? 0)]).toEqual([true, true])
})

test('a server that was trusted is not, after another one has answered', async () => {
  const { db } = service.deps
  let { query } = db
  const passing: typeof query = (statement, values) => query(statement, values)
  const witness = createWitness({ ...service.deps, db: { ...db, mark: createMark(service.clock), query: passing } })
  await witness.check()
  const ours = witness.trusted()
  const other = [{ server: '00000002/1', system: '1', position: '1', lost: false }]
  query = (async (statement: Statement, values: readonly unknown[]) =>
    statement.name === 'witness.look' ? other : db.query(statement, values)) as typeof query
  await witness.check()
  expect([ours === undefined, witness.trusted()]).toEqual([false, undefined])
})
