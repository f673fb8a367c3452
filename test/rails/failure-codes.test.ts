import { expect, test } from 'vitest'
import { failureCodes, failureRow, isFailureCode } from '../../src/errors/failures.ts'
import { collectionFailure, payoutFailure } from '../../src/rails/daraja/answers.ts'

const documented = {
  collection: ['1', '2', '3', '4', '8', '17', '26', '1001', '1019', '1025', '1032', '1037', '2001', '2028', '8006', '9999'],
  payout: ['1', '2', '3', '4', '8', '11', '21', '2001', '2006', '2028', '2040', '8006'],
}

test("every result code that the provider documents as a failure has one of the service's codes, and is kept beside it", () => {
  for (const code of [...documented.collection, 'SFC_IC0003'])
    expect(collectionFailure(code)).toMatchObject({ providerCode: code, code: expect.toSatisfy(isFailureCode) })
  for (const code of [...documented.payout, 'SFC_IC0003'])
    expect(payoutFailure(code)).toMatchObject({ providerCode: code, code: expect.toSatisfy(isFailureCode) })
})

test.each(['0', '4999', '2032', '31337', '', 'constructor', '__proto__'])('%s proves no failure', (code) => {
  expect([collectionFailure(code), payoutFailure(code)]).toEqual([undefined, undefined])
})

test('every failure code of the service is a word with a sentence that names no person, and with what its actor does', () => {
  for (const code of failureCodes) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(failureRow(code).sentence).toMatch(/^[A-Z][^0-9]*\.$/)
    expect(failureRow(code).fix).toMatch(/^[A-Z].*\.$/)
  }
})
