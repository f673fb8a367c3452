import { useState } from 'react'
import { api, type Schemas, workspaceQuery } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { workspaceZone } from '../../lib/time.ts'
import { statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { fieldsOf, SelectField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Card, Facts, StatusBadge } from '../../ui/page.tsx'
import { tWork } from './texts.ts'

export const timeZoneOptions = (current: string) =>
  [...new Set([current, ...Intl.supportedValuesOf('timeZone')])].map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' '),
  }))

export const WorkspaceSettings = () => {
  const { workspace, can } = useSession()
  // Only what this person changed is sent: meanwhile someone else may have changed the rest.
  const [edits, setEdits] = useState<Schemas['UpdateWorkspace']>({})
  const value = { name: workspace.name, time_zone: workspace.time_zone, ...edits }
  const name = value.name.trim()
  const changes = {
    ...(name !== workspace.name && { name }),
    ...(value.time_zone !== workspace.time_zone && { time_zone: value.time_zone }),
  }
  const save = useChange(() => api.PATCH('/v1/workspaces/current', { body: changes }), {
    announcement: tWork('saved'),
    invalidates: ['workspaces'],
    cachesAs: () => workspaceQuery,
    onDone: () => setEdits({}),
  })
  const field = fieldsOf(value, (change) => setEdits((before) => ({ ...before, ...change })), save.error)
  const facts = (
    <Facts
      facts={{
        [tWork('kind')]: statusText(workspace.kind),
        [t('status')]: <StatusBadge status={workspace.status} />,
        [tWork('currency')]: workspace.currency,
        [tWork('zone.used')]: workspaceZone(workspace),
        [tWork('id')]: <CopyText value={workspace.id} text={t('copy')} label={tWork('id.it')} />,
      }}
    />
  )
  if (!can('workspace.manage')) return <Card title={workspace.name}>{facts}</Card>
  return (
    <FormCard title={tWork('settings')} action={tWork('save')} mutation={save} ready={Object.keys(changes).length > 0}>
      <TextField label={tWork('name')} {...field('name')} maxLength={120} />
      <SelectField
        label={tWork('zone')}
        {...field('time_zone')}
        options={timeZoneOptions(workspace.time_zone)}
        hint={tWork('zone.limits')}
      />
      {facts}
    </FormCard>
  )
}
