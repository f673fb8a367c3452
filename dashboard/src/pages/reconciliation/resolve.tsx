import { type ReactNode, useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'

type Outcome = Schemas['ResolveSuspense']['outcome']

const outcomes: readonly { value: Outcome; label: string }[] = [
  { value: 'explained', label: 'Explained: it was booked elsewhere, or never moved' },
  { value: 'adjusted', label: 'Adjusted: an adjustment gave the money to an account' },
  { value: 'reversed', label: 'Reversed: the provider took it back' },
]

type ResolveProps = {
  title: string
  /** The list that is read again afterwards. */
  list: 'suspense' | 'differences'
  send: (note: string) => Promise<unknown>
  children: ReactNode
  onClose: () => void
}

const Resolve = ({ title, list, send, children, onClose }: ResolveProps) => {
  const [note, setNote] = useState('')
  return (
    <Confirm
      title={title}
      action="Resolve"
      harmless
      change={() => send(note)}
      announcement={() => 'Resolved'}
      outdates={[list]}
      onClose={onClose}
    >
      <div className="stack">
        {children}
        <TextField
          label="What was found"
          hint="Saved with the decision, for the audit."
          value={note}
          onChange={setNote}
          maxLength={500}
        />
      </div>
    </Confirm>
  )
}

export const ResolveSuspense = ({ item, onClose }: { item: Schemas['SuspenseItem']; onClose: () => void }) => {
  const [outcome, setOutcome] = useState<Outcome>('explained')
  return (
    <Resolve
      title="Resolve this item?"
      list="suspense"
      send={(note) =>
        call(api.POST('/v1/admin/suspense/{id}/resolve', { params: { path: { id: item.id } }, body: { outcome, note } }))
      }
      onClose={onClose}
    >
      <SelectField
        label="What happened to the money"
        value={outcome}
        onChange={(value) => setOutcome(outcomes.find((each) => each.value === value)?.value ?? 'explained')}
        options={outcomes}
      />
    </Resolve>
  )
}

type DifferenceProps = { difference: Schemas['ReconciliationDifference']; onClose: () => void }

export const ResolveDifference = ({ difference, onClose }: DifferenceProps) => (
  <Resolve
    title="Resolve this difference?"
    list="differences"
    send={(note) =>
      call(
        api.POST('/v1/admin/reconciliation-differences/{id}/resolve', {
          params: { path: { id: difference.id } },
          body: { note },
        }),
      )
    }
    onClose={onClose}
  >
    <p>{difference.action}</p>
  </Resolve>
)
