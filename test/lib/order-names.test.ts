import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOrderNames } from '../../src/auth/order-names.ts'

const key = { id: 'k', bytes: randomBytes(32) }
const names = createOrderNames(key)
const seeds = fc.array(fc.string(), { minLength: 1, maxLength: 4 })

describe('the names of an order', () => {
  test('are the same for the same cause in every process, and others under another key', () => {
    const other = createOrderNames({ id: 'k', bytes: randomBytes(32) })
    fc.assert(
      fc.property(seeds, fc.nat(5), (seed, generation) => {
        const order = names.orderOf(seed, generation)
        expect(createOrderNames(key).orderOf(seed, generation)).toEqual(order)
        expect(other.orderOf(seed, generation)).not.toEqual(order)
      }),
    )
  })

  test('differ for every other cause, also where the parts run into each other', () => {
    fc.assert(
      fc.property(seeds, seeds, fc.nat(5), fc.nat(5), (one, two, first, second) => {
        fc.pre(JSON.stringify([one, first]) !== JSON.stringify([two, second]))
        expect(names.orderOf(one, first).orderId).not.toBe(names.orderOf(two, second).orderId)
      }),
    )
    expect(names.orderOf(['a', 'bc'], 0)).not.toEqual(names.orderOf(['ab', 'c'], 0))
  })

  test('have the form that providers accept: a UUID, twelve digits, and a secret in which no forbidden word can stand', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 9 }), (seed, send) => {
        const order = names.orderOf(seed, 0)
        expect(order.orderId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        expect(order.reference).toMatch(/^[1-9]\d{11}$/)
        expect(names.secretOf(names.attemptOf(order, send))).toMatch(/^[0-9a-f]{48}$/)
      }),
    )
  })

  test('a secret is that of its attempt alone', () => {
    const [one, two] = [randomUUID(), randomUUID()]
    expect(names.isSecretOf(one, names.secretOf(one))).toBe(true)
    expect(names.isSecretOf(two, names.secretOf(one))).toBe(false)
    expect(names.isSecretOf(one, '')).toBe(false)
    expect(names.isSecretOf(one, `${names.secretOf(one)}0`)).toBe(false)
  })
})
