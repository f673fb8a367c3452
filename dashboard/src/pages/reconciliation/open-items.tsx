import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { ApiError, messageOf } from '../../api/error.ts'
import { api, paymentQuery, type Schemas, topupQuery } from '../../api/queries.ts'
import { countWords, shortMoney } from '../../lib/words.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { ExactTime, fieldError, Notice } from '../../ui/page.tsx'
import { AcceptOutcome, acceptLabel } from './end-payment.tsx'
import { canBeAssigned, moneyOf, nameOfItem, titleOf } from './item-words.ts'
import type { OpenItem } from './unknown.ts'

const Note = ({ children }: { children: ReactNode }) => <span className="item-note block">{children}</span>

/** A link to a payment of this workspace; one of another workspace can only be named. */
const PaymentOf = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...paymentQuery(id), retry: false })
  if (!data) return <CopyButton value={id}>Copy payment ID</CopyButton>
  return (
    <Link href={`/payments/${id}`}>
      {shortMoney(data.amount_minor, data.currency)} to {data.beneficiary.display_name}
    </Link>
  )
}

const TopUpOf = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...topupQuery(id), retry: false })
  return data ? <Link href={`/top-up/${id}`}>The top-up</Link> : <CopyButton value={id}>Copy top-up ID</CopyButton>
}

const Subject = ({ item: { suspense, difference } }: { item: OpenItem }) => {
  const payment = suspense?.payment_id ?? difference?.payment_id
  const topup = suspense?.topup_id ?? difference?.topup_id
  if (payment) return <PaymentOf id={payment} />
  return topup ? <TopUpOf id={topup} /> : null
}

type Props = { item: OpenItem; currency: string; checked: boolean; onCheck: () => void; onResolve: () => void }

export const ItemRow = ({ item, currency, checked, onCheck, onResolve }: Props) => {
  const { suspense, difference } = item
  const title = titleOf(item)
  const outcome = difference?.offered_outcome ?? null
  return (
    <li>
      <div className="item">
        <input
          type="checkbox"
          className="row-check"
          aria-label={`Select: ${nameOfItem(item)}`}
          checked={checked}
          onChange={onCheck}
        />
        <span className="item-main">
          {title}
          {difference && <Note>{difference.action}</Note>}
          <Note>{moneyOf(item, currency)}</Note>
          {suspense?.proposal && (
            <Note>
              Waits for a second administrator: <bdi>{suspense.proposal.by}</bdi> resolved it as {suspense.proposal.outcome}.
            </Note>
          )}
          <Note>
            <Subject item={item} />
          </Note>
          <Note>
            <ExactTime at={(suspense ?? difference)?.created_at ?? ''} />
          </Note>
        </span>
        <span className="item-acts">
          {difference && outcome && (
            <DialogButton
              variant="primary"
              label={`${acceptLabel(outcome)}: ${title}`}
              dialog={(close) => <AcceptOutcome difference={difference} outcome={outcome} onClose={close} />}
            >
              {acceptLabel(outcome)}
            </DialogButton>
          )}
          <Button onClick={onResolve} label={`Resolve: ${nameOfItem(item)}`}>
            Resolve
          </Button>
        </span>
      </div>
    </li>
  )
}

type Outcome = Schemas['ResolveSuspense']['outcome'] | 'assigned'

const outcomes: readonly { value: Outcome; label: string }[] = [
  { value: 'explained', label: 'Explained: it was booked elsewhere, or never moved' },
  { value: 'adjusted', label: 'Adjusted: an adjustment gave the money to an account' },
  { value: 'reversed', label: 'Reversed: the provider took it back' },
]
const assigned: (typeof outcomes)[number] = { value: 'assigned', label: 'Assigned: it belongs to an account' }

/** The most that the service takes in one request. */
export const mostAtOnce = 100

/** What was refused names the one that it was about. */
const refusedId = (error: unknown): string | null =>
  error instanceof ApiError && typeof error.details.id === 'string' ? error.details.id : null

const isAbout =
  (id: string | null) =>
  ({ suspense, difference }: OpenItem): boolean =>
    id !== null && (suspense?.id === id || difference?.id === id)

/** `receiver`: the ID of the account, the workspace or the top-up that the money is assigned to. */
type Decision = { chosen: readonly OpenItem[]; outcome: Outcome; note: string; receiver: string }

const receivers = ['account_id', 'workspace_id', 'topup_id']

