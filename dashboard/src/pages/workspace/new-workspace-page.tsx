import { api } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { useSwitchWorkspace } from '../../shell/session.tsx'
import { fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { timeZoneOptions } from './settings.tsx'

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
      lead="For a team, with its own members, beneficiaries and policies. Its payments come from your balance."
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
