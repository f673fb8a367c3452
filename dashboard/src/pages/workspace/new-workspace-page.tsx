import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'
import { Submit } from '../../ui/button.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { timeZoneOptions } from './settings.tsx'

export const NewWorkspacePage = () => {
  const client = useQueryClient()
  const switchTo = useSwitchWorkspace()
  const keyFor = useIdempotencyKey()
  const [name, setName] = useState('')
  const [zone, setZone] = useState('Africa/Nairobi')
  const create = useMutation({
    mutationFn: () => {
      const body = { name: name.trim(), time_zone: zone }
      return call(api.POST('/v1/workspaces', { body, headers: keyFor(body) }))
    },
    onSuccess: ({ workspace }) => {
      void client.invalidateQueries({ queryKey: ['workspaces'] })
      announce(`${workspace.name} is ready`)
      switchTo(workspace.id)
    },
  })
  return (
    <Page
      title="New workspace"
      lead="For a team, with its own members, beneficiaries and policies. Its payments come from your balance."
      back={{ href: '/workspace', label: 'Workspace' }}
    >
      <Form ready={name.trim() !== ''} busy={create.isPending} onSubmit={() => create.mutate()}>
        <Card
          footer={
            <Submit busy={create.isPending} disabled={name.trim() === ''}>
              Create workspace
            </Submit>
          }
        >
          <div className="stack">
            <div className="columns">
              <TextField
                label="Name"
                value={name}
                onChange={setName}
                maxLength={120}
                autoFocus
                error={fieldError(create.error, 'name')}
              />
              <SelectField
                label="Time zone"
                value={zone}
                onChange={setZone}
                options={timeZoneOptions(zone)}
                hint="Decides when a day and a month begin."
                error={fieldError(create.error, 'time_zone')}
              />
            </div>
            <Failure error={create.error} />
          </div>
        </Card>
      </Form>
    </Page>
  )
}
