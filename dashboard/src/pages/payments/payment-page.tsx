import { useQuery } from '@tanstack/react-query'
import { paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { shortMoney } from '../../lib/money.ts'
import { LoadState } from '../../shell/load-failure.tsx'
import { Amount } from '../../ui/amount.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Card, Page } from '../../ui/layout.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { PaymentActions } from './payment-actions.tsx'
import { PaymentFacts, PaymentNotices } from './payment-parts.tsx'
import { Timeline } from './timeline.tsx'

const back = { href: '/payments', label: 'Payments' }

/** The stream reports changes; while the payment is processing it is also polled, in case an event is missed. */
export const followedPayment = (id: string) => ({
  ...paymentQuery(id),
  refetchInterval: ({ state }: { state: { data?: Schemas['Payment'] | undefined } }) =>
    state.data?.status === 'processing' ? 5000 : (false as const),
})

export const PaymentPage = ({ id }: { id: string }) => {
  const payment = useQuery(followedPayment(id))
  if (payment.data) return <PaymentDetail payment={payment.data} />
  return (
    <Page title="Payment" back={back}>
      <LoadState query={payment} path={`/v1/payments/${id}`} />
    </Page>
  )
}

const PaymentDetail = ({ payment }: { payment: Schemas['Payment'] }) => {
  const people = usePeople()
  const name = payment.beneficiary.display_name
  return (
    <Page
      title={`${shortMoney(payment.amount_minor, payment.currency)} to ${name}`}
      back={back}
      actions={<PaymentActions payment={payment} />}
    >
      <PaymentNotices payment={payment} />
      <div className="split split-aside-first">
        <div className="stack">
          <Card>
            <div className="stack">
              <div className="row row-between">
                <Amount minor={payment.amount_minor} currency={payment.currency} size="big" />
                <StatusBadge status={payment.status} />
              </div>
              <PaymentFacts payment={payment} />
            </div>
          </Card>
          <Card
            title="Policy checks"
            note={
              <>
                Every rule that was checked when it was created, <ExactTime at={payment.created_at} />.
              </>
            }
          >
            <DecisionTrace decision={payment.decision} currency={payment.currency} at={payment.created_at} />
          </Card>
        </div>
        <div className="split-aside">
          <Card title="Timeline">
            <Timeline payment={payment} nameOf={people} />
          </Card>
        </div>
      </div>
    </Page>
  )
}
