import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Statement } from '../../src/db/client.ts'
import { createWitness, type Journal } from '../../src/db/witness.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** As a process that starts: with what one before it wrote down. */
const witnessOf = (lastServer?: string) => {
  const noted: string[] = []
  const journal: Journal = {
    lines: [],
    lastServer,
    write: () => undefined,
    noteServer: (server) => void noted.push(server),
    clear: async () => undefined,
  }
  return { witness: createWitness(service.deps, journal), noted }
}

test('a server that nobody knew before is trusted at once, and written down', async () => {
  const { witness, noted } = witnessOf()
  expect(witness.trusted()).toBeUndefined()
  await witness.check()
  expect([witness.state(), noted]).toEqual(['trusted', [witness.trusted()]])
})

test('the server from before the last end of the process is trusted at once; another one after two seconds, in which other processes look', async () => {
  const first = witnessOf()
  await first.witness.check()
  const again = witnessOf(first.witness.trusted())
  await again.witness.check()
  expect([again.witness.state(), again.noted]).toEqual(['trusted', []])

  const moved = witnessOf('00000001/1')
  await moved.witness.check()
  expect(moved.witness.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1_999)
  await moved.witness.check()
  expect(moved.witness.trusted()).toBeUndefined()
  vi.advanceTimersByTime(1)
  await moved.witness.check()
  expect([moved.witness.trusted(), moved.noted]).toEqual([first.witness.trusted(), [first.witness.trusted()]])
})

test('a server that was trusted is not, after another one has answered', async () => {
  const { witness } = witnessOf()
  await witness.check()
  const ours = witness.trusted()
  const { db } = service.deps
  const { query } = db
  db.query = (async (statement: Statement, values: readonly unknown[]) =>
    statement.name === 'witness.look' ? [{ server: '00000002/1', lost: false }] : query(statement, values)) as typeof query
  await witness.check()
  db.query = query
  expect([ours === undefined, witness.trusted()]).toEqual([false, undefined])
})
