import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { feeOf, parseTariff } from '../../src/lib/fees.ts'
import { railNames } from '../../src/lib/rail-names.ts'
import { propertySeed } from '../harness/seed.ts'

const last = { up_to_minor: null, fee_minor: '3000' }
const of = (...bands: unknown[]) => JSON.stringify({ MPESA_B2C: bands })

test('a payment costs what the first band says that reaches its amount, and a rail without bands costs nothing', () => {
  const amounts = fc.bigInt({ min: 1n, max: 1_000_000n })
  const bands = fc.uniqueArray(fc.tuple(amounts, amounts), { selector: ([limit]) => limit, maxLength: 5 })
  fc.assert(
    fc.property(bands, fc.bigInt({ min: 0n, max: 10n ** 17n }), amounts, (given, rest, amount) => {
      const ascending = given.toSorted(([one], [other]) => (one < other ? -1 : 1))
      const text = of(...ascending.map(([limit, fee]) => ({ up_to_minor: String(limit), fee_minor: String(fee) })), {
        up_to_minor: null,
        fee_minor: String(rest),
      })
      const tariff = parseTariff(text)
      const within = ascending.filter(([limit]) => limit >= amount)
      expect(feeOf(tariff, 'MPESA_B2C', amount)).toBe(within[0]?.[1] ?? rest)
      for (const rail of railNames) if (rail !== 'MPESA_B2C') expect(feeOf(tariff, rail, amount)).toBe(0n)
    }),
    { seed: propertySeed },
  )
})

test.each([
  ['no JSON', /must be JSON such as \{"MPESA_B2C"/],
  ['[]', /must be JSON such as/],
  ['{"MPESA": []}', /unknown rail "MPESA"\. Valid rails: MPESA_B2B, MPESA_B2C, PESALINK/],
  ['{"MPESA_B2C": {}}', /MPESA_B2C must be an array of bands/],
  [of(), /MPESA_B2C must end with a band that has up_to_minor null/],
  [of({ up_to_minor: '1', fee_minor: '1' }), /must end with a band that has up_to_minor null/],
  [of(last, last), /up_to_minor null only in its last band/],
  [of({ up_to_minor: '5', fee_minor: '1' }, { up_to_minor: '5', fee_minor: '2' }, last), /up_to_minor 5 is not above 5/],
  [of({ up_to_minor: '9', fee_minor: '1' }, { up_to_minor: '5', fee_minor: '2' }, last), /up_to_minor 5 is not above 9/],
  [of({ up_to_minor: 0, fee_minor: 1 }, last), /up_to_minor 0 is not above 0/],
  [of({ up_to_minor: null, fee_minor: '-1' }), /MPESA_B2C\.0\.fee_minor must be a whole number of minor units/],
  [of({ up_to_minor: null, fee_minor: 1.5 }), /MPESA_B2C\.0\.fee_minor must be a whole number of minor units/],
  [of({ up_to_minor: null }), /MPESA_B2C\.0\.fee_minor must be/],
  [of({ ...last, from_minor: '1' }), /MPESA_B2C\.0 must be \{"up_to_minor": …, "fee_minor": …\}/],
  [`{"MPESA_B2C": [${JSON.stringify(last)}], "MPESA_B2C": [${JSON.stringify(last)}]}`, /names MPESA_B2C twice/],
])('a tariff that could be read in two ways is refused at the start: %s', (text, sentence) => {
  expect(() => loadConfig({ FEES: text })).toThrow(sentence)
})
