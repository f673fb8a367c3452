import { expect, test } from 'vitest'
import { createGate, gatedPayout } from '../../src/rails/gate.ts'
import type { Attempt, Evidence, PayoutAdapter, Submission } from '../../src/rails/rail.ts'
import { createTestClock } from '../harness/clock.ts'

const lost: Submission = { kind: 'lost', message: 'No answer.' }
const throttled: Submission = { kind: 'not_sent', code: 'throttled', message: 'Too many.' }
const attempt = {} as Attempt

/** A rail that is down, and its answer to a query. */
const downBy = async (submission: Submission, evidence: Evidence) => {
  const gate = createGate({ clock: createTestClock(), concurrency: 10 })
  for (let call = 0; call < 5; call += 1) await gate.run(async () => submission)
  expect([gate.free(), gate.read().state]).toEqual([0, submission === lost ? 'down' : 'throttled'])
  const rail = gatedPayout({ query: async () => evidence } as unknown as PayoutAdapter, gate)
  expect(await rail.query(attempt)).toEqual(evidence)
  return gate
}

test('a rail that answers a status query again gets its trial payment at once, and one alone', async () => {
  const gate = await downBy(lost, { kind: 'pending' })
  expect(gate.free()).toBe(1)
  const answer = Promise.withResolvers<Submission>()
  const trial = gate.run(() => answer.promise)
  expect(gate.free()).toBe(0)
  answer.resolve({ kind: 'accepted', provider: { request: 'r', conversation: null } })
  await trial
  expect([gate.free(), gate.read().state]).toEqual([10, 'up'])
})

test.each([
  ['a query without an answer', lost, { kind: 'unknown', code: 'unreachable', message: 'x' } as const],
  ['a provider that takes fewer requests', throttled, { kind: 'pending' } as const],
])('%s opens nothing', async (_name, submission, evidence) => {
  expect((await downBy(submission, evidence)).free()).toBe(0)
})
