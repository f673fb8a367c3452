import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { usePeople } from '../../api/names.ts'
import { approvalQuery, paymentQuery, type Schemas } from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { type Choice, markOpened, subjectWords } from '../../lib/approval-subject.ts'
import { rich, t } from '../../lib/language.ts'
import { typeLabel } from '../../lib/rails.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { listWords, statusText } from '../../lib/words.ts'
import { LoadState } from '../../shell/load-state.tsx'
import { useOpenIn } from '../../shell/open-in.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Dialog, DialogButton } from '../../ui/form.tsx'
import { lazyPage } from '../../ui/lazy.tsx'
import { Card, ExactTime, Facts, PageHeader } from '../../ui/page.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { useWallets } from '../../wallet/wallet.tsx'
import { ApprovalTimeline, Timeline } from '../payments/timeline.tsx'
import { Decide, useReasonCannotDecide } from './decide.tsx'
import { useAfterDecision } from './decide-dialog.tsx'
import { DecisionCard } from './decision-card.tsx'
import { PasteSignature, SignDecision, SignedText } from './sign-decision.tsx'

// Loads on demand: most approvals are of one payment.
const BatchLines = lazyPage(async () => (await import('../batches/batch-lines.tsx')).BatchLines)

/** The payment's progress after the decision, and a link to the next approval. */
const PaymentOutcome = ({ approval, paymentId }: { approval: Schemas['Approval']; paymentId: string | null }) => {
  const payment = useQuery({ ...paymentQuery(paymentId ?? ''), enabled: paymentId !== null })
  const people = usePeople()
  const { forMe } = useInbox()
  return (
    <Card
      title={t('outcome')}
      footer={forMe.length > 0 && <LinkButton href="/approvals">{t('next_approval', { count: forMe.length })}</LinkButton>}
    >
      {paymentId === null && (
        <p className="muted">{t('list_is', { status: statusText(approval.batch?.status ?? approval.status).toLowerCase() })}</p>
      )}
      {paymentId !== null &&
        (payment.data ? (
          <Timeline payment={payment.data} nameOf={people} />
        ) : (
          <LoadState query={payment} apiPath={`/v1/payments/${paymentId}`} rows={1} />
        ))}
    </Card>
  )
}

type Approval = Schemas['Approval']

const back = { href: '/approvals', label: t('approvals') }

export const ApprovalPage = ({ id }: { id: string }) => {
  const approval = useQuery(approvalQuery(id))
  return (
    <div className="stack decision-page">
      <PageHeader
        title={approval.data ? subjectWords(approval.data) : t('approval')}
        back={back}
        hidden
        actions={
          approval.data?.payment && <LinkButton href={`/payments/${approval.data.payment.id}`}>{t('view_payment')}</LinkButton>
        }
      />
      <LoadState query={approval} apiPath={`/v1/approvals/${id}`} rows={4} />
      {approval.data && <ApprovalDetail approval={approval.data} />}
    </div>
  )
}

const ApprovalDetail = ({ approval }: { approval: Approval }) => {
  const people = usePeople()
  const queue = useReviewQueue(approval)
  const pending = approval.status === 'pending'
  useEffect(() => markOpened(approval.id), [approval.id])
  return (
    <>
      <DecisionCard approval={approval} people={people} place={pending ? queue.place : null}>
        {pending ? (
          <Decide approval={approval} onDecided={queue.openNextApproval} />
        ) : (
          <PaymentOutcome approval={approval} paymentId={approval.payment?.id ?? null} />
        )}
      </DecisionCard>
      {approval.batch && <BatchLines batch={approval.batch} message={approval.signing.approve} />}
      {(pending || !approval.payment) && <ApprovalTimeline approval={approval} />}
      {pending && <OtherWays approval={approval} />}
      <ApprovalDetails approval={approval} people={people} />
      <PolicyChecks approval={approval} />
    </>
  )
}

/** Decision of the rules: for a pending approval the current one, otherwise the one at the time of the request. */
const PolicyChecks = ({ approval: { payment, signing, decision_now: now } }: { approval: Approval }) => {
  if (!payment)
    return (
      <Card title={t('what_is_approved')} note={t('what_is_approved.note')}>
        <SignedText message={signing.approve} />
      </Card>
    )
  return (
    <Card title={t('policy_checks')} note={t(now ? 'policy_checks.now' : 'policy_checks.then')}>
      <DecisionTrace decision={now ?? payment.decision} currency={payment.currency} />
    </Card>
  )
}

/** Approvals of this review, in order of arrival, so that "3 of 12" stays true after the first two have left the inbox. */
const reviewOrder = createStore<readonly string[]>([])

