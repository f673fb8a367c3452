import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createGate, railsDown } from '../../src/rails/gate.ts'
import type { Submission } from '../../src/rails/rail.ts'
import { createManualClock } from './harness.ts'

const outcomes = {
  answered: { kind: 'accepted', provider: { request: null, conversation: null } },
  failed: { kind: 'lost', message: '' },
  throttled: { kind: 'not_sent', code: 'throttled', message: '' },
} as const satisfies Record<string, Submission>
type Outcome = keyof typeof outcomes

/** A rail after these calls, and its clock. */
const after = async (...history: readonly Outcome[]) => {
  const clock = createManualClock()
  const gate = createGate({ clock, concurrency: 10 })
  const call = (outcome: Outcome) => gate.run(async () => outcomes[outcome])
  for (const outcome of history) await call(outcome)
  return { gate, clock, call }
}

/** In whole seconds. */
const secondsToTrial = ({ gate, clock }: Awaited<ReturnType<typeof after>>): number => {
  let seconds = 0
  for (; gate.free() === 0 && seconds < 1_000; seconds += 1) clock.advanceSeconds(1)
  return seconds
}

test('a rail is down after five failures in a row, and any answer in between resets the count', async () => {
  const four: Outcome[] = ['failed', 'failed', 'failed', 'failed']
  expect((await after(...four)).gate.free()).toBe(10)
  expect((await after(...four, 'answered', ...four)).gate.read().state).toBe('up')
  const down = await after(...four, 'failed')
  expect([down.gate.read().state, secondsToTrial(down), down.gate.free()]).toEqual(['down', 5, 1])
})

test("after a provider's rate limit no call is made for a second, then for longer each time", async () => {
  const rail = await after('throttled')
  const pauses: number[] = []
  for (let trip = 0; trip < 7; trip += 1) {
    pauses.push(secondsToTrial(rail))
    await rail.call('throttled')
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30])
})

test('in every history, a rail that is down allows a call within a minute, and an answer brings it up', async () => {
  const histories = fc.array(fc.constantFrom<Outcome>('answered', 'failed', 'throttled'), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const rail = await after(...history)
      expect(secondsToTrial(rail)).toBeLessThanOrEqual(60)
      await rail.call('answered')
      expect([rail.gate.read().state, rail.gate.free()]).toEqual(['up', 10])
    }),
  )
})

test('a clock that is set back an hour keeps a rail that was down waiting no longer', async () => {
  const { gate, clock } = await after('failed', 'failed', 'failed', 'failed', 'failed')
  clock.advanceSeconds(-3_600)
  expect(gate.free()).toBe(1)
})

test('a rail that may be back gets one call; the others wait for its answer', async () => {
  const { gate, clock } = await after('failed', 'failed', 'failed', 'failed', 'failed')
  expect([gate.free(), gate.read().state]).toEqual([0, 'down'])
  expect(railsDown({ MPESA_B2C: gate })).toEqual({ MPESA_B2C: expect.stringMatching(/does not answer, since 20/) })
  clock.advanceSeconds(5)
  const trial = Promise.withResolvers<Submission>()
  const call = gate.run(() => trial.promise)
  expect(gate.free()).toBe(0)
  trial.resolve(outcomes.answered)
  await call
  expect([gate.free(), gate.read().state, railsDown({ MPESA_B2C: gate })]).toEqual([10, 'up', {}])
})
