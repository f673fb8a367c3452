import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { workspaceQuery } from '../../api/queries.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { announce } from '../../ui/toast.tsx'

export const timeZoneOptions = (current: string) =>
  [...new Set([current, ...Intl.supportedValuesOf('timeZone')])].map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' '),
  }))

export const Settings = () => {
  const { workspace, can } = useSession()
  const client = useQueryClient()
  const [name, setName] = useState(workspace.name)
  const [zone, setZone] = useState(workspace.time_zone)
  const save = useMutation({
    mutationFn: () => call(api.PATCH('/v1/workspaces/current', { body: { name: name.trim(), time_zone: zone } })),
    onSuccess: (view) => {
      client.setQueryData(workspaceQuery.queryKey, view)
      void client.invalidateQueries({ queryKey: ['workspaces'] })
      announce('Workspace saved')
    },
  })
  const changed = name.trim() !== workspace.name || zone !== workspace.time_zone
  const facts = (
    <Facts
      facts={[
        ['Kind', statusText(workspace.kind)],
        ['Status', <StatusBadge key="status" status={workspace.status} />],
        ['Currency', workspace.currency],
        ['Workspace ID', <CopyText key="id" value={workspace.id} text="Copy" label="workspace ID" />],
      ]}
    />
  )
  if (!can('workspace.manage')) return <Card title={workspace.name}>{facts}</Card>
  return (
    <Form ready={changed} busy={save.isPending} onSubmit={() => save.mutate()}>
      <Card
        title="Settings"
        footer={
          <Button type="submit" busy={save.isPending} disabled={!changed}>
            Save
          </Button>
        }
      >
        <div className="stack">
          <TextField label="Name" value={name} onChange={setName} maxLength={120} error={fieldError(save.error, 'name')} />
          <SelectField
            label="Time zone"
            value={zone}
            onChange={setZone}
            options={timeZoneOptions(workspace.time_zone)}
            hint="Decides when the day and month of a limit begin. A change applies from next month."
            error={fieldError(save.error, 'time_zone')}
          />
          {facts}
          <Failure error={save.error} />
        </div>
      </Card>
    </Form>
  )
}
