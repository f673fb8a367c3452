import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { api, approvalQuery, paymentQuery, type Schemas } from '../../api/queries.ts'
import { isForMe } from '../../api/use-inbox.ts'
import type { Choice } from '../../lib/approval-subject.ts'
import { failedTitle } from '../../lib/payment-end.ts'
import { failureFix, failureWords, providerOf, railFacts, typeLabel } from '../../lib/rails.ts'
import { feeWords, shortMoney } from '../../lib/words.ts'
import { LoadState, useSession } from '../../shell/session.tsx'
import { Button, CopyButton, CopyText, LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Amount, Card, ExactTime, Facts, Notice, Page, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { DecideDialog } from '../approvals/decide-dialog.tsx'
import { Requester } from './requester.tsx'
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
            <div className="row row-between">
              <Amount minor={payment.amount_minor} currency={payment.currency} size="big" />
              <StatusBadge status={payment.status} />
            </div>
            <PaymentFacts payment={payment} />
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

type Payment = Schemas['Payment']

/** "Asked last 3 hours ago, and next in 3 hours." Nothing where the payment came without it, as in a list. */
const LastAsked = ({ payment }: { payment: Payment }) => {
  const { last_at: last, next_at: next } = payment.outcome_check ?? {}
  if (!last && !next) return null
  return (
    <p className="quiet">
      <Time at={last} before="Asked last " none="Not asked yet" />
      <Time at={next} before=", and next " />.
    </p>
  )
}

/** Shown before the details: whether the money may have moved or is back. */
export const PaymentNotices = ({ payment }: { payment: Payment }) => {
  if (payment.status === 'unknown')
    return (
      <Notice tone="warn" title="The money may have moved. We’re checking">
        <p className="quiet">
          {providerOf(payment.payment_rail)} didn’t answer. The amount stays held, nothing is sent again, and this page updates
          when we know.
        </p>
        <LastAsked payment={payment} />
      </Notice>
    )
  if (payment.status === 'failed')
    return (
      <TextNotice tone="bad" title={failedTitle(payment)}>
        {failureWords(payment)} {failureFix(payment)}
      </TextNotice>
    )
  return null
}

/** What the requester's program said about it stands apart: it may call a thing as we do. */
export const PaymentFacts = ({ payment }: { payment: Payment }) => (
  <>
    <Facts
      stacked
      facts={{
        Beneficiary: <Link href={`/beneficiaries/${payment.beneficiary_id}`}>{payment.beneficiary.display_name}</Link>,
        Purpose: payment.narrative,
        Destination: (
          <>
            {railFacts[payment.payment_rail].label}, <span className="mono">{payment.beneficiary.destination_mask}</span>
          </>
        ),
        Type: payment.payment_type === payment.payment_rail ? null : typeLabel(payment.payment_type),
        'Purpose code': payment.purpose_code,
        'Account reference': payment.account_reference,
        'Requested by': <Requester by={payment.initiated_by} stops />,
        Mandate: payment.mandate_id && <Link href={`/mandates/${payment.mandate_id}`}>Uses a mandate</Link>,
        Fee: feeWords(payment.amount_minor, payment.fee_minor, payment.currency),
        'Receipt number': payment.provider_receipt && <CopyText value={payment.provider_receipt} label="receipt number" />,
        Created: <ExactTime at={payment.created_at} />,
      }}
    />
    {Object.keys(payment.metadata).length > 0 && <Facts stacked facts={payment.metadata} />}
    <div className="row">
      <CopyButton value={payment.id}>Copy payment ID</CopyButton>
    </div>
  </>
)

/** A new payment with the same beneficiary and amount; it is reviewed like any other. */
const again = ({ id }: Payment): string => `/payments/new?again=${id}`

export const PaymentActions = ({ payment }: { payment: Payment }) => {
  const { can, account } = useSession()
  const [open, setOpen] = useState<Choice | null>(null)
  const waits = payment.status === 'pending_approval' || payment.status === 'scheduled'
  const approval = useQuery({ ...approvalQuery(payment.approval_id ?? ''), enabled: waits && payment.approval_id !== null })
  const decides = waits && approval.data?.status === 'pending' && can('approval.decide') && isForMe(approval.data, account.id)
  const close = () => setOpen(null)
  return (
    <>
      {decides && !approval.data?.refusal_now && (
        <Button variant="primary" icon="check" onClick={() => setOpen('approve')}>
          Approve
        </Button>
      )}
      {decides && (
        <Button variant="danger" onClick={() => setOpen('reject')}>
          Reject
        </Button>
      )}
      <ConfirmButton
        button={{ variant: 'quiet', children: 'Cancel payment', offered: waits && can('payment.create') }}
        title="Cancel this payment?"
        action="Cancel payment"
        keep="Keep payment"
        change={() => api.POST('/v1/payments/{id}/cancel', { path: { id: payment.id } })}
        announcement={() => 'Payment cancelled'}
        keeps={() => paymentQuery(payment.id)}
      >
        <p>
          {payment.status === 'scheduled'
            ? 'It won’t be sent, and no one is asked to approve it any more. No money is held for it.'
            : 'It won’t be sent, no one is asked to approve it any more, and the held amount returns to the balance.'}
        </p>
      </ConfirmButton>
      {payment.status === 'failed' && can('payment.create') && (
        <LinkButton href={again(payment)} variant="primary" icon="payments">
          Pay again
        </LinkButton>
      )}
      {(payment.status === 'succeeded' || payment.status === 'returned') && (
        <LinkButton href={`/payments/${payment.id}/receipt`} icon="receipt">
          Receipt
        </LinkButton>
      )}
      {approval.data && open && <DecideDialog approvals={[approval.data]} choice={open} onDecided={close} onClose={close} />}
    </>
  )
}
