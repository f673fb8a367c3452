import { useState } from 'react'
import { messageOf } from '../../api/advice.ts'
import { api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useChange } from '../../ui/use-change.ts'
import type { OpenItem } from './unknown.ts'

type Outcome = Schemas['ResolveSuspense']['outcome']

const outcomes: readonly { value: Outcome; label: string }[] = [
  { value: 'explained', label: 'Explained: it was booked elsewhere, or never moved' },
  { value: 'adjusted', label: 'Adjusted: an adjustment gave the money to an account' },
  { value: 'reversed', label: 'Reversed: the provider took it back' },
]

/** The most that the service takes in one request. */
export const mostAtOnce = 100

/** What was refused names the one that it was about. */
const refusedId = (error: unknown): string | null =>
  error instanceof ApiError && typeof error.details.id === 'string' ? error.details.id : null

const isAbout =
  (id: string | null) =>
  ({ suspense, difference }: OpenItem): boolean =>
    id !== null && (suspense?.id === id || difference?.id === id)

type Decision = { chosen: readonly OpenItem[]; outcome: Outcome; note: string }

/** All of the money in suspense or none of it, then all of the differences or none: each gets its own entry in the audit log. */
const useResolve = (onDone: () => void) => {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const resolving = useChange(
    async (_, { chosen, outcome, note }: Decision) => {
      const suspense = chosen.flatMap((item) => (item.suspense && !left.has(item.key) ? [item.suspense.id] : []))
      const differences = chosen.flatMap(({ difference }) => (difference ? [difference.id] : []))
      let waiting = 0
      if (suspense.length > 0) {
        const { data } = await api.POST('/v1/admin/suspense/resolve', { body: { ids: suspense, outcome, note } })
        waiting = data.filter(({ resolved_at }) => resolved_at === null).length
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

type Props = { items: readonly OpenItem[]; titleOf: (item: OpenItem) => string; onClose: () => void }

/** One reason for all that are chosen. */
export const Resolve = ({ items: chosen, titleOf, onClose }: Props) => {
  // Those that were chosen when it was opened: the lists behind it lose what is resolved.
  const [items, setItems] = useState(chosen)
  const [note, setNote] = useState('')
  const [outcome, setOutcome] = useState<Outcome>('explained')
  const resolve = useResolve(onClose)
  const [only] = items
  const several = items.length > 1
  const refused = items.find(isAbout(refusedId(resolve.error)))
  return (
    <FormDialog
      title={several ? `Resolve ${countWords(items.length, 'item')}?` : 'Resolve this item?'}
      action={several ? `Resolve ${items.length}` : 'Resolve'}
      making={{
        ...resolve,
        error: several && refused ? null : resolve.error,
        mutate: () => resolve.mutate({ chosen: items, outcome, note: note.trim() }),
      }}
      ready={note.trim() !== ''}
      onClose={onClose}
    >
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
      {several && refused && (
        <Notice tone="bad" title={resolve.hasPart ? 'The differences stayed open' : 'Nothing was resolved'} live>
          <p className="quiet">
            {titleOf(refused)}: {messageOf(resolve.error)}
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
