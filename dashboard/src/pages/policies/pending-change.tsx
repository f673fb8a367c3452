import type { ReactNode } from 'react'
import { changedTerms, ordinaryApprovals } from '../../../../src/policy/term-words.ts'
import { useBeneficiaryNames, usePeople } from '../../api/names.ts'
import { api, type Body, type Schemas } from '../../api/queries.ts'
import { digestOfText } from '../../lib/approval-subject.ts'
import { termWords } from '../../lib/rule-words.ts'
import { fullTime } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { ConfirmButton, DialogButton } from '../../ui/form.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { SignText } from '../approvals/sign-text.tsx'

type Policy = Schemas['SpendingPolicy']
type Waiting = NonNullable<Policy['pending_change']>
type Signed = Body<'/v1/spending-policies/{id}/pending-change/confirm', 'post'>

const outdated = ['policies', 'policy']
const confirm = (id: string, body: Signed) =>
  api.POST('/v1/spending-policies/{id}/pending-change/confirm', { path: { id }, body })
const confirmed = ({ status }: Policy) =>
  status === 'archived' ? 'Confirmed: the policy is archived' : 'Confirmed: the change applies'

const ConfirmChange = ({ policy, message, words }: { policy: Policy; message: string; words: ReactNode }) => {
  const button = { variant: 'primary', children: 'Confirm the change' } as const
  if (policy.approval_proof === 'signature')
    return (
      <DialogButton
        {...button}
        dialog={(close) => (
          <SignText
            title="Sign the change"
            message={message}
            send={(body) => confirm(policy.id, body)}
            announcement={confirmed}
            outdates={outdated}
            onClose={close}
          />
        )}
      />
    )
  return (
    <ConfirmButton
      button={button}
      title="Confirm the change?"
      action="Confirm"
      change={async () => {
        const shown = await digestOfText(message)
        return confirm(policy.id, { ...(shown && { message_digest: shown }) })
      }}
      announcement={confirmed}
      outdates={outdated}
    >
      {words}
      <p>It applies right away: payments are then decided by the less strict policy.</p>
    </ConfirmButton>
  )
}

/** Each field before and after, and how many approvals an ordinary payment then needs. */
const Changes = ({ waiting: { before, result } }: { waiting: Waiting }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames([...before.beneficiary_ids, ...(result?.beneficiary_ids ?? [])])
  const words = termWords({ currency, nameOf, personOf: usePeople() })
  const renamed = result && result.name !== before.name ? [{ label: 'Name', before: before.name, after: result.name }] : []
  const changes = result
    ? [...renamed, ...changedTerms(before, result, words)]
    : [{ label: 'Status', before: 'active', after: 'archived' }]
  return (
    <>
      <Facts
        stacked
        facts={Object.fromEntries(
          changes.map(({ label, before: old, after }) => [
            label,
            <>
              <del>
                <bdi>{old}</bdi>
              </del>{' '}
              → <bdi>{after}</bdi>
            </>,
          ]),
        )}
      />
      <p>An ordinary payment then needs {ordinaryApprovals(result, words)}.</p>
    </>
  )
}

/** A change that makes a policy less strict and waits: what it would be, and the buttons of those who may end the waiting. */
export const PendingChange = ({ policy, waiting }: { policy: Policy; waiting: Waiting }) => {
  const { account, can } = useSession()
  const people = usePeople()
  const { requested_by: requester, effective_at, message } = waiting
  const isOwn = requester === account.id
  const words = <Changes waiting={waiting} />
  return (
    <Card
      title="A change waits for a second person"
      footer={
        (isOwn || can('approval.decide')) && (
          <>
            <ConfirmButton
              button={{ children: 'Withdraw the change' }}
              title="Withdraw the change?"
              action="Withdraw"
              change={() => api.DELETE('/v1/spending-policies/{id}/pending-change', { path: { id: policy.id } })}
              announcement={() => 'Withdrawn: the policy stays as it is'}
              outdates={outdated}
            >
              <p>The policy stays as it is.</p>
            </ConfirmButton>
            {!isOwn && <ConfirmChange policy={policy} message={message} words={words} />}
          </>
        )
      }
    >
      <div className="stack-s">
        <p>
          <bdi>{people(requester)}</bdi> asked for it. It applies from {fullTime(effective_at)}, or when another approver confirms
          it.
        </p>
        {words}
      </div>
    </Card>
  )
}
