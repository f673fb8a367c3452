import { useState } from 'react'
import { ApiError, messageOf } from '../../api/error.ts'
import { api, type Schemas } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { FormDialog, useChange } from '../../ui/form.tsx'
import { fieldError, Notice } from '../../ui/page.tsx'
import { canBeAssigned, moneyOf, nameOfItem, titleOf } from './item-words.ts'
import { tRecon } from './texts.ts'
import type { OpenItem } from './unknown.ts'

type Outcome = Schemas['ResolveSuspense']['outcome'] | 'assigned'

const choiceOf = (value: Outcome) => ({ value, label: tRecon(`choice.${value}`) })
const outcomes = (['explained', 'adjusted', 'reversed'] as const).map(choiceOf)

/** Largest number of items in one request. */
export const maxAtOnce = 100

/** ID of the item that an error names. */
const rejectedId = (error: unknown): string | null =>
  error instanceof ApiError && typeof error.details.id === 'string' ? error.details.id : null

const isAbout =
  (id: string | null) =>
  ({ suspense, difference }: OpenItem): boolean =>
    id !== null && (suspense?.id === id || difference?.id === id)

/** `receiver`: ID of the account, workspace or top-up that gets the money. */
type Resolution = { chosen: readonly OpenItem[]; outcome: Outcome; note: string; receiver: string }

const receivers = ['account_id', 'workspace_id', 'topup_id']

const resolveSuspense = async (ids: string[], { outcome, note, receiver }: Resolution): Promise<Schemas['SuspenseItem'][]> => {
  if (outcome !== 'assigned') return (await api.POST('/v1/admin/suspense/resolve', { body: { ids, outcome, note } })).data
  const receiverField = receiver.startsWith('top_') ? 'topup_id' : receiver.startsWith('wsp_') ? 'workspace_id' : 'account_id'
  const body = { [receiverField]: receiver, note }
  return Promise.all(ids.map((id) => api.POST('/v1/admin/suspense/{id}/assign', { path: { id }, body })))
}

/** Resolves all suspense money or none, then all differences or none. Each item gets an entry in the audit log. */
const useResolve = (onDone: () => void) => {
  // If the second request fails, another try covers only the differences.
  const [decided, setDecided] = useState<readonly Schemas['SuspenseItem'][]>([])
  const resolving = useChange(
    async (_, decision: Resolution) => {
      const { chosen, note } = decision
      const before = new Set(decided.map(({ id }) => id))
      const undecided = chosen.flatMap(({ suspense }) => (suspense && !before.has(suspense.id) ? [suspense.id] : []))
      const all = undecided.length > 0 ? [...decided, ...(await resolveSuspense(undecided, decision))] : decided
      setDecided(all)
      const waiting = new Set(all.flatMap(({ id, resolved_at: at }) => (at === null ? [id] : [])))
      // The difference of money that waits for a second administrator stays open with it.
      const differences = chosen.flatMap(({ suspense, difference }) =>
        difference && !(suspense && waiting.has(suspense.id)) ? [difference.id] : [],
      )
      if (differences.length > 0)
        await api.POST('/v1/admin/reconciliation-differences/resolve', { body: { ids: differences, note } })
      return { waiting: waiting.size, count: chosen.length }
    },
    {
      announcement: ({ waiting, count }) =>
        waiting > 0 ? tRecon('resolve_waits', { count: waiting }) : tRecon('resolved', { count }),
      invalidates: ['suspense', 'differences', 'trial balance'],
      onDone,
    },
  )
  return { ...resolving, isSuspenseResolved: decided.length > 0 }
}

type ResolveProps = { items: readonly OpenItem[]; currency: string; onClose: () => void }

/** Resolves all chosen items with one reason. */
export const Resolve = ({ items: chosen, currency, onClose }: ResolveProps) => {
  // Keeps the items chosen when the dialog opened, because the lists behind it lose resolved items.
  const [items, setItems] = useState(chosen)
  const [note, setNote] = useState('')
  const [outcome, setOutcome] = useState<Outcome>('explained')
  const [receiver, setReceiver] = useState('')
  const resolve = useResolve(onClose)
  const [only] = items
  const several = items.length > 1
  const rejectedItem = items.find(isAbout(rejectedId(resolve.error)))
  const offered = !several && only && canBeAssigned(only) ? [...outcomes, choiceOf('assigned')] : outcomes
  const isAssigned = outcome === 'assigned'
  return (
    <FormDialog
      title={tRecon('resolve.ask', { count: items.length })}
      action={several ? tRecon('resolve_count', { count: items.length }) : tRecon('resolve')}
      mutation={{
        ...resolve,
        error: several && rejectedItem ? null : resolve.error,
        mutate: () => resolve.mutate({ chosen: items, outcome, note: note.trim(), receiver: receiver.trim() }),
      }}
      ready={note.trim() !== '' && (!isAssigned || receiver.trim() !== '')}
      onClose={onClose}
    >
      <ul className="stack-xs small muted">
        {items.map((item) => (
          <li key={item.key}>
            {titleOf(item)}: {moneyOf(item, currency)}
          </li>
        ))}
      </ul>
      {!several && only?.difference && <p className="muted">{only.difference.action}</p>}
      {items.some(({ suspense }) => suspense) && (
        <SelectField label={tRecon('what_happened')} value={outcome} onChange={setOutcome} options={offered} />
      )}
      {isAssigned && (
        <TextField
          label={tRecon('receiver')}
          hint={tRecon('receiver.hint')}
          error={receivers.map((name) => fieldError(resolve.error, name)).find((problem) => problem !== undefined)}
          value={receiver}
          onChange={setReceiver}
          maxLength={60}
          mono
        />
      )}
      <TextField
        label={tRecon('found')}
        hint={tRecon('found.hint', { count: items.length })}
        value={note}
        onChange={setNote}
        maxLength={500}
      />
      {several && rejectedItem && (
        <Notice tone="bad" title={tRecon(resolve.isSuspenseResolved ? 'differences_stayed' : 'none_resolved')} live>
          <p className="muted">
            {nameOfItem(rejectedItem)}: {messageOf(resolve.error)}
          </p>
          <Button
            size="small"
            onClick={() => {
              setItems(items.filter((item) => item !== rejectedItem))
              resolve.reset()
            }}
          >
            {tRecon('leave_out')}
          </Button>
        </Notice>
      )}
    </FormDialog>
  )
}
