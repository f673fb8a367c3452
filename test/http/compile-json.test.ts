import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { compileJson, writeByZod } from '../../src/http/compile-json.ts'
import { share } from '../../src/lib/shared.ts'

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
  ['names and anything', z.record(z.string(), z.unknown()), { a: [1, { b: 'é…' }], c: null, d: undefined }],
  ['a literal number', z.object({ version: z.literal(2) }), { version: 2 }],
]

const wrong: [string, z.ZodType, unknown][] = [
  ['a kind that is not declared', Need, { kind: 'four' }],
  ['a kind without its field', Need, { kind: 'two' }],
  ['no object', Wider, null],
  ['another value than the literal', z.literal(2), 3],
  ['a number among the texts', Metadata, { a: 1 }],
  ['no record', Metadata, 'text'],
  ['a list where names are declared', z.record(z.string(), z.unknown()), [1]],
]

describe('the code that writes answers', () => {
  test.each(fitting)('writes %s as zod does', (_, schema, value) => {
    expect(String(compileJson(schema)(value))).toBe(writeByZod(schema)(value))
  })

  test('writes texts of any language as zod does, also those that it keeps with a shared record', () => {
    const Named = z.object({ name: z.string(), metadata: Metadata, data: z.unknown() }).meta({ id: 'Named' })
    const Page = z.object({ data: z.array(Named) })
    const [write, byZod] = [compileJson(Page), writeByZod(Page)]
    const texts = fc.string({ unit: 'grapheme' })
    const records = fc.array(fc.record({ name: texts, metadata: fc.dictionary(texts, texts), data: fc.jsonValue() }))
    fc.assert(
      fc.property(records, (data) => {
        const page = { data: data.map((record) => share(record)) }
        for (const time of [1, 2]) expect(String(write(page)), `time ${time}`).toBe(byZod(page))
      }),
    )
  })

  test.each(wrong)('refuses %s, as zod does', (_, schema, value) => {
    expect(() => compileJson(schema)(value)).toThrow(TypeError)
    expect(() => writeByZod(schema)(value)).toThrow()
  })
})
