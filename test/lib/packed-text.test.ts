import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dictionaries, dictionaryOf, type PackedKind, pack, parseWithoutTrace, unpack } from '../../src/lib/packed-text.ts'

const kinds = Object.keys(dictionaryOf) as PackedKind[]

test('every text comes back as it was', () => {
  const texts = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 3_000 }), fc.json())
  fc.assert(fc.property(fc.constantFrom(...kinds), texts, (kind, text) => unpack(pack(kind, text)) === text.toWellFormed()))
  for (const kind of kinds) {
    const long = Array.from({ length: 20_000 }, (_, n) => `{"id":"pay_${n}"}`).join(',')
    expect(unpack(pack(kind, long))).toBe(long)
  }
})

test('a kept payment is read without its trace, whatever its texts contain', () => {
  const tricky = fc.oneof(fc.string(), fc.constantFrom(',"trace":[', ']},"provider_receipt":', '"trace":['))
  const payments = fc.record({
    metadata: fc.dictionary(tricky, tricky),
    trace: fc.array(fc.record({ name: tricky })),
    last: tricky,
  })
  fc.assert(
    fc.property(payments, fc.boolean(), ({ metadata, trace, last }, isTraced) => {
      const decision = { outcome: 'allow', ...(isTraced && { trace }) }
      const text = JSON.stringify({ narrative: last, metadata, decision, provider_receipt: null, completed_at: null })
      const { decision: kept, ...rest } = JSON.parse(text)
      const { trace: _, ...shown } = kept
      expect(parseWithoutTrace(pack('record', text))).toEqual({ ...rest, decision: shown })
    }),
  )
})

test('a text of its kind takes less than a third', () => {
  for (const kind of kinds) {
    const text = dictionaries[dictionaryOf[kind]]?.toString() ?? ''
    expect(pack(kind, text).length).toBeLessThan(text.length / 3)
  }
})

// Stored rows can be read only with their original dictionary. Dictionaries never change: append another one.
test('the dictionaries are those that rows were packed with', () => {
  const digests = dictionaries.map((dictionary) => createHash('sha256').update(dictionary).digest('hex').slice(0, 16))
  expect(digests).toEqual(['e3b0c44298fc1c14', 'f2ba2ff39d6ebe6c', '36f441f188fd4769', '9781fe149e1802e5'])
})

test.each([
  ['nothing', ''],
  ['a dictionary that does not exist', 'ff00'],
  ['a packed text that is cut off', '01ab'],
])('%s is refused', (_, hex) => {
  expect(() => unpack(Buffer.from(hex, 'hex'))).toThrow()
})
