import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { accountQuery, approvalMessageQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { readMessage } from '../../lib/approval-message.ts'
import { hasNoSession } from '../../lib/first-visit.ts'
import { useTitle } from '../../lib/title.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Facts, Notice, SkeletonText } from '../../ui/layout.tsx'
import { Countdown } from '../../ui/time.tsx'
import { type Choice, decidedWords } from './decided-words.ts'
import { PasskeyByLink } from './passkey-by-link.tsx'
import { SignDecision, SignedText } from './sign-decision.tsx'

/** For the holder of a signing link: what the wallet will show, and nothing that needs a sign-in. */
export const PublicApprovalPage = ({ id }: { id: string }) => {
  const [choice, setChoice] = useState<Choice>('approve')
  const [decided, setDecided] = useState<Schemas['Approval'] | null>(null)
  const account = useQuery({ ...accountQuery, enabled: !hasNoSession() })
  const message = useQuery({ ...approvalMessageQuery(id, choice), placeholderData: (before) => before })
  const { amount, beneficiary } = readMessage(message.data?.message ?? '')
  const title = amount && beneficiary ? `${amount} to ${beneficiary}` : 'Payment approval'
  useTitle(title)
  return (
    <SinglePage wide aside={account.isSuccess && <Link href={`/approvals/${id}`}>Open in the dashboard</Link>}>
      {decided ? (
        <Decided approval={decided} />
      ) : (
        <div className="stack">
          <div className="stack-xs">
            <p className="quiet">Payment approval</p>
            <h1>{title}</h1>
          </div>
          {message.isPending && <SkeletonText width="80%" height={40} />}
          {message.isError && <Failure error={message.error} onRetry={() => void message.refetch()} />}
          {message.data && (
            <PublicApproval
              id={id}
              choice={choice}
              setChoice={setChoice}
              message={message.data.message}
              isOfChoice={!message.isPlaceholderData}
              signedIn={account.isSuccess}
              expiresAt={message.data.expires_at}
              onDecided={setDecided}
            />
          )}
        </div>
      )}
    </SinglePage>
  )
}

const Decided = ({ approval }: { approval: Schemas['Approval'] }) => (
  <div className="stack">
    <h1>
      {approval.status === 'rejected' ? 'Rejected' : approval.status === 'approved' ? 'Approved' : 'Your approval is recorded'}
    </h1>
    <Notice tone="good" live>
      {decidedWords(approval)}.
    </Notice>
    <p className="quiet">You can close this page.</p>
  </div>
)

type PublicApprovalProps = {
  id: string
  choice: Choice
  setChoice: (choice: Choice) => void
  message: string
  /** False while the message is still the one of the other decision: its facts are the same, but it must not be signed. */
  isOfChoice: boolean
  signedIn: boolean
  expiresAt: string
  onDecided: (approval: Schemas['Approval']) => void
}

const PublicApproval = ({ id, choice, setChoice, message, isOfChoice, signedIn, expiresAt, onDecided }: PublicApprovalProps) => {
  const { facts } = readMessage(message)
  return (
    <>
      <Facts
        facts={[
          ...facts,
          [
            'Time left',
            <span key="left" className="strong">
              <Countdown to={expiresAt} />
            </span>,
          ],
        ]}
      />
      <fieldset>
        <legend className="visually-hidden">Decision</legend>
        <div className="segments">
          <button type="button" className="segment" aria-pressed={choice === 'approve'} onClick={() => setChoice('approve')}>
            Approve
          </button>
          <button type="button" className="segment" aria-pressed={choice === 'reject'} onClick={() => setChoice('reject')}>
            Reject
          </button>
        </div>
      </fieldset>
      {isOfChoice ? (
        <>
          {signedIn && <PasskeyByLink key={`passkey ${choice}`} id={id} choice={choice} onDecided={onDecided} />}
          <SignDecision key={choice} id={id} choice={choice} message={message} onDecided={onDecided} />
          <details>
            <summary className="quiet small">The message you sign</summary>
            <SignedText message={message} />
          </details>
        </>
      ) : (
        <SkeletonText width="100%" height={88} />
      )}
      <p className="faint small">Your signature decides this payment only. Signing is free, and you don’t need to sign in.</p>
    </>
  )
}
