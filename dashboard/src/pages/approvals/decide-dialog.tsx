import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, isTextChanged } from '../../api/error.ts'
import { usePeople } from '../../api/names.ts'
import { api, approvalQuery, inWorkspace, passkeysQuery, type Schemas } from '../../api/queries.ts'
import { approvalSubject, type Choice, digestOfText, factsToSee, subjectWords } from '../../lib/approval-subject.ts'
import { chooseNotify } from '../../lib/choices.ts'
import { decidedWords, effectOfChoice } from '../../lib/decision-effect.ts'
import { capitalized, countWords, shortMoney, sumMinor } from '../../lib/words.ts'
import { hasPasskeys, signWithPasskey } from '../../passkey/passkey.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Dialog, FormDialog } from '../../ui/form.tsx'
import { Amount, ExactTime, Notice, TextNotice, Time } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { FactBadges, FactNotices } from './facts.tsx'

type Approval = Schemas['Approval']
type Props = { approvals: readonly Approval[]; choice: Choice; onDecided: () => void; onClose: () => void }

const titleOf = (approvals: readonly Approval[], choice: Choice): string => {
  const verb = choice === 'approve' ? 'Approve' : 'Reject'
  const [only] = approvals
  return approvals.length === 1 && only ? `${verb} ${subjectWords(only)}?` : `${verb} ${countWords(approvals.length, 'payment')}?`
}

const subjectsOf = (approvals: readonly Approval[]) =>
  approvals.map((approval) => ({ id: approval.id, facts: factsToSee(approval), ...approvalSubject(approval) }))

const total = (approvals: readonly Approval[]): string =>
  shortMoney(sumMinor(subjectsOf(approvals).map(({ amountMinor }) => amountMinor)), subjectsOf(approvals)[0]?.currency ?? '')

export const SentAt = ({ at }: { at: string | null }) =>
  at && (
    <span className="small block">
      Scheduled for <ExactTime at={at} />
    </span>
  )

/** Lists every payment that is decided, also in bulk, with what is odd about it. */
const Subjects = ({ approvals }: { approvals: readonly Approval[] }) => (
  <ul className="rows decide-list">
    {subjectsOf(approvals).map(({ id, title, mask, note, sentAt, amountMinor, fee, currency, facts, count }) => (
      <li key={id}>
        <span>
          <span className="strong">{title}</span> {mask && <span className="mono faint nowrap">{mask}</span>}
          {note && <span className="quiet small block">{note}</span>}
          {fee && <span className="quiet small block">Fee: {fee}</span>}
          <SentAt at={sentAt} />
          <FactBadges facts={facts} of={count} />
          <FactNotices facts={facts.filter(({ level }) => level === 'danger')} of={count} currency={currency} />
        </span>
        <Amount minor={amountMinor} currency={currency} />
      </li>
    ))}
  </ul>
)

type Late = { by: string; at: string; status: unknown }

/** Someone was faster: who, and when. Null for every other error. */
export const lateIn = (error: unknown): Late | null => {
  const details = error instanceof ApiError && error.code === 'conflict' ? error.details : {}
  const { decided_by: by, decided_at: at, status } = details
  return typeof by === 'string' && typeof at === 'string' ? { by, at, status } : null
}

/** Nothing is left to do about it. `subject`: which one, where several were to be decided. */
export const LateDecision = ({ late: { by, at, status }, subject }: { late: Late; subject?: string | undefined }) => {
  const people = usePeople()
  return (
    <TextNotice tone="info" title="Already decided" live>
      {capitalized(people(by))} {status === 'rejected' ? 'rejected' : status === 'approved' ? 'approved' : 'decided'}{' '}
      {subject ?? 'it'} <Time at={at} />.
    </TextNotice>
  )
}

