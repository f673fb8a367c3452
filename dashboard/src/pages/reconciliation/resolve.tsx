import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../../api/advice.ts'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import type { OpenItem } from './open-items.ts'

type Outcome = Schemas['ResolveSuspense']['outcome']

const outcomes: readonly { value: Outcome; label: string }[] = [
  { value: 'explained', label: 'Explained: it was booked elsewhere, or never moved' },
  { value: 'adjusted', label: 'Adjusted: an adjustment gave the money to an account' },
  { value: 'reversed', label: 'Reversed: the provider took it back' },
]

const resolveItem = async ({ suspense, difference }: OpenItem, outcome: Outcome, note: string): Promise<void> => {
  if (suspense)
    await call(api.POST('/v1/admin/suspense/{id}/resolve', { params: { path: { id: suspense.id } }, body: { outcome, note } }))
  if (difference)
    await call(
      api.POST('/v1/admin/reconciliation-differences/{id}/resolve', { params: { path: { id: difference.id } }, body: { note } }),
    )
}

type Progress = { done: number; refused: readonly { key: string; why: string }[] }

/** One after the other, each with its own entry in the audit log: one that is refused stays open, and the next ones are still resolved. */
const useResolve = (items: readonly OpenItem[], onAllDone: () => void) => {
  const client = useQueryClient()
  const [progress, setProgress] = useState<Progress>({ done: 0, refused: [] })
  const resolving = useMutation({
    mutationFn: async ({ outcome, note }: { outcome: Outcome; note: string }) => {
      let state: Progress = { done: 0, refused: [] }
      for (const item of items) {
        const why = await resolveItem(item, outcome, note).then(
          () => null,
          (error: unknown) => messageOf(error),
        )
        state = { done: state.done + 1, refused: why === null ? state.refused : [...state.refused, { key: item.key, why }] }
        setProgress(state)
      }
      return state
    },
    onSuccess: ({ refused }) => {
      const resolved = items.length - refused.length
      if (resolved > 0) announce(items.length === 1 ? 'Resolved' : `${countWords(resolved, 'item')} resolved`)
      if (refused.length === 0) onAllDone()
    },
    onSettled: () => {
      for (const name of ['suspense', 'differences', 'trial balance']) void client.invalidateQueries({ queryKey: [name] })
    },
  })
  return { ...resolving, progress }
}

type Props = { items: readonly OpenItem[]; titleOf: (item: OpenItem) => string; onClose: () => void }

/** One reason for all that are chosen. */
export const Resolve = ({ items: chosen, titleOf, onClose }: Props) => {
  // Those that were chosen when it was opened: the lists behind it lose what is resolved.
  const [items] = useState(chosen)
  const [note, setNote] = useState('')
  const [outcome, setOutcome] = useState<Outcome>('explained')
  const resolve = useResolve(items, onClose)
  const { done, refused } = resolve.progress
  const [only] = items
  const several = items.length > 1
  const ready = note.trim() !== '' && !resolve.isPending && !resolve.isSuccess
  return (
    <Dialog
      title={several ? `Resolve ${countWords(items.length, 'item')}?` : 'Resolve this item?'}
      onClose={onClose}
      onSubmit={() => {
        if (ready) resolve.mutate({ outcome, note: note.trim() })
      }}
      footer={
        <>
          <Button onClick={onClose}>{resolve.isSuccess ? 'Close' : 'Cancel'}</Button>
          {!resolve.isSuccess && (
            <Button type="submit" variant="primary" busy={resolve.isPending} disabled={!ready}>
              {several ? `Resolve ${items.length}` : 'Resolve'}
            </Button>
          )}
        </>
      }
    >
      <div className="stack">
        {!several && only?.difference && <p className="quiet">{only.difference.action}</p>}
        {several && (
          <ul className="stack-xs small quiet">
            {items.map((item) => (
              <li key={item.key}>{titleOf(item)}</li>
            ))}
          </ul>
        )}
        {items.some(({ suspense }) => suspense) && (
          <SelectField
            label="What happened to the money"
            value={outcome}
            onChange={(value) => setOutcome(outcomes.find((each) => each.value === value)?.value ?? 'explained')}
            options={outcomes}
          />
        )}
        <TextField
          label="What was found"
          hint={several ? 'Saved with each of them, for the audit.' : 'Saved with the decision, for the audit.'}
          value={note}
          onChange={setNote}
          maxLength={500}
        />
        {several && resolve.isPending && (
          <p role="status">
            {done} of {items.length}
          </p>
        )}
        {refused.length > 0 && (
          <Notice tone="bad" title={several ? `${countWords(refused.length, 'item')} stayed open` : 'It stayed open'} live>
            <ul className="stack-xs">
              {refused.map(({ key, why }) => (
                <li key={key}>{why}</li>
              ))}
            </ul>
          </Notice>
        )}
      </div>
    </Dialog>
  )
}
