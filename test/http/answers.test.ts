import { expect, test } from 'vitest'
import { z } from 'zod'
import { serializers } from '../../src/http/server.ts'

const schema = z.object({ id: z.string(), amount: z.object({ minor: z.string() }).nullable(), note: z.string().optional() })
const of = (check: boolean) => serializers(check)({ schema, url: '/', method: 'GET', httpStatus: '200' })

test('an answer is written as it was presented, in the order of its fields', () => {
  const answer = { amount: { minor: '1' }, note: undefined, id: 'a' }
  for (const check of [true, false]) expect(of(check)(answer)).toBe('{"amount":{"minor":"1"},"id":"a"}')
})

test.each([
  ['has a field that is not declared', { id: 'a', amount: null, hash: 'x' }],
  ['has one inside of another', { id: 'a', amount: { minor: '1', hash: 'x' } }],
  ['lacks a field', { id: 'a' }],
  ['has another type', { id: 1, amount: null }],
])('no test passes with an answer that %s', (_, answer) => {
  expect(() => of(true)(answer)).toThrow()
})
