import { expect, test } from 'vitest'
import { hasAccounts, railNames } from '../../src/lib/rail-names.ts'
import { payouts } from '../../src/rails/definitions.ts'

test.each(railNames)('%s states the form of its accounts if and only if it has accounts', (rail) => {
  expect(payouts[rail].accountReference !== null).toBe(hasAccounts(rail))
})