/** Position of an approval among those that wait for this person in any workspace, and a function that opens the next one. */
const useReviewQueue = ({ id }: Pick<Schemas['Approval'], 'id'>) => {
  const { forMe } = useInbox()
  const openIn = useOpenIn()
  const known = useStore(reviewOrder)
  const waiting = forMe.map(({ approval }) => approval.id)
  useEffect(() => {
    if (waiting.length === 0 && known.length > 0) reviewOrder.set([])
    else if (waiting.some((one) => !known.includes(one))) reviewOrder.set([...new Set([...known, ...waiting])])
  }, [waiting, known])
  const index = known.indexOf(id)
  const next = forMe.find(({ approval }) => approval.id !== id)
  return {
    place: known.length > 1 && index >= 0 ? t('place', { at: index + 1, count: known.length }) : null,
    /** Opens the next approval, if there is one. */
    openNextApproval: () => {
      if (next) openIn(next.workspace.id, `/approvals/${next.approval.id}`)
    },
  }
}
type OwnFacts = Readonly<Record<string, ReactNode>>

const factsOfPayment = (payment: Schemas['PaymentSummary']): OwnFacts => ({
  [t('type')]: payment.payment_type === payment.beneficiary.payment_rail ? null : typeLabel(payment.payment_type),
  [t('account_reference')]: payment.account_reference,
})

const factsOfBatch = (batch: Schemas['PaymentBatchSummary']): OwnFacts => ({
  [t('payments_label')]: t('payments', { count: batch.items_count }),
  [t('merkle_root')]: <span className="mono small">{batch.merkle_root}</span>,
})

const stillNeeded = ({ approvals_given: given, required_approvals: required, ...approval }: Approval): string =>
  [
    t('place', { at: given, count: required }),
    ...(approval.approval_proof === 'signature' ? [t('needed.signed')] : []),
    ...(approval.separation_of_duties ? [t('needed.separate')] : []),
  ].join(', ')

const ApprovalDetails = ({ approval, people }: { approval: Approval; people: (accountId: string) => string }) => {
  const { workspace, account } = useSession()
  const { payment, batch, context } = approval
  const at = (payment ?? batch)?.execute_at
  const pending = approval.status === 'pending'
  const able = context?.eligible_approvers ?? []
  const others = able.filter((id) => id !== account.id)
  const which = able.length > others.length ? 'who_else' : 'who_can'
  return (
    <Card title={t('details')}>
      <Facts
        facts={{
          [t('workspace')]: workspace.name,
          ...(payment && factsOfPayment(payment)),
          ...(batch && factsOfBatch(batch)),
          [t('scheduled_for_label')]: at && <ExactTime at={at} />,
          [t('approvals')]: stillNeeded(approval),
          [t(which)]: pending ? (others.length > 0 ? listWords(others.map(people), 'or') : t(`${which}.none`)) : null,
        }}
      />
      <div className="row row-between faint small">
        <span>{rich(pending ? 'expires_at' : 'would_have_expired', { at: <ExactTime at={approval.expires_at} /> })}</span>
        <CopyButton value={approval.id}>{t('copy_id')}</CopyButton>
      </div>
    </Card>
  )
}

/** Link to a page that needs no sign-in, for the device with the approver's wallet. */
const ShareLink = ({ approvalId }: { approvalId: string }) => {
  const link = `${location.origin}/approve/${approvalId}`
  return (
    <div className="stack-xs">
      <p className="muted small">{t('share_link')}</p>
      <div className="row">
        <CopyButton value={link}>{t('copy_link')}</CopyButton>
        <DialogButton
          size="small"
          icon="qr"
          dialog={(close) => (
            <Dialog title={t('sign_on_phone')} onClose={close}>
              <p className="muted">{t('sign_on_phone.how')}</p>
              <QrCode text={link} label={t('link_as_qr')} />
            </Dialog>
          )}
        >
          {t('qr_code')}
        </DialogButton>
      </div>
    </div>
  )
}

const OtherWays = ({ approval }: { approval: Approval }) => {
  const cannotDecide = useReasonCannotDecide(approval)
  return (
    <Card title={t('other_ways')}>
      {!cannotDecide && <SignHere approval={approval} />}
      <ShareLink approvalId={approval.id} />
    </Card>
  )
}

/** Shown only if this browser has a wallet. */
const SignHere = ({ approval }: { approval: Approval }) => {
  if (useWallets().length === 0) return null
  return (
    <div className="stack-xs">
      <p className="muted small">{t('sign_with_wallet')}</p>
      <div className="row">
        {(approval.refusal_now ? (['reject'] as const) : (['approve', 'reject'] as const)).map((choice) => (
          <DialogButton
            key={choice}
            size="small"
            icon="wallet"
            dialog={(close) => <SignDialog approval={approval} choice={choice} onClose={close} />}
          >
            {t(`sign.${choice}`)}
          </DialogButton>
        ))}
      </div>
    </div>
  )
}

const SignDialog = ({ approval, choice, onClose }: { approval: Approval; choice: Choice; onClose: () => void }) => {
  const after = useAfterDecision()
  const signing = {
    id: approval.id,
    messages: { [choice]: approval.signing[choice] },
    onDecided: (decided: Approval) => {
      after([decided])
      onClose()
    },
  }
  return (
    <Dialog title={t(`sign.${choice}`)} onClose={onClose} wide>
      <SignedText message={approval.signing[choice]} />
      <SignDecision {...signing} />
      <PasteSignature {...signing} />
    </Dialog>
  )
}
