import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, isTextChanged } from '../../api/error.ts'
import { usePeople } from '../../api/names.ts'
import { api, approvalQuery, inWorkspace, passkeysQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { approvalSubject, type Choice, factsToSee, subjectWords } from '../../lib/approval-subject.ts'
import { chooseNotify } from '../../lib/choices.ts'
import { decidedWords, effectOfChoice, outcomeOf } from '../../lib/decision-effect.ts'
import { digestOfText } from '../../lib/hex.ts'
import { rich, t } from '../../lib/language.ts'
import { capitalized, shortMoney, sumMinor } from '../../lib/words.ts'
import { hasPasskeys, signWithPasskey } from '../../passkey/passkey.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Dialog, FormDialog } from '../../ui/form.tsx'
import { Amount, ExactTime, Notice, TextNotice, Time } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { FactBadges, FactNotices } from './facts.tsx'

type Approval = Schemas['Approval']
type Props = {
  approvals: readonly Approval[]
  choice: Choice
  /** Whether an approval must be opened before it can be approved. A change may require it while the dialog is open. */
  isBlocked?: (approval: Approval) => boolean
  onDecided: () => void
  onClose: () => void
}

const titleOf = (approvals: readonly Approval[], choice: Choice): string => {
  const [only] = approvals
  const count = approvals.length
  return t(`${choice}_what`, { what: count === 1 && only ? subjectWords(only) : t('payments', { count }) })
}

const subjectsOf = (approvals: readonly Approval[]) =>
  approvals.map((approval) => ({ id: approval.id, facts: factsToSee(approval), ...approvalSubject(approval) }))

const total = (approvals: readonly Approval[]): string =>
  shortMoney(sumMinor(subjectsOf(approvals).map(({ amountMinor }) => amountMinor)), subjectsOf(approvals)[0]?.currency ?? '')

export const SentAt = ({ at }: { at: string | null }) =>
  at && <span className="small block">{rich('scheduled_for', { at: <ExactTime at={at} /> })}</span>

/** Lists every payment of the decision, even in bulk, with its warnings. */
const Subjects = ({ approvals }: { approvals: readonly Approval[] }) => (
  <ul className="rows decide-list">
    {subjectsOf(approvals).map(({ id, title, mask, note, sentAt, amountMinor, fee, currency, facts, count }) => (
      <li key={id}>
        <span>
          <span className="strong">{title}</span> {mask && <span className="mono faint nowrap">{mask}</span>}
          {note && <span className="muted small block">{note}</span>}
          {fee && <span className="muted small block">{t('fee_is', { fee })}</span>}
          <SentAt at={sentAt} />
          <FactBadges facts={facts} of={count} />
          <FactNotices facts={facts.filter(({ level }) => level === 'danger')} of={count} currency={currency} />
        </span>
        <Amount minor={amountMinor} currency={currency} />
      </li>
    ))}
  </ul>
)

type EarlierDecision = { by: string; at: string; status: unknown }

/** Account, time and result of an earlier decision. Null for any other error. */
export const earlierDecisionIn = (error: unknown): EarlierDecision | null => {
  const details = error instanceof ApiError && error.code === 'conflict' ? error.details : {}
  const { decided_by: by, decided_at: at, status } = details
  return typeof by === 'string' && typeof at === 'string' ? { by, at, status } : null
}

/** Message that someone else has already decided. `subject`: the approval's words, if there are several approvals. */
export const EarlierDecisionNotice = ({
  late: { by, at, status },
  subject,
}: {
  late: EarlierDecision
  subject?: string | undefined
}) => {
  const people = usePeople()
  const values = { who: capitalized(people(by)), what: subject ?? t('it'), at: <Time at={at} /> }
  return (
    <TextNotice tone="info" title={t('late.title')} live>
      {rich(`late.${status === 'rejected' || status === 'approved' ? status : 'decided'}`, values)}
    </TextNotice>
  )
}

export const DecideDialog = ({ approvals, choice, isBlocked = () => false, onDecided, onClose }: Props) => {
  const [reason, setReason] = useState('')
  const decide = useDecide(approvals, choice, onDecided)
  const approves = choice === 'approve'
  const needsSignature = approves ? approvals.find((approval) => approval.approval_proof === 'signature') : undefined
  const several = approvals.length > 1
  const toOpenFirst = approves ? approvals.filter(isBlocked).length : 0
  const late = earlierDecisionIn(decide.error)
  if (late) {
    const refused = approvals[decide.decidedCount]
    const left = approvals.length - decide.decidedCount - 1
    const close = () => {
      decide.refresh()
      onClose()
    }
    return (
      <Dialog title={titleOf(approvals, choice)} onClose={close} footer={<Button onClick={close}>{t('close')}</Button>}>
        <EarlierDecisionNotice late={late} subject={several && refused ? subjectWords(refused) : undefined} />
        <p className="muted">
          {several
            ? t('late.after', { before: t('late.before', { count: decide.decidedCount }), count: left })
            : t('late.nothing_left')}
        </p>
      </Dialog>
    )
  }
  const content = (
    <>
      <Subjects approvals={approvals} />
      {needsSignature && <Notice tone="info">{t('only_signed_here')}</Notice>}
      {toOpenFirst > 0 && <Notice tone="warn">{t('to_open_first', { count: toOpenFirst })}</Notice>}
      <p className="muted">{effectOfChoice(choice, approvals)}</p>
    </>
  )
  if (needsSignature)
    return (
      <Dialog
        title={titleOf(approvals, choice)}
        onClose={onClose}
        footer={
          <>
            <Button onClick={onClose}>{t('cancel')}</Button>
            <LinkButton href={`/approvals/${needsSignature.id}`} variant="primary">
              {t('open_to_sign')}
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
      action={
        approves
          ? t('approve_amount', { amount: total(approvals) })
          : several
            ? t('reject_count', { count: approvals.length })
            : t('reject')
      }
      mutation={{ ...decide, mutate: () => decide.mutate(reason) }}
      destructive={!approves}
      ready={toOpenFirst === 0}
      onClose={onClose}
    >
      {content}
      <TextField label={t('reason')} optional value={reason} onChange={setReason} maxLength={500} hint={t(`reason.${choice}`)} />
    </FormDialog>
  )
}

/** "2 payments approved"; counts approvals that need another decision separately. */
const bulkWords = (approvals: readonly Approval[]): string => {
  return (['approved', 'failed', 'rejected', 'pending'] as const)
    .map((outcome) => ({ outcome, count: approvals.filter((approval) => outcomeOf(approval) === outcome).length }))
    .filter(({ count }) => count > 0)
    .map(({ outcome, count }) => t(`bulk.${outcome}`, { count }))
    .join('. ')
}

/** Updates the pages after a decision, before the stream does. */
export const useAfterDecision = () => {
  const client = useQueryClient()
  return (approvals: readonly Approval[]) => {
    // The answer to a decision has no context, so an approval that was not read before is not stored.
    for (const approval of approvals)
      client.setQueryData(approvalQuery(approval.id).queryKey, (before) => before && { ...before, ...approval })
    if (approvals.some(({ status }) => status !== 'rejected')) chooseNotify({ approved: true })
    for (const name of ['inbox', 'approvals', 'payments', 'payment']) void client.invalidateQueries({ queryKey: [name] })
    const [only] = approvals
    const tone = approvals.some((approval) => outcomeOf(approval) === 'failed') ? 'bad' : 'good'
    if (approvals.length > 1) announce(bulkWords(approvals), tone)
    else if (only) announce(decidedWords(only), tone)
  }
}

type How = Pick<Schemas['DecideApproval'], 'reason' | 'passkey'>

/** Sends the digest of the shown text: the service refuses a text that has changed since. */
const decideOne = async (approval: Approval, choice: Choice, how: How): Promise<Approval> => {
  const message_digest = await digestOfText(approval.signing[choice])
  return api.POST('/v1/approvals/{id}/decide', {
    path: { id: approval.id },
    body: { decision: choice, ...how, ...(message_digest && { message_digest }) },
    ...inWorkspace(approvalSubject(approval).workspaceId),
  })
}

/** Decides one approval after the other. If one fails, earlier ones are decided and later ones are not. */
export const useDecide = (approvals: readonly Approval[], choice: Choice, done: () => void) => {
  const client = useQueryClient()
  const after = useAfterDecision()
  /** Reloads, because someone else may have decided or the text may have changed. */
  const refresh = () => {
    for (const name of ['inbox', 'approvals', 'approval', 'payment']) void client.invalidateQueries({ queryKey: [name] })
  }
  const [decidedCount, setDecidedCount] = useState(0)
  const decide = useMutation({
    mutationFn: async (reason: string) => {
      const decided: Approval[] = []
      try {
        for (const approval of approvals)
          decided.push(await decideOne(approval, choice, reason.trim() ? { reason: reason.trim() } : {}))
      } finally {
        setDecidedCount(decided.length)
        if (decided.length > 0) after(decided)
      }
    },
    onSuccess: done,
    onError: (error) => {
      if (isTextChanged(error)) refresh()
    },
  })
  return { ...decide, decidedCount, refresh }
}

export const useOwnPasskeys = (): readonly Schemas['Passkey'][] =>
  rowsOf(useInfiniteQuery({ ...passkeysQuery, enabled: hasPasskeys() }))

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