export const DecideDialog = ({ approvals, choice, onDecided, onClose }: Props) => {
  const [reason, setReason] = useState('')
  const decide = useDecide(approvals, choice, onDecided)
  const approves = choice === 'approve'
  const toSign = approves ? approvals.find((approval) => approval.approval_proof === 'signature') : undefined
  const several = approvals.length > 1
  const late = lateIn(decide.error)
  if (late) {
    const refused = approvals[decide.made]
    const left = approvals.length - decide.made - 1
    const close = () => {
      decide.refresh()
      onClose()
    }
    return (
      <Dialog title={titleOf(approvals, choice)} onClose={close} footer={<Button onClick={close}>Close</Button>}>
        <LateDecision late={late} subject={several && refused ? subjectWords(refused) : undefined} />
        <p className="quiet">
          {several
            ? `${countWords(decide.made, 'payment')} before it ${decide.made === 1 ? 'is' : 'are'} decided, and ${countWords(left, 'payment')} after it ${left === 1 ? 'is' : 'are'} not.`
            : 'Nothing is left to do.'}
        </p>
      </Dialog>
    )
  }
  const content = (
    <>
      <Subjects approvals={approvals} />
      {toSign && <Notice tone="info">Only an approval by passkey or wallet counts here.</Notice>}
      <p className="quiet">{effectOfChoice(choice, approvals)}</p>
    </>
  )
  if (toSign)
    return (
      <Dialog
        title={titleOf(approvals, choice)}
        onClose={onClose}
        footer={
          <>
            <Button onClick={onClose}>Cancel</Button>
            <LinkButton href={`/approvals/${toSign.id}`} variant="primary">
              Open to sign it
            </LinkButton>
          </>
        }
      >
        {content}
      </Dialog>
    )
  return (
    <FormDialog
      title={titleOf(approvals, choice)}
      action={approves ? `Approve ${total(approvals)}` : several ? `Reject ${approvals.length}` : 'Reject'}
      making={{ ...decide, mutate: () => decide.mutate(reason) }}
      red={!approves}
      onClose={onClose}
    >
      {content}
      <TextField
        label="Reason"
        optional
        value={reason}
        onChange={setReason}
        maxLength={500}
        hint={approves ? 'Saved with your decision.' : 'The requester sees it.'}
      />
    </FormDialog>
  )
}

/** "2 payments approved"; those that need another approval are counted apart. */
const bulkWords = (approvals: readonly Approval[]): string => {
  const count = (status: Approval['status']) => approvals.filter((approval) => approval.status === status).length
  const parts = [
    [count('approved'), 'approved'],
    [count('rejected'), 'rejected'],
    [count('pending'), 'approved by you, waiting for another approval'],
  ] as const
  return parts
    .filter(([number]) => number > 0)
    .map(([number, outcome]) => `${countWords(number, 'payment')} ${outcome}`)
    .join('. ')
}

/** Updates the pages after a decision, before the stream does. */
export const useAfterDecision = () => {
  const client = useQueryClient()
  return (approvals: readonly Approval[]) => {
    for (const approval of approvals)
      client.setQueryData(approvalQuery(approval.id).queryKey, (before) => ({ ...before, ...approval }))
    if (approvals.some(({ status }) => status !== 'rejected')) chooseNotify({ approved: true })
    for (const name of ['inbox', 'approvals', 'payments', 'payment']) void client.invalidateQueries({ queryKey: [name] })
    const [only] = approvals
    if (approvals.length > 1) announce(bulkWords(approvals))
    else if (only) announce(decidedWords(only))
  }
}

type How = Pick<Schemas['DecideApproval'], 'reason' | 'passkey'>

/** With the digest of the text that was shown: one that has changed since is not decided. */
const decideOne = async (approval: Approval, choice: Choice, how: How): Promise<Approval> => {
  const message_digest = await digestOfText(approval.signing[choice])
  return api.POST('/v1/approvals/{id}/decide', {
    path: { id: approval.id },
    body: { decision: choice, ...how, ...(message_digest && { message_digest }) },
    ...inWorkspace(approvalSubject(approval).workspaceId),
  })
}

/** One after the other, each by itself: where one is refused, those before it are decided and those after it are not. */
export const useDecide = (approvals: readonly Approval[], choice: Choice, done: () => void) => {
  const client = useQueryClient()
  const after = useAfterDecision()
  /** Reads again what someone else has decided, or what has changed, meanwhile. */
  const refresh = () => {
    for (const name of ['inbox', 'approvals', 'approval', 'payment']) void client.invalidateQueries({ queryKey: [name] })
  }
  const [made, setMade] = useState(0)
  const decide = useMutation({
    mutationFn: async (reason: string) => {
      const decided: Approval[] = []
      try {
        for (const approval of approvals)
          decided.push(await decideOne(approval, choice, reason.trim() ? { reason: reason.trim() } : {}))
      } finally {
        setMade(decided.length)
        if (decided.length > 0) after(decided)
      }
    },
    onSuccess: done,
    onError: (error) => {
      if (isTextChanged(error)) refresh()
    },
  })
  return { ...decide, made, refresh }
}

export const useOwnPasskeys = (): readonly Schemas['Passkey'][] => {
  const { data } = useQuery({ ...passkeysQuery, enabled: hasPasskeys() })
  return data?.data ?? []
}

export const useDecideByPasskey = (
  approval: Approval,
  passkeys: readonly Schemas['Passkey'][],
  onDecided: (approval: Approval) => void,
) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (choice: Choice) => {
      const passkey = await signWithPasskey(approval.signing[choice], passkeys)
      return decideOne(approval, choice, { passkey })
    },
    onSuccess: onDecided,
    onError: (error) => {
      if (isTextChanged(error)) void client.invalidateQueries({ queryKey: ['approval'] })
    },
  })
}
