import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterCall, atTime, type Breaker, type CallOutcome, closedBreaker, createGate, railsDown } from '../../src/rails/gate.ts'
import type { Submission } from '../../src/rails/rail.ts'
import { createManualClock } from './harness.ts'

const after = (outcomes: readonly CallOutcome[], from: Breaker = closedBreaker) =>
  outcomes.reduce((breaker, outcome) => afterCall(breaker, outcome, 0), from)

test('a rail is down after five failures in a row, and any answer in between resets the count', () => {
  const four: CallOutcome[] = ['failed', 'failed', 'failed', 'failed']
  expect(after(four).phase).toBe('closed')
  expect(after([...four, 'answered', ...four]).phase).toBe('closed')
  expect(after([...four, 'failed'])).toMatchObject({ phase: 'open', untilMs: 5_000 })
})

test("after a provider's rate limit no call is made for a second, then for longer each time", () => {
  let breaker = afterCall(closedBreaker, 'throttled', 0)
  const pauses: number[] = []
  for (let trip = 0; trip < 7; trip += 1) {
    pauses.push(breaker.untilMs)
    breaker = afterCall({ ...breaker, phase: 'half_open' }, 'throttled', 0)
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test('in every history, an open breaker allows a call no later than its time, and an answer closes it', () => {
  const outcomes = fc.array(fc.constantFrom<CallOutcome>('answered', 'failed', 'throttled'), { maxLength: 40 })
  fc.assert(
    fc.property(outcomes, (history) => {
      const breaker = after(history)
      expect(breaker.untilMs).toBeLessThanOrEqual(60_000)
      expect(atTime(breaker, 60_000).phase).not.toBe('open')
      expect(afterCall(breaker, 'answered', 0)).toEqual(closedBreaker)
    }),
  )
})

test('a rail that may be back gets one call; the others wait for its answer', async () => {
  const clock = createManualClock()
  const gate = createGate({ clock, concurrency: 10 })
  const lost: Submission = { kind: 'lost', message: '' }
  const accepted: Submission = { kind: 'accepted', provider: { request: null, conversation: null } }
  for (let call = 0; call < 5; call += 1) await gate.run(async () => lost)
  expect([gate.free(), gate.read().state]).toEqual([0, 'down'])
  expect(railsDown({ MPESA_B2C: gate })).toEqual({ MPESA_B2C: expect.stringMatching(/does not answer, since 20/) })
  clock.advanceSeconds(5)
  const trial = Promise.withResolvers<Submission>()
  const call = gate.run(() => trial.promise)
  expect(gate.free()).toBe(0)
  trial.resolve(accepted)
  await call
  expect([gate.free(), gate.read().state, railsDown({ MPESA_B2C: gate })]).toEqual([10, 'up', {}])
})
