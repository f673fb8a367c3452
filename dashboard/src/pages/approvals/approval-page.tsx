import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { usePeople } from '../../api/names.ts'
import { approvalQuery, paymentQuery, type Schemas } from '../../api/queries.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { type Choice, noteOpened, subjectWords } from '../../lib/approval-subject.ts'
import { typeLabel } from '../../lib/rails.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { countWords, listWords, statusText } from '../../lib/words.ts'
import { LoadState, useOpenIn, useSession } from '../../shell/session.tsx'
import { CopyButton, LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Dialog, DialogButton } from '../../ui/form.tsx'
import { Card, ExactTime, Facts, PageHeader, SkeletonText } from '../../ui/page.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { useWallets } from '../../wallet/wallet.tsx'
import { BatchLines } from '../batches/batch-lines.tsx'
import { Decisions, Timeline } from '../payments/timeline.tsx'
import { Decide, useHindrance } from './decide.tsx'
import { useAfterDecision } from './decide-dialog.tsx'
import { DecisionCard } from './decision-card.tsx'
import { PasteSignature, SignDecision, SignedText } from './sign-decision.tsx'

/** What happened to the payment after the decision, live, and a link to the next approval. */
const PaymentOutcome = ({ approval, paymentId }: { approval: Schemas['Approval']; paymentId: string | null }) => {
  const payment = useQuery({ ...paymentQuery(paymentId ?? ''), enabled: paymentId !== null })
  const people = usePeople()
  const { forMe } = useInbox()
  return (
    <Card
      title="What happened"
      footer={forMe.length > 0 && <LinkButton href="/approvals">Next approval ({forMe.length} waiting)</LinkButton>}
    >
      {paymentId === null && (
        <p className="quiet">The list is {statusText(approval.batch?.status ?? approval.status).toLowerCase()}.</p>
      )}
      {paymentId !== null &&
        (payment.data ? <Timeline payment={payment.data} nameOf={people} /> : <SkeletonText width="80%" height={60} />)}
    </Card>
  )
}

type Approval = Schemas['Approval']

const back = { href: '/approvals', label: 'Approvals' }

export const ApprovalPage = ({ id }: { id: string }) => {
  const approval = useQuery(approvalQuery(id))
  return (
    <div className="stack decision-page">
      <PageHeader
        title={approval.data ? subjectWords(approval.data) : 'Approval'}
        back={back}
        hidden
        actions={approval.data?.payment && <LinkButton href={`/payments/${approval.data.payment.id}`}>View payment</LinkButton>}
      />
      <LoadState query={approval} path={`/v1/approvals/${id}`} rows={4} />
      {approval.data && <ApprovalDetail approval={approval.data} />}
    </div>
  )
}

const ApprovalDetail = ({ approval }: { approval: Approval }) => {
  const people = usePeople()
  const queue = useReviewQueue(approval)
  const pending = approval.status === 'pending'
  useEffect(() => noteOpened(approval.id), [approval.id])
  return (
    <>
      <DecisionCard approval={approval} people={people} place={pending ? queue.place : null}>
        {pending ? (
          <Decide approval={approval} onDecided={queue.goOn} />
        ) : (
          <PaymentOutcome approval={approval} paymentId={approval.payment?.id ?? null} />
        )}
      </DecisionCard>
      {approval.batch && <BatchLines batch={approval.batch} message={approval.signing.approve} />}
      {approval.decisions.length > 0 && (pending || !approval.payment) && (
        <Card title="Decisions">
          <Decisions approval={approval} nameOf={people} />
        </Card>
      )}
      {pending && <OtherWays approval={approval} />}
      <ApprovalDetails approval={approval} people={people} />
      <PolicyChecks approval={approval} />
    </>
  )
}

/** While it waits, as the rules would decide it at this moment; afterwards, as they decided when it was asked for. */
const PolicyChecks = ({ approval: { payment, signing, decision_now: now } }: { approval: Approval }) => {
  if (!payment)
    return (
      <Card title="What is approved" note="The text that is signed. Its Merkle root binds every payment of the list.">
        <SignedText message={signing.approve} />
      </Card>
    )
  return (
    <Card title="Policy checks" note={now ? 'Every rule, with what is used now.' : 'Every rule, when it was asked for.'}>
      <DecisionTrace decision={now ?? payment.decision} currency={payment.currency} />
    </Card>
  )
}

/** The approvals of this round, in the order in which they were found: "3 of 12" stays true while the first two leave the inbox. */
const round = createStore<readonly string[]>([])

