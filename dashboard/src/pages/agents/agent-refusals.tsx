import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { refusalsQuery } from '../../api/queries.ts'
import { useSession } from '../../shell/session.tsx'
import { Card } from '../../ui/layout.tsx'
import { Refusals } from '../payments/refusals.tsx'

const mostShown = 5

/** What it was refused, newest first, with what would let it pass. Nothing where nothing was refused. */
export const AgentRefusals = ({ grantId }: { grantId: string }) => {
  const { can } = useSession()
  const { data } = useInfiniteQuery({ ...refusalsQuery({ grant_id: grantId }, mostShown), enabled: can('payment.read') })
  const refusals = data?.pages[0]?.data ?? []
  if (refusals.length === 0) return null
  return (
    <Card
      title="Refused"
      note="Asked for and refused. No money moved."
      actions={
        <Link href={`/payments/refused?agent=${grantId}`} className="small">
          View all
        </Link>
      }
      flush
    >
      <Refusals refusals={refusals} />
    </Card>
  )
}
