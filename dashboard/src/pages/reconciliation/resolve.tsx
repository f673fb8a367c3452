import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toast.tsx'

type Outcome = Schemas['ResolveSuspense']['outcome']

const outcomes: readonly { value: Outcome; label: string }[] = [
  { value: 'explained', label: 'Explained: it was booked elsewhere, or never moved' },
  { value: 'adjusted', label: 'Adjusted: an adjustment gave the money to an account' },
  { value: 'reversed', label: 'Reversed: the provider took it back' },
]

const useResolve = (send: () => Promise<unknown>, key: string, onClose: () => void) => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: send,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: [key] })
      announce('Resolved')
      onClose()
    },
  })
}

const NoteField = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => (
  <TextField
    label="What was found"
    hint="Kept with the decision, for whoever audits it."
    value={value}
    onChange={onChange}
    maxLength={500}
  />
)

export const ResolveSuspense = ({ item, onClose }: { item: Schemas['SuspenseItem']; onClose: () => void }) => {
  const [outcome, setOutcome] = useState<Outcome>('explained')
  const [note, setNote] = useState('')
  const resolve = useResolve(
    () => call(api.POST('/v1/admin/suspense/{id}/resolve', { params: { path: { id: item.id } }, body: { outcome, note } })),
    'suspense',
    onClose,
  )
  return (
    <Confirm
      title="Resolve this item?"
      action="Resolve"
      harmless
      busy={resolve.isPending}
      error={resolve.error}
      onConfirm={() => resolve.mutate()}
      onClose={onClose}
    >
      <div className="stack">
        <SelectField
          label="What became of the money"
          value={outcome}
          onChange={(value) => setOutcome(outcomes.find((each) => each.value === value)?.value ?? 'explained')}
          options={[...outcomes]}
        />
        <NoteField value={note} onChange={setNote} />
      </div>
    </Confirm>
  )
}

type DifferenceProps = { difference: Schemas['ReconciliationDifference']; onClose: () => void }

export const ResolveDifference = ({ difference, onClose }: DifferenceProps) => {
  const [note, setNote] = useState('')
  const resolve = useResolve(
    () =>
      call(
        api.POST('/v1/admin/reconciliation-differences/{id}/resolve', {
          params: { path: { id: difference.id } },
          body: { note },
        }),
      ),
    'differences',
    onClose,
  )
  return (
    <Confirm
      title="Resolve this difference?"
      action="Resolve"
      harmless
      busy={resolve.isPending}
      error={resolve.error}
      onConfirm={() => resolve.mutate()}
      onClose={onClose}
    >
      <div className="stack">
        <p>{difference.action}</p>
        <NoteField value={note} onChange={setNote} />
      </div>
    </Confirm>
  )
}