/** Where an approval stands among those that wait for this person, in any workspace, and the way to the next one. */
const useReviewQueue = ({ id }: Pick<Schemas['Approval'], 'id'>) => {
  const { forMe } = useInbox()
  const openIn = useOpenIn()
  const known = useStore(round)
  const waiting = forMe.map(({ approval }) => approval.id)
  useEffect(() => {
    if (waiting.length === 0 && known.length > 0) round.set([])
    else if (waiting.some((one) => !known.includes(one))) round.set([...new Set([...known, ...waiting])])
  }, [waiting, known])
  const at = known.indexOf(id)
  const next = forMe.find(({ approval }) => approval.id !== id)
  return {
    place: known.length > 1 && at >= 0 ? `${at + 1} of ${known.length}` : null,
    /** Opens the next one. Does nothing after the last. */
    goOn: () => {
      if (next) openIn(next.workspace.id, `/approvals/${next.approval.id}`)
    },
  }
}
type Props = { approval: Approval; people: (accountId: string) => string }
type OwnFacts = Readonly<Record<string, ReactNode>>

const factsOfPayment = (payment: Schemas['PaymentSummary']): OwnFacts => ({
  Type: payment.payment_type === payment.beneficiary.payment_rail ? null : typeLabel(payment.payment_type),
  'Account reference': payment.account_reference,
})

const factsOfBatch = (batch: Schemas['PaymentBatchSummary']): OwnFacts => ({
  Payments: countWords(batch.items_count, 'payment'),
  'Merkle root': <span className="mono small">{batch.merkle_root}</span>,
})

const stillNeeded = ({ approvals_given: given, required_approvals: required, ...approval }: Approval): string =>
  [
    `${given} of ${required}`,
    ...(approval.approval_proof === 'signature' ? ['only by passkey or wallet'] : []),
    ...(approval.separation_of_duties ? ['not by the requester'] : []),
  ].join(', ')

const ApprovalDetails = ({ approval, people }: Props) => {
  const { workspace, account } = useSession()
  const { payment, batch, context } = approval
  const at = (payment ?? batch)?.execute_at
  const pending = approval.status === 'pending'
  const others = (context?.eligible_approvers ?? []).filter((id) => id !== account.id)
  return (
    <Card title="Details">
      <Facts
        facts={{
          Workspace: workspace.name,
          ...(payment && factsOfPayment(payment)),
          ...(batch && factsOfBatch(batch)),
          'Scheduled for': at && <ExactTime at={at} />,
          Approvals: stillNeeded(approval),
          'Who else can decide': pending ? (others.length > 0 ? listWords(others.map(people), 'or') : 'No one else') : null,
        }}
      />
      <div className="row row-between faint small">
        <span>
          {pending ? 'Expires' : 'Would have expired'} <ExactTime at={approval.expires_at} />
        </span>
        <CopyButton value={approval.id}>Copy ID</CopyButton>
      </div>
    </Card>
  )
}

/** A link to a page without sign-in, for the device that has the approver's wallet. */
const ShareLink = ({ approvalId }: { approvalId: string }) => {
  const link = `${location.origin}/approve/${approvalId}`
  return (
    <div className="stack-xs">
      <p className="quiet small">Share a signing link (no login needed)</p>
      <div className="row">
        <CopyButton value={link}>Copy link</CopyButton>
        <DialogButton
          size="small"
          icon="qr"
          dialog={(close) => (
            <Dialog title="Sign on a phone" onClose={close}>
              <p className="quiet">
                Scan it with the phone your wallet is on. The page shows the payment and asks for a signature.
              </p>
              <QrCode text={link} label="Signing link as a QR code" />
            </Dialog>
          )}
        >
          QR code
        </DialogButton>
      </div>
    </div>
  )
}

const OtherWays = ({ approval }: { approval: Approval }) => {
  const hindrance = useHindrance(approval)
  return (
    <Card title="Other ways to decide">
      {!hindrance && <SignHere approval={approval} />}
      <ShareLink approvalId={approval.id} />
    </Card>
  )
}

const signTitles: Readonly<Record<Choice, string>> = { approve: 'Sign approval', reject: 'Sign rejection' }

/** Only where this browser has a wallet to sign with. */
const SignHere = ({ approval }: { approval: Approval }) => {
  if (useWallets().length === 0) return null
  return (
    <div className="stack-xs">
      <p className="quiet small">Sign with your wallet</p>
      <div className="row">
        {(approval.refusal_now ? (['reject'] as const) : (['approve', 'reject'] as const)).map((choice) => (
          <DialogButton
            key={choice}
            size="small"
            icon="wallet"
            dialog={(close) => <SignDialog approval={approval} choice={choice} onClose={close} />}
          >
            {signTitles[choice]}
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
    <Dialog title={signTitles[choice]} onClose={onClose} wide>
      <SignedText message={approval.signing[choice]} />
      <SignDecision {...signing} />
      <PasteSignature {...signing} />
    </Dialog>
  )
}
