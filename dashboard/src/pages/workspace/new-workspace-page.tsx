import { api, workspaceQuery } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { workspaceZone } from '../../lib/time.ts'
import { statusText } from '../../lib/words.ts'
import { useSession, useSwitchWorkspace } from '../../shell/session.tsx'
import { CopyText } from '../../ui/button.tsx'
import { fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Card, Facts, Page, StatusBadge } from '../../ui/page.tsx'

export const NewWorkspacePage = () => {
  const switchTo = useSwitchWorkspace()
  const { value, set } = useFields({ name: '', time_zone: 'Africa/Nairobi' })
  const create = useChange((keyed) => api.POST('/v1/workspaces', keyed({ ...value, name: value.name.trim() })), {
    announcement: ({ workspace }) => `${workspace.name} is ready`,
    outdates: ['workspaces'],
    onDone: ({ workspace }) => switchTo(workspace.id),
  })
  const field = fieldsOf(value, set, create.error)
  return (
    <Page
      title="New workspace"
      lead="For a team, with its own members, beneficiaries and policies. It begins with an empty balance of its own: add money before its first payment."
      back={{ href: '/workspace', label: 'Workspace' }}
    >
      <FormCard action="Create workspace" making={create} ready={value.name.trim() !== ''}>
        <div className="columns">
          <TextField label="Name" {...field('name')} maxLength={120} autoFocus />
          <SelectField
            label="Time zone"
            {...field('time_zone')}
            options={timeZoneOptions(value.time_zone)}
            hint="Decides when a day and a month begin."
          />
        </div>
      </FormCard>
    </Page>
  )
}

export const timeZoneOptions = (current: string) =>
  [...new Set([current, ...Intl.supportedValuesOf('timeZone')])].map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' '),
  }))

export const Settings = () => {
  const { workspace, can } = useSession()
  const { value, set } = useFields({ name: workspace.name, time_zone: workspace.time_zone })
  const save = useChange(() => api.PATCH('/v1/workspaces/current', { body: { ...value, name: value.name.trim() } }), {
    announcement: 'Workspace saved',
    outdates: ['workspaces'],
    keeps: () => workspaceQuery,
  })
  const field = fieldsOf(value, set, save.error)
  const changed = value.name.trim() !== workspace.name || value.time_zone !== workspace.time_zone
  const facts = (
    <Facts
      facts={{
        Kind: statusText(workspace.kind),
        Status: <StatusBadge status={workspace.status} />,
        Currency: workspace.currency,
        'Time zone in use': workspaceZone(workspace),
        'Workspace ID': <CopyText value={workspace.id} text="Copy" label="workspace ID" />,
      }}
    />
  )
  if (!can('workspace.manage')) return <Card title={workspace.name}>{facts}</Card>
  return (
    <FormCard title="Settings" action="Save" making={save} ready={changed}>
      <TextField label="Name" {...field('name')} maxLength={120} />
      <SelectField
        label="Time zone"
        {...field('time_zone')}
        options={timeZoneOptions(workspace.time_zone)}
        hint="Decides when the day and month of a limit begin. A change applies from next month."
      />
      {facts}
    </FormCard>
  )
}
