import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compileJson, writeByZod } from '../../src/http/compile-json.ts'

const Need = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('one'), count: z.number().int() }),
  z.object({ kind: z.literal('two'), name: z.string().nullable() }),
])
const Wider = z.union([Need, z.object({ kind: z.literal('three') })])
const Binds = z.union([z.literal('all'), z.object({ id: z.string() })])
const Metadata = z.record(z.string(), z.string())

const fitting: [string, z.ZodType, unknown][] = [
  ['a kind of a union', Need, { kind: 'two', name: 'A "B"', secret: 'undeclared' }],
  ['a kind of a union within a union', Wider, { kind: 'one', count: 3 }],
  ['the kind without fields', Wider, { kind: 'three' }],
  ['a union of a word and an object', z.array(Binds), ['all', { id: 'x' }]],
  ['names and texts', Metadata, { b: '1', '7': 'é', 'a "quoted" name': '' }],
  ['no names', Metadata, {}],
  ['a literal number', z.object({ version: z.literal(2) }), { version: 2 }],
]

const wrong: [string, z.ZodType, unknown][] = [
  ['a kind that is not declared', Need, { kind: 'four' }],
  ['a kind without its field', Need, { kind: 'two' }],
  ['no object', Wider, null],
  ['another value than the literal', z.literal(2), 3],
  ['a number among the texts', Metadata, { a: 1 }],
  ['no record', Metadata, 'text'],
]

describe('the code that writes answers', () => {
  test.each(fitting)('writes %s as zod does', (_, schema, value) => {
    expect(compileJson(schema)(value)).toBe(writeByZod(schema)(value))
  })

  test.each(wrong)('refuses %s, as zod does', (_, schema, value) => {
    expect(() => compileJson(schema)(value)).toThrow(TypeError)
    expect(() => writeByZod(schema)(value)).toThrow()
  })
})
