import { useQueryClient } from '@tanstack/react-query'
import { api, inWorkspace, workspacesQuery } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { useSession } from '../../shell/session.tsx'
import { useSwitchWorkspace } from '../../shell/workspace-switch.ts'
import { fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { tWork } from './texts.ts'
import { timeZoneOptions } from './workspace-settings.tsx'

export const NewWorkspacePage = () => {
  const client = useQueryClient()
  const { account } = useSession()
  const switchTo = useSwitchWorkspace()
  const { value, set } = useFields({ name: '', time_zone: 'Africa/Nairobi' })
  const create = useChange(
    async (keyed) => {
      const { body, headers } = keyed({ ...value, name: value.name.trim() })
      // In this tab's workspace, the person's role may not allow it. In their personal workspace, it always does.
      const { data } = await client.ensureQueryData(workspacesQuery)
      const own = data.find(({ workspace: { kind, owning_account_id: by } }) => kind === 'personal' && by === account.id)
      return api.POST('/v1/workspaces', { body, headers: { ...headers, ...(own && inWorkspace(own.workspace.id).headers) } })
    },
    {
      announcement: ({ workspace }) => tWork('ready', { name: workspace.name }),
      invalidates: ['workspaces'],
      onDone: ({ workspace }) => switchTo(workspace.id),
    },
  )
  const field = fieldsOf(value, set, create.error)
  return (
    <Page title={t('new_workspace')} lead={tWork('new.note')} back={{ href: '/workspace', label: t('workspace') }}>
      <FormCard action={tWork('new.create')} mutation={create} ready={value.name.trim() !== ''}>
        <div className="columns">
          <TextField label={tWork('name')} {...field('name')} maxLength={120} autoFocus />
          <SelectField
            label={tWork('zone')}
            {...field('time_zone')}
            options={timeZoneOptions(value.time_zone)}
            hint={tWork('zone.hint')}
          />
        </div>
      </FormCard>
    </Page>
  )
}
