import { rowsText } from '../../../client/src/list-faults.ts'
import type { Schemas } from '../../../client/src/route-types.ts'

type Code = Schemas['Decision']['warnings'][number]['code']

/** A warning without words does not compile; those of a repeated payment and of another name in the list stand apart. */
const words: Readonly<Record<Exclude<Code, 'possible_duplicate' | 'name_differs'>, readonly [one: string, several: string]>> = {
  new_payee: ['goes to a payee that no person has confirmed', 'go to payees that no person has confirmed'],
  changed_payee: [
    'goes to a payee whose name was changed a short time ago',
    'go to payees whose names were changed a short time ago',
  ],
  similar_name: ['goes to a payee whose name looks like another’s', 'go to payees whose names look like others’'],
  name_mismatch: [
    'goes to a payee whose name the payment method does not confirm',
    'go to payees whose names the payment method does not confirm',
  ],
  unusual_amount: ['is far from the usual amount', 'are far from the usual amounts'],
}

type Item = Pick<Schemas['PaymentBatchPreview']['items'][number], 'index' | 'row' | 'warnings'>

/** "2 go to payees that no person has confirmed (rows 3 and 7)": what to look at before a list is created. */
export const warningsOfList = (items: readonly Item[]): string =>
  Object.entries(words)
    .flatMap(([code, [one, several]]) => {
      const rows = items
        .filter(({ warnings }) => warnings.includes(code))
        .map(({ index, row }) => ({ row: row ?? index + 1, about: null }))
      return rows.length === 0 ? [] : `${rows.length} ${rows.length === 1 ? one : several} (${rowsText(rows)})`
    })
    .join(', ')
