import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { differencesOfQuery, unknownPaymentsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { shortMoney } from '../../lib/money.ts'
import { Loading } from '../../ui/listing.tsx'
import { isListed, saidBy } from './unknown.ts'

/** Which of the unknown payments a compared statement shows as paid, and what it says of the others. */
export const SettledBy = ({ run }: { run: Schemas['Reconciliation'] }) => {
  const payments = useInfiniteQuery(unknownPaymentsQuery)
  const differences = useQuery(differencesOfQuery(run.id))
  if (!payments.data || !differences.data) return <Loading query={payments.data ? differences : payments} rows={2} />
  const found = differences.data.data
  const all = payments.data.pages.flatMap(({ data }) => data).map((payment) => ({ payment, said: saidBy(run, payment, found) }))
  if (all.length === 0) return <p className="quiet">No payment is unknown.</p>
  const paid = all.filter(({ said }) => isListed(said)).length
  return (
    <div className="stack-s">
      <p className="strong">
        It lists {paid} of {countWords(all.length, 'unknown payment')}
      </p>
      <ul className="stack-xs small">
        {all.map(({ payment, said }) => (
          <li key={payment.id}>
            <span className="strong">
              {shortMoney(payment.amount_minor, payment.currency)} to {payment.beneficiary.display_name}
            </span>
            <span className="quiet block">{said.words}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
