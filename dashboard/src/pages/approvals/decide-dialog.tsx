import { useState } from 'react'
import type { Schemas } from '../../api/types.ts'
import { cautionsOf, cautionWords } from '../../lib/approval-cautions.ts'
import { approvalSubject } from '../../lib/approval-subject.ts'
import { countWords } from '../../lib/list-words.ts'
import { shortMoney, sumMinor } from '../../lib/money.ts'
import { Amount } from '../../ui/amount.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Badge } from '../../ui/status.tsx'
import { type Choice, subjectWords } from './decided-words.ts'
import { LateDecision, lateIn } from './late-decision.tsx'
import { useDecide } from './use-decide.ts'

type Approval = Schemas['Approval']
type Props = { approvals: readonly Approval[]; choice: Choice; onDecided: () => void; onClose: () => void }

const titleOf = (approvals: readonly Approval[], choice: Choice): string => {
  const verb = choice === 'approve' ? 'Approve' : 'Reject'
  const [only] = approvals
  return approvals.length === 1 && only ? `${verb} ${subjectWords(only)}?` : `${verb} ${countWords(approvals.length, 'payment')}?`
}

const subjectsOf = (approvals: readonly Approval[]) =>
  approvals.map((approval) => ({ id: approval.id, cautions: cautionsOf(approval), ...approvalSubject(approval) }))

const total = (approvals: readonly Approval[]): string =>
  shortMoney(sumMinor(subjectsOf(approvals).map(({ amountMinor }) => amountMinor)), subjectsOf(approvals)[0]?.currency ?? '')

const needsAnother = (approval: Approval): boolean => approval.approvals_given + 1 < approval.required_approvals

const approvalEffect = (approvals: readonly Approval[]): string => {
  const later = approvals.filter(needsAnother).length
  if (approvals.length === 1)
    return later === 0 ? 'It is sent and can’t be recalled.' : 'It needs another approval after yours before it is sent.'
  if (later === 0) return 'They are sent and can’t be recalled.'
  if (later === approvals.length) return 'Each of them needs another approval after yours before it is sent.'
  const others = later === 1 ? '1 of them needs' : `${later} of them need`
  return `${others} another approval after yours before being sent. The others are sent and can’t be recalled.`
}

const rejectionEffect = (several: boolean): string =>
  `${several ? 'They' : 'It'} won’t be sent, and the held amount returns to the balance.`

/** Lists every payment that is decided, also in bulk, with what is odd about it. */
const Subjects = ({ approvals }: { approvals: readonly Approval[] }) => (
  <ul className="decide-list">
    {subjectsOf(approvals).map(({ id, title, mask, note, amountMinor, currency, cautions }) => (
      <li key={id}>
        <span>
          <span className="strong">{title}</span> {mask && <span className="mono faint nowrap">{mask}</span>}
          {note && <span className="quiet small block">{note}</span>}
          {cautions.map((caution) => (
            <Badge key={caution.code} tone="warn">
              {cautionWords(caution, amountMinor)}
            </Badge>
          ))}
        </span>
        <Amount minor={amountMinor} currency={currency} />
      </li>
    ))}
  </ul>
)

/** Confirms a decision, with its payments and an optional reason. */
export const DecideDialog = ({ approvals, choice, onDecided, onClose }: Props) => {
  const [reason, setReason] = useState('')
  const decide = useDecide(approvals, choice, onDecided)
  const approves = choice === 'approve'
  const toSign = approves && approvals.find((approval) => approval.approval_proof === 'signature')
  const several = approvals.length > 1
  const late = lateIn(decide.error)
  const close = () => {
    if (late) decide.refresh()
    onClose()
  }
  const refused = approvals[decide.made]
  const left = approvals.length - decide.made - 1
  const action = approves ? `Approve ${total(approvals)}` : several ? `Reject ${approvals.length}` : 'Reject'
  return (
    <Dialog
      title={titleOf(approvals, choice)}
      onClose={close}
      onSubmit={() => {
        if (!toSign && !late && !decide.isPending) decide.mutate(reason)
      }}
      footer={
        <>
          <Button onClick={close}>{late ? 'Close' : 'Cancel'}</Button>
          {late ? null : toSign ? (
            <LinkButton href={`/approvals/${toSign.id}`} variant="primary">
              Open to sign it
            </LinkButton>
          ) : (
            <Button type="submit" variant={approves ? 'primary' : 'red'} busy={decide.isPending}>
              {action}
            </Button>
          )}
        </>
      }
    >
      {late && (
        <>
          <LateDecision late={late} subject={several && refused ? subjectWords(refused) : undefined} />
          <p className="quiet">
            {several
              ? `${countWords(decide.made, 'payment')} before it ${decide.made === 1 ? 'is' : 'are'} decided, and ${countWords(left, 'payment')} after it ${left === 1 ? 'is' : 'are'} not.`
              : 'Nothing is left to do.'}
          </p>
        </>
      )}
      {!late && <Asking {...{ approvals, choice, toSign: toSign !== undefined && toSign !== false, reason, setReason }} />}
      {!late && <Failure error={decide.error} />}
    </Dialog>
  )
}

type AskingProps = Pick<Props, 'approvals' | 'choice'> & { toSign: boolean; reason: string; setReason: (reason: string) => void }

const Asking = ({ approvals, choice, toSign, reason, setReason }: AskingProps) => {
  const approves = choice === 'approve'
  return (
    <>
      <Subjects approvals={approvals} />
      {toSign && <Notice tone="info">Only an approval by passkey or wallet counts here.</Notice>}
      <p className="quiet">{approves ? approvalEffect(approvals) : rejectionEffect(approvals.length > 1)}</p>
      <TextField
        label="Reason"
        optional
        value={reason}
        onChange={setReason}
        maxLength={500}
        hint={approves ? 'Saved with your decision.' : 'The requester sees it.'}
      />
    </>
  )
}
