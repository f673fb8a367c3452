import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimalShillings, nairobiDate, nairobiTimestamp, readShillings, wholeShillings } from '../../src/rails/fields.ts'
import { exactReference, freeText, safeCode, safeMessage } from '../../src/rails/text.ts'

const minor = fc.bigInt({ min: 0n, max: 10n ** 17n - 1n })

describe('amounts', () => {
  test('every amount is unchanged after encoding and decoding', () => {
    fc.assert(
      fc.property(minor, (amount) => {
        expect(readShillings(decimalShillings(amount))).toBe(amount)
      }),
    )
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), (shillings) => {
        expect(readShillings(wholeShillings(shillings * 100n))).toBe(shillings * 100n)
      }),
    )
  })

  test('every amount that a JSON number can carry exactly is read exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), fc.integer({ min: 0, max: 99 }), (whole, cents) => {
        const text = `${whole}.${String(cents).padStart(2, '0')}`
        expect(readShillings(JSON.parse(text))).toBe(BigInt(whole) * 100n + BigInt(cents))
      }),
    )
  })

  test('an amount with cents is never rounded to shillings', () => {
    fc.assert(
      fc.property(minor, (amount) => {
        expect(wholeShillings(amount) === undefined).toBe(amount % 100n !== 0n || amount === 0n)
      }),
    )
  })

  test.each([
    ['500', 50_000n],
    ['500.0000', 50_000n],
    [' 500.5 ', 50_050n],
    [500.05, 50_005n],
    ['1.234', undefined],
    ['-5', undefined],
    ['1,001.00', 100_100n],
    ['KES 1,275.00', 127_500n],
    ['Ksh. 44', 4_400n],
    ['1275 KES', 127_500n],
    ['1,00', undefined],
    ['1,0000', undefined],
    ['KES', undefined],
    [1e21, undefined],
    [Number.NaN, undefined],
    ['', undefined],
    [null, undefined],
    [{}, undefined],
    [true, undefined],
  ])('%s is read as %s', (value, amount) => {
    expect(readShillings(value)).toBe(amount)
  })
})

test('a timestamp is in Nairobi’s time, three hours before UTC', () => {
  const lastOfMarchInUtc = new Date('2026-03-31T21:30:05Z')
  expect(nairobiTimestamp(lastOfMarchInUtc)).toBe('20260401003005')
  expect(nairobiDate(lastOfMarchInUtc)).toBe('2026-04-01')
})

describe('text', () => {
  test('free text always fits the provider’s limits', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (text) => {
        expect(freeText(text, 13, 'Payment')).toMatch(/^[A-Za-z0-9 .,_/-]{2,13}$/)
      }),
    )
  })

  test('a reference that selects the payee is passed on unchanged or refused', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect([undefined, text.trim()]).toContain(exactReference(text, 13))
      }),
    )
    expect(exactReference('INV-77/A', 13)).toBe('INV-77/A')
  })

  test('no digits that could be a phone or an account number remain in a message or a code', () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^\d{7,15}$/), fc.string(), (before, digits, after) => {
        expect(safeMessage(`${before}${digits}${after}`, 'x')).not.toMatch(/\d{5}/)
        expect(safeCode(`${before}${digits}${after}`)).not.toMatch(/\d{7}/)
      }),
    )
  })
})