const endSuspense = async (ids: string[], { outcome, note, receiver }: Decision): Promise<Schemas['SuspenseItem'][]> => {
  if (outcome !== 'assigned') return (await api.POST('/v1/admin/suspense/resolve', { body: { ids, outcome, note } })).data
  const of = receiver.startsWith('top_') ? 'topup_id' : receiver.startsWith('wsp_') ? 'workspace_id' : 'account_id'
  const to = { [of]: receiver }
  return Promise.all(ids.map((id) => api.POST('/v1/admin/suspense/{id}/assign', { path: { id }, body: { ...to, note } })))
}

/** All of the money in suspense or none of it, then all of the differences or none: each gets its own entry in the audit log. */
const useResolve = (onDone: () => void) => {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const resolving = useChange(
    async (_, decision: Decision) => {
      const { chosen, note } = decision
      const suspense = chosen.flatMap((item) => (item.suspense && !left.has(item.key) ? [item.suspense.id] : []))
      const differences = chosen.flatMap(({ difference }) => (difference ? [difference.id] : []))
      let waiting = 0
      if (suspense.length > 0) {
        const ended = await endSuspense(suspense, decision)
        waiting = ended.filter(({ resolved_at }) => resolved_at === null).length
        // Where the second request is refused, another try is about the differences alone.
        setLeft(new Set([...left, ...chosen.flatMap((item) => (item.suspense ? [item.key] : []))]))
      }
      if (differences.length > 0)
        await api.POST('/v1/admin/reconciliation-differences/resolve', { body: { ids: differences, note } })
      return { waiting, count: chosen.length }
    },
    {
      announcement: ({ waiting, count }) => {
        if (waiting > 0) return `${countWords(waiting, 'item')} wait for a second administrator, who resolves them the same way`
        return count === 1 ? 'Resolved' : `${countWords(count, 'item')} resolved`
      },
      outdates: ['suspense', 'differences', 'trial balance'],
      onDone,
    },
  )
  return { ...resolving, hasPart: left.size > 0 }
}

type ResolveProps = { items: readonly OpenItem[]; currency: string; onClose: () => void }

/** One reason for all that are chosen. */
export const Resolve = ({ items: chosen, currency, onClose }: ResolveProps) => {
  // Those that were chosen when it was opened: the lists behind it lose what is resolved.
  const [items, setItems] = useState(chosen)
  const [note, setNote] = useState('')
  const [outcome, setOutcome] = useState<Outcome>('explained')
  const [receiver, setReceiver] = useState('')
  const resolve = useResolve(onClose)
  const [only] = items
  const several = items.length > 1
  const refused = items.find(isAbout(refusedId(resolve.error)))
  const offered = !several && only && canBeAssigned(only) ? [...outcomes, assigned] : outcomes
  const isAssigned = outcome === 'assigned'
  return (
    <FormDialog
      title={several ? `Resolve ${countWords(items.length, 'item')}?` : 'Resolve this item?'}
      action={several ? `Resolve ${items.length}` : 'Resolve'}
      making={{
        ...resolve,
        error: several && refused ? null : resolve.error,
        mutate: () => resolve.mutate({ chosen: items, outcome, note: note.trim(), receiver: receiver.trim() }),
      }}
      ready={note.trim() !== '' && (!isAssigned || receiver.trim() !== '')}
      onClose={onClose}
    >
      <ul className="stack-xs small quiet">
        {items.map((item) => (
          <li key={item.key}>
            {titleOf(item)}: {moneyOf(item, currency)}
          </li>
        ))}
      </ul>
      {!several && only?.difference && <p className="quiet">{only.difference.action}</p>}
      {items.some(({ suspense }) => suspense) && (
        <SelectField label="What happened to the money" value={outcome} onChange={setOutcome} options={offered} />
      )}
      {isAssigned && (
        <TextField
          label="Account, workspace or top-up ID"
          hint="Whom the payer meant: of a team its workspace. The money is credited there at once."
          error={receivers.map((name) => fieldError(resolve.error, name)).find((problem) => problem !== undefined)}
          value={receiver}
          onChange={setReceiver}
          maxLength={60}
          mono
        />
      )}
      <TextField
        label="What was found"
        hint={several ? 'Saved with each of them, for the audit.' : 'Saved with the decision, for the audit.'}
        value={note}
        onChange={setNote}
        maxLength={500}
      />
      {several && refused && (
        <Notice tone="bad" title={resolve.hasPart ? 'The differences stayed open' : 'Nothing was resolved'} live>
          <p className="quiet">
            {nameOfItem(refused)}: {messageOf(resolve.error)}
          </p>
          <Button
            size="small"
            onClick={() => {
              setItems(items.filter((item) => item !== refused))
              resolve.reset()
            }}
          >
            Leave it out
          </Button>
        </Notice>
      )}
    </FormDialog>
  )
}
