import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { usePeople } from '../../api/names.ts'
import { api, approvalQuery, paymentQuery, type Schemas } from '../../api/queries.ts'
import { isForMe } from '../../api/use-inbox.ts'
import type { Choice } from '../../lib/approval-subject.ts'
import { failureReason, failureRemedy } from '../../lib/failure-texts.ts'
import { t } from '../../lib/language.ts'
import { failedTitle } from '../../lib/payment-end.ts'
import { providerLabelOf, railFacts, typeLabel } from '../../lib/rails.ts'
import { fullTime } from '../../lib/time.ts'
import { feeWords, moneyText, shortMoney } from '../../lib/words.ts'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Amount, Card, ExactTime, Facts, Notice, Page, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { DecideDialog } from '../approvals/decide-dialog.tsx'
import { Requester } from './requester.tsx'
import { richPay, tPay } from './texts.ts'
import { Timeline } from './timeline.tsx'

const back = { href: '/payments', label: t('payments_label') }

/** The stream reports changes. While processing, polling covers a missed event. */
export const followedPayment = (id: string) => ({
  ...paymentQuery(id),
  refetchInterval: ({ state }: { state: { data?: Schemas['Payment'] | undefined } }) =>
    state.data?.status === 'processing' ? 5000 : (false as const),
})

export const PaymentPage = ({ id }: { id: string }) => {
  const payment = useQuery(followedPayment(id))
  if (payment.data) return <PaymentDetail payment={payment.data} />
  return (
    <Page title={t('payment')} back={back}>
      <LoadState query={payment} apiPath={`/v1/payments/${id}`} />
    </Page>
  )
}

const PaymentDetail = ({ payment }: { payment: Schemas['Payment'] }) => {
  const people = usePeople()
  const name = payment.beneficiary.display_name
  return (
    <Page
      title={t('to_payee', { amount: shortMoney(payment.amount_minor, payment.currency), payee: name })}
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
          <Card title={t('policy_checks')} note={richPay('checks.then', { at: <ExactTime at={payment.created_at} /> })}>
            <DecisionTrace decision={payment.decision} currency={payment.currency} at={payment.created_at} />
          </Card>
        </div>
        <div className="split-aside">
          <Card title={t('timeline')}>
            <Timeline payment={payment} nameOf={people} />
          </Card>
        </div>
      </div>
    </Page>
  )
}

type Payment = Schemas['Payment']

/** "Asked last 3 hours ago, and next in 3 hours." Not shown if the payment has no such data. */
const LastAsked = ({ payment }: { payment: Payment }) => {
  const { last_at: last, next_at: next } = payment.outcome_check ?? {}
  if (!last && !next) return null
  return (
    <p className="muted">
      <Time at={last} before={tPay('asked_last')} none={tPay('asked_never')} />
      <Time at={next} before={tPay('asked_next')} />.
    </p>
  )
}

/** Tells before the details whether the money may have moved or has come back. */
export const PaymentNotices = ({ payment }: { payment: Payment }) => {
  const { late_success: late } = payment
  if (payment.status === 'unknown')
    return (
      <Notice tone="warn" title={t('unknown.title')}>
        <p className="muted">{tPay('unknown.note', { provider: providerLabelOf(payment.payment_rail) })}</p>
        <LastAsked payment={payment} />
      </Notice>
    )
  if (late)
    return (
      <TextNotice tone="warn" title={tPay('paid_late')}>
        {tPay('paid_late.note', {
          provider: providerLabelOf(payment.payment_rail),
          amount: moneyText(late.amount_minor, payment.currency),
          at: fullTime(late.at),
        })}
      </TextNotice>
    )
  if (payment.status === 'failed')
    return (
      <TextNotice tone="bad" title={failedTitle(payment)}>
        {failureReason(payment)} {failureRemedy(payment)}
      </TextNotice>
    )
  return null
}

const receiptOf = ({ provider_receipt: receipt, late_success: late }: Payment): string | null => receipt ?? late?.receipt ?? null

/** Facts of the payment. The requester's metadata is separate, because its names may look like labels of this page. */
export const PaymentFacts = ({ payment }: { payment: Payment }) => (
  <>
    <Facts
      stacked
      facts={{
        [t('beneficiary')]: <Link href={`/beneficiaries/${payment.beneficiary_id}`}>{payment.beneficiary.display_name}</Link>,
        [t('purpose')]: payment.narrative,
        [t('destination')]: (
          <>
            {railFacts[payment.payment_rail].label}, <span className="mono">{payment.beneficiary.destination_mask}</span>
          </>
        ),
        [t('type')]: payment.payment_type === payment.payment_rail ? null : typeLabel(payment.payment_type),
        [t('purpose_code')]: payment.purpose_code,
        [t('account_reference')]: payment.account_reference,
        [t('requested_by')]: <Requester by={payment.initiated_by} stops />,
        [t('mandate')]: payment.mandate_id && <Link href={`/mandates/${payment.mandate_id}`}>{tPay('mandate.used')}</Link>,
        [t('fee')]: feeWords(payment.amount_minor, payment.fee_minor, payment.currency),
        [t('receipt_number')]: receiptOf(payment) && <CopyText value={receiptOf(payment) ?? ''} label={t('receipt_number.it')} />,
        [t('created')]: <ExactTime at={payment.created_at} />,
      }}
    />
    {Object.keys(payment.metadata).length > 0 && <Facts stacked facts={payment.metadata} />}
    <div className="row">
      <CopyButton value={payment.id}>{tPay('copy_payment_id')}</CopyButton>
    </div>
  </>
)

/** URL of a new payment with the same beneficiary and amount, which is reviewed like any other. */
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
          {t('approve')}
        </Button>
      )}
      {decides && (
        <Button variant="danger" onClick={() => setOpen('reject')}>
          {t('reject')}
        </Button>
      )}
      <ConfirmButton
        button={{
          variant: 'ghost',
          children: tPay('cancel_payment'),
          offered: waits && payment.batch_id === null && can('payment.create'),
        }}
        title={tPay('cancel_payment.title')}
        action={tPay('cancel_payment')}
        keep={tPay('cancel_payment.keep')}
        change={() => api.POST('/v1/payments/{id}/cancel', { path: { id: payment.id } })}
        announcement={() => tPay('cancel_payment.done')}
        cachesAs={() => paymentQuery(payment.id)}
      >
        <p>{payment.status === 'scheduled' ? tPay('cancel_payment.unheld') : tPay('cancel_payment.held')}</p>
      </ConfirmButton>
      {waits && payment.batch_id !== null && (
        <LinkButton href={`/payments/batches/${payment.batch_id}`} icon="list">
          {t('open_list')}
        </LinkButton>
      )}
      {payment.status === 'failed' && payment.late_success === null && can('payment.create') && (
        <LinkButton href={again(payment)} variant="primary" icon="payments">
          {tPay('pay_again')}
        </LinkButton>
      )}
      {(payment.status === 'succeeded' || payment.status === 'returned') && (
        <LinkButton href={`/payments/${payment.id}/receipt`} icon="receipt">
          {t('receipt')}
        </LinkButton>
      )}
      {approval.data && open && <DecideDialog approvals={[approval.data]} choice={open} onDecided={close} onClose={close} />}
    </>
  )
}
