import { rowsText } from '../../../client/src/list-faults.ts'
import type { Schemas } from '../../../client/src/route-types.ts'
import { type FactType, factTitle } from '../../../src/lib/approval-facts.ts'

type Code = Schemas['Decision']['warnings'][number]['code']

/**
 * The fact for each warning code. The code `name_mismatch` covers both a different name and a missing answer, so it becomes the
 * weaker fact. Repeated payments and differing names are shown elsewhere.
 */
const factOfCode: Readonly<Record<Exclude<Code, 'possible_duplicate' | 'name_differs'>, FactType>> = {
  new_payee: 'new_payee',
  changed_payee: 'changed_payee',
  similar_name: 'similar_name',
  name_mismatch: 'name_unconfirmed',
  unusual_amount: 'unusual_amount',
}

type Item = Pick<Schemas['PaymentBatchPreview']['items'][number], 'index' | 'warnings'>

/** "No person has confirmed 2 beneficiaries (rows 3 and 7)": warnings to check before a batch is created. */
export const warningsOfBatch = (items: readonly Item[], rowOf: (index: number) => number | undefined): string =>
  Object.entries(factOfCode)
    .flatMap(([code, type]) => {
      const rows = items
        .filter(({ warnings }) => warnings.includes(code))
        .map(({ index }) => ({ row: rowOf(index) ?? index + 1, about: null }))
      if (rows.length === 0) return []
      return `${factTitle({ type, count: rows.length, items: [] }, rows.length)} (${rowsText(rows)})`
    })
    .join('. ')
