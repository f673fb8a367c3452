import type { PolicyWire } from '../../../src/policy/fields.ts'
import { policySentence as sentenceOf } from '../../../src/policy/sentence.ts'
import { moneyText } from './money.ts'
import { typeLabel } from './rails.ts'

/** What a policy does, in one sentence: the service's own words, with this page's names. */
export const policySentence = (
  terms: PolicyWire,
  { currency, nameOf }: { currency: string; nameOf: (beneficiaryId: string) => string },
): string => sentenceOf(terms, { money: (minor) => moneyText(minor, currency), nameOf, typeName: typeLabel })
