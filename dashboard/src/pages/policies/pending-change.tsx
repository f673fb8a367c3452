import type { ReactNode } from 'react'
import { changedTerms, ordinaryApprovals } from '../../../../src/policy/term-words.ts'
import { useBeneficiaryNames, usePeople } from '../../api/names.ts'
import { api, type Body, type Schemas } from '../../api/queries.ts'
import { digestOfText } from '../../lib/hex.ts'
import { t } from '../../lib/language.ts'
import { termWords } from '../../lib/rule-words.ts'
import { fullTime } from '../../lib/time.ts'
import { statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { ConfirmButton, DialogButton } from '../../ui/form.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { SignText } from '../approvals/sign-text.tsx'
import { richPolicy, tPolicy } from './texts.ts'

type Policy = Schemas['SpendingPolicy']
type PendingPolicyChange = NonNullable<Policy['pending_change']>
const queriesToRefresh = ['policies', 'policy']
const confirm = (id: string, body: Body<'/v1/spending-policies/{id}/pending-change/confirm', 'post'>) =>
  api.POST('/v1/spending-policies/{id}/pending-change/confirm', { path: { id }, body })
const confirmed = ({ status }: Policy) => (status === 'archived' ? tPolicy('confirmed.archived') : tPolicy('confirmed.applies'))

const ConfirmChange = ({ policy, message, changes }: { policy: Policy; message: string; changes: ReactNode }) => {
  const button = { variant: 'primary', children: tPolicy('confirm') } as const
  if (policy.approval_proof === 'signature')
    return (
      <DialogButton
        {...button}
        dialog={(close) => (
          <SignText
            title={tPolicy('sign')}
            message={message}
            send={(body) => confirm(policy.id, body)}
            announcement={confirmed}
            invalidates={queriesToRefresh}
            onClose={close}
          />
        )}
      />
    )
  return (
    <ConfirmButton
      button={button}
      title={tPolicy('confirm.title')}
      action={tPolicy('confirm.act')}
      change={async () => {
        // Without HTTPS, the browser computes no digest.
        const shown = await digestOfText(message)
        return confirm(policy.id, { ...(shown && { message_digest: shown }) })
      }}
      announcement={confirmed}
      invalidates={queriesToRefresh}
    >
      {changes}
      <p>{tPolicy('confirm.note')}</p>
    </ConfirmButton>
  )
}

/** Each changed field before and after, and the approvals that an ordinary payment then needs. */
const Changes = ({ waiting: { before, result } }: { waiting: PendingPolicyChange }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames([...before.beneficiary_ids, ...(result?.beneficiary_ids ?? [])])
  const formatTerms = termWords({ currency, nameOf, personOf: usePeople() })
  const renamed =
    result && result.name !== before.name ? [{ label: tPolicy('name'), before: before.name, after: result.name }] : []
  const changes = result
    ? [...renamed, ...changedTerms(before, result, formatTerms)]
    : [{ label: t('status'), before: statusText('active').toLowerCase(), after: statusText('archived').toLowerCase() }]
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
      <p>{tPolicy('ordinary', { approvals: ordinaryApprovals(result, formatTerms) })}</p>
    </>
  )
}

/** A pending change that makes a policy less strict. The buttons are for people who may confirm or withdraw it. */
export const PendingChange = ({ policy, waiting }: { policy: Policy; waiting: PendingPolicyChange }) => {
  const { account, can } = useSession()
  const people = usePeople()
  const { requested_by: requester, effective_at, message, confirmable = true } = waiting
  const isOwn = requester === account.id
  const changes = <Changes waiting={waiting} />
  return (
    <Card
      title={tPolicy('waits')}
      footer={
        (isOwn || can('approval.decide')) && (
          <>
            <ConfirmButton
              button={{ children: tPolicy('withdraw') }}
              title={tPolicy('withdraw.title')}
              action={tPolicy('withdraw.act')}
              change={() => api.DELETE('/v1/spending-policies/{id}/pending-change', { path: { id: policy.id } })}
              announcement={() => tPolicy('withdraw.done')}
              invalidates={queriesToRefresh}
            >
              <p>{tPolicy('withdraw.note')}</p>
            </ConfirmButton>
            {!isOwn && confirmable && <ConfirmChange policy={policy} message={message} changes={changes} />}
          </>
        )
      }
    >
      <div className="stack-s">
        <p>{richPolicy('asked', { bdi: <bdi>{people(requester)}</bdi>, at: fullTime(effective_at) })}</p>
        {changes}
        {!isOwn && can('approval.decide') && !confirmable && <p className="muted">{tPolicy('confirm.not_yet')}</p>}
      </div>
    </Card>
  )
}
