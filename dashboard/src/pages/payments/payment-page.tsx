import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api, call } from '../../api/client.ts'
import { grantsQuery, paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { usePeople } from '../../api/use-people.ts'
import { capitalized } from '../../lib/list-words.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Card, Facts, Notice, PageHeader, SkeletonRows } from '../../ui/layout.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'
import { Timeline } from './timeline.tsx'

type Payment = Schemas['Payment']

const back = { href: '/payments', label: 'Payments' }

export const PaymentPage = ({ id }: { id: string }) => {
  // The stream says when it changes; while it is under way we also ask, in case nothing comes.
  const payment = useQuery({
    ...paymentQuery(id),
    refetchInterval: ({ state }) => (state.data?.status === 'processing' ? 5000 : false),
  })
  if (payment.isPending)
    return (
      <div className="stack">
        <PageHeader title="Payment" back={back} />
        <div className="card">
          <SkeletonRows rows={3} />
        </div>
      </div>
    )
  if (payment.isError)
    return (
      <div className="stack">
        <PageHeader title="Payment" back={back} />
        <Failure error={payment.error} onRetry={() => void payment.refetch()} />
      </div>
    )
  return <PaymentDetail payment={payment.data} />
}

/** Who started it: a person, or an agent by the name of its key. */
export const useInitiator = ({ initiated_by: by }: Pick<Payment, 'initiated_by'>): string => {
  const people = usePeople()
  const { data } = useInfiniteQuery({ ...grantsQuery, enabled: by.grant_id !== null })
  if (by.grant_id === null) return people(by.account_id)
  const grant = data?.pages.flatMap((page) => page.data).find(({ id }) => id === by.grant_id)
  return grant ? `${grant.label} (agent)` : `an agent of ${people(by.account_id)}`
}

const PaymentDetail = ({ payment }: { payment: Payment }) => {
  const { can } = useSession()
  const people = usePeople()
  const beneficiaries = useBeneficiaries()
  const initiator = useInitiator(payment)
  const [cancelling, setCancelling] = useState(false)
  const beneficiary = beneficiaries.find(payment.beneficiary_id)
  return (
    <div className="stack">
      <PageHeader
        title={`Payment to ${beneficiaries.nameOf(payment.beneficiary_id)}`}
        back={back}
        actions={
          <>
            {payment.status === 'pending_approval' && can('payment.create') && (
              <Button variant="danger" onClick={() => setCancelling(true)}>
                Cancel payment
              </Button>
            )}
            {(payment.status === 'succeeded' || payment.status === 'returned') && (
              <LinkButton href={`/payments/${payment.id}/receipt`} icon="receipt">
                Receipt
              </LinkButton>
            )}
          </>
        }
      />
      {payment.status === 'unknown' && (
        <Notice tone="warn" title="The money may have moved, and we are checking">
          <p className="quiet">
            The rail’s answer was lost. The amount stays held and nothing is sent again; this page changes when we know.
          </p>
        </Notice>
      )}
      <div className="split">
        <div className="stack">
          <Card>
            <div className="row row-between">
              <Amount minor={payment.amount_minor} currency={payment.currency} size="big" />
              <StatusBadge status={payment.status} />
            </div>
          </Card>
          <Card title="Details">
            <Facts
              stacked
              facts={[
                [
                  'Beneficiary',
                  <Link key="beneficiary" href={`/beneficiaries/${payment.beneficiary_id}`}>
                    {beneficiaries.nameOf(payment.beneficiary_id)}
                  </Link>,
                ],
                ['Destination', beneficiary?.destination_mask],
                ['Type', typeLabel(payment.payment_type)],
                ['Account reference', payment.account_reference],
                ['For', payment.narrative],
                ['Started by', capitalized(initiator)],
                [
                  'Mandate',
                  payment.mandate_id && (
                    <Link key="mandate" href={`/mandates/${payment.mandate_id}`}>
                      Named by this payment
                    </Link>
                  ),
                ],
                ['Fee', <Amount key="fee" minor={payment.fee_minor} currency={payment.currency} />],
                [
                  'Receipt number',
                  payment.provider_receipt && <CopyText key="receipt" value={payment.provider_receipt} label="receipt number" />,
                ],
                ['Why it failed', payment.failure_message ?? payment.failure_code],
                ['Created', <ExactTime key="created" at={payment.created_at} />],
                ['Id', <CopyText key="id" value={payment.id} label="payment id" />],
                ...Object.entries(payment.metadata).map(([name, value]) => [name, value] as const),
              ]}
            />
          </Card>
          <Card title="Why it was decided so" note="Every rule that was looked at when it was created.">
            <DecisionTrace decision={payment.decision} currency={payment.currency} />
          </Card>
        </div>
        <div className="split-aside">
          <Card title="Timeline">
            <Timeline payment={payment} who={people} />
          </Card>
        </div>
      </div>
      {cancelling && <CancelPayment payment={payment} onClose={() => setCancelling(false)} />}
    </div>
  )
}

const CancelPayment = ({ payment, onClose }: { payment: Payment; onClose: () => void }) => {
  const client = useQueryClient()
  const cancel = useMutation({
    mutationFn: () => call(api.POST('/v1/payments/{id}/cancel', { params: { path: { id: payment.id } } })),
    onSuccess: (after) => {
      client.setQueryData(paymentQuery(payment.id).queryKey, after)
      announce('Payment cancelled')
      onClose()
    },
  })
  return (
    <Confirm
      title="Cancel this payment?"
      action="Cancel payment"
      busy={cancel.isPending}
      error={cancel.error}
      onConfirm={() => cancel.mutate()}
      onClose={onClose}
    >
      <p>It will not be sent, nobody is asked for approval any more, and what was held is available again.</p>
    </Confirm>
  )
}
