import { expect, test } from 'vitest'
import { createHeldAccounts } from '../../src/db/held-accounts.ts'
import { newId } from '../../src/lib/ids.ts'

const [one, other] = [newId(), newId()]

/** How often an account is passed over until it is waited for; `limit` when it never is. */
const passedUntilWaitedFor = (held: ReturnType<typeof createHeldAccounts>, limit = 100): number => {
  for (let passed = 0; passed < limit; passed += 1) {
    if (held.mustWait(one)) return passed
    held.note([one, one, other], new Set([one]))
  }
  return limit
}

test('an account that other transactions hold again and again is waited for, after eight batches that passed over it', () => {
  const held = createHeldAccounts()
  expect(passedUntilWaitedFor(held)).toBe(8)
  expect(held.mustWait(other)).toBe(false)
})

test('an account that was free once, or was waited for, is passed over as often again', () => {
  const held = createHeldAccounts()
  expect(passedUntilWaitedFor(held, 7)).toBe(7)
  held.note([one], new Set())
  expect(passedUntilWaitedFor(held)).toBe(8)
  held.forget(one)
  expect(passedUntilWaitedFor(held)).toBe(8)
})

test('accounts that are never tried again are not counted forever', () => {
  const held = createHeldAccounts()
  expect(passedUntilWaitedFor(held)).toBe(8)
  const accounts = Array.from({ length: 2_000 }, newId)
  for (const account of accounts) held.note([account], new Set([account]))
  expect(held.mustWait(one)).toBe(false)
})
