import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { approvalQuery, paymentQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useInbox } from '../../api/use-inbox.ts'
import { usePeople } from '../../api/use-people.ts'
import { noteOpened } from '../../lib/approval-cautions.ts'
import { capitalized } from '../../lib/list-words.ts'
import { shortAddress } from '../../lib/mask.ts'
import { statusText } from '../../lib/status-words.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { LoadState } from '../../shell/load-failure.tsx'
import { useSession } from '../../shell/session.tsx'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'
import { LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, PageHeader, SkeletonText } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'
import { BatchLines } from '../batches/batch-lines.tsx'
import { Timeline } from '../payments/timeline.tsx'
import { ApprovalDetails } from './approval-details.tsx'
import { Decide } from './decide.tsx'
import { subjectWords } from './decided-words.ts'
import { DecisionCard } from './decision-card.tsx'
import { OtherWays } from './other-ways.tsx'
import { SignedText } from './sign-decision.tsx'

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
      <Decisions approval={approval} people={people} />
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

/** The decisions so far. */
const Decisions = ({ approval, people }: { approval: Schemas['Approval']; people: (id: string) => string }) => {
  if (approval.decisions.length === 0) return null
  return (
    <Card title="Decisions">
      <ul className="timeline">
        {approval.decisions.map((decision) => (
          <li key={`${decision.account_id} ${decision.decided_at}`}>
            <span className={`timeline-mark tone-${decision.decision === 'approve' ? 'good' : 'bad'}`}>
              <Icon name={decision.decision === 'approve' ? 'check' : 'cross'} size={14} />
            </span>
            <div>
              <p>
                <span className="strong">{capitalized(people(decision.account_id))}</span>{' '}
                {decision.decision === 'approve' ? 'approved' : 'rejected'}
              </p>
              <p className="quiet small">
                <Time at={decision.decided_at} />
                {decision.via === 'passkey' && ', signed with a passkey'}
                {decision.via === 'signature' && `, signed${decision.signer ? ` by ${shortAddress(decision.signer)}` : ''}`}
                {decision.reason && `: ${decision.reason}`}
              </p>
              {decision.voided_at && (
                <p className="quiet small">
                  Stopped counting <Time at={decision.voided_at} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The approvals of this round, in the order in which they were found: "3 of 12" stays true while the first two leave the inbox. */
const round = createStore<readonly string[]>([])

/** Where an approval stands among those that wait for this person, in any workspace, and the way to the next one. */
const useReviewQueue = ({ id }: Pick<Schemas['Approval'], 'id'>) => {
  const { workspace } = useSession()
  const { forMe } = useInbox()
  const switchTo = useSwitchWorkspace()
  const [, navigate] = useLocation()
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
      if (!next) return
      const href = `/approvals/${next.approval.id}`
      if (next.workspace.id === workspace.id) navigate(href)
      else switchTo(next.workspace.id, href)
    },
  }
}
