import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isolateTexts, withoutIsolation } from '../../dashboard/src/api/isolate.ts'
import { cleanName, isolated, isPlainText, isVisible } from '../../src/lib/text.ts'

describe('text of other people', () => {
  test.each([
    ['a right-to-left override', 'Power\u202e00.001 SEK'],
    ['an isolate', '\u2066Power'],
    ['a line feed', 'Power\nPay 1'],
    ['a carriage return', 'Power\rPay'],
    ['a tab', 'Power\tPay'],
    ['a NUL', 'Power\u0000'],
    ['a line separator', 'Power\u2028Pay'],
    ['a paragraph separator', 'Power\u2029Pay'],
    ['a zero-width space', 'Po\u200bwer'],
    ['a byte order mark', '\ufeffPower'],
    ['a soft hyphen', 'Po\u00adwer'],
    ['a Hangul filler', 'Power\u3164'],
    ['an Arabic letter mark', '\u061cPower'],
    ['a joiner at its end', 'Power\u200d'],
    ['a joiner before a blank', 'Power\u200d Ltd'],
    ['a selector behind a letter', 'Power\ufe0f'],
    ['a tag', 'Power\u{e0041}'],
    ['half of a pair', 'Power\ud83d'],
  ])('is not plain with %s', (_what, text) => expect(isPlainText(text)).toBe(false))

  test.each([
    'Wanjirũ Kamaũ',
    'محمد علي',
    'שלום',
    '株式会社',
    'می‌خواهم',
    'क्‍ष',
    '👩‍⚕️ Clinic',
    '❤️',
    '1️⃣',
    'O’Brien & Söhne, 50 %',
    '= 1',
  ])('is plain: %s', (text) => expect([isPlainText(text), isVisible(text)]).toEqual([true, true]))

  test.each(['', ' ', '\u2800', '\u00a0\u3000', '\u0301'])('is not visible: %j', (text) => expect(isVisible(text)).toBe(false))

  test('from outside is cleaned to a name that we accept, or to none', () => {
    expect(cleanName('  Kenya\u202e\n Power\u200b ')).toBe('Kenya Power')
    expect(cleanName('👩‍⚕️ Clinic')).toBe('👩‍⚕️ Clinic')
    expect(cleanName('\u202e\u2066')).toBeNull()
    expect(cleanName('a'.repeat(500))).toHaveLength(120)
    expect(cleanName('Zoe\u0308')).toBe('Zo\u00eb')
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const name = cleanName(text)
        expect(name === null || (isPlainText(name) && isVisible(name) && name.length <= 120 && cleanName(name) === name)).toBe(
          true,
        )
      }),
      { numRuns: 3_000 },
    )
  })
})

test('only text that is written from the right is isolated; a form gives it back as it was, and what is signed is not touched', () => {
  expect(isolated('Kenya Power')).toBe('Kenya Power')
  expect(isolated('محمد')).toBe('\u2068محمد\u2069')
  const answer = {
    data: [{ id: 'x', reported_name: 'محمد', display_name: 'محمد', message: 'To: محمد', decision: { reason: 'שלום' } }],
    next: null,
  }
  const shown = isolateTexts(answer)
  expect(shown.data[0]).toMatchObject({
    reported_name: '\u2068محمد\u2069',
    display_name: '\u2068محمد\u2069',
    message: 'To: محمد',
    decision: { reason: '\u2068שלום\u2069' },
  })
  expect(withoutIsolation(shown)).toEqual(answer)
})
