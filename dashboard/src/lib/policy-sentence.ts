import type { PolicyWire } from '../../../src/policy/fields.ts'
import { policySentence as sentenceOf } from '../../../src/policy/sentence.ts'
import type { Schemas } from '../api/queries.ts'
import { moneyText } from './money.ts'
import { typeLabel } from './rails.ts'

type Bound = Pick<Schemas['SpendingPolicy'], 'binds' | 'created_by'>

/** The key or agent that a policy binds is the one that created it. */
const boundTo = ({ binds, created_by: { label } }: Bound): string | null => (binds === 'all' ? null : (label ?? 'a key'))

/** What a policy does, in one sentence: the service's own words, with this page's names. `bound`: the stored policy, if there is one. */
export const policySentence = (
  terms: PolicyWire,
  bound: Bound | null,
  { currency, nameOf }: { currency: string; nameOf: (beneficiaryId: string) => string },
): string =>
  sentenceOf(terms, {
    money: (minor) => moneyText(minor, currency),
    nameOf,
    typeName: typeLabel,
    boundTo: bound && boundTo(bound),
  })
