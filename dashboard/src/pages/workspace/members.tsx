import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Body, chooseWorkspace, membersQuery, type Schemas } from '../../api/queries.ts'
import { initials, memberName, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { ConfirmButton, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty, StatusBadge } from '../../ui/page.tsx'
import { type Role, roleChoices } from './roles.ts'
import { tWork } from './texts.ts'

type Member = Schemas['Member']

const MemberRow = ({ member }: { member: Member }) => {
  const { account, workspace, can } = useSession()
  const own = member.account_id === account.id
  const owning = member.account_id === workspace.owning_account_id
  const name = memberName(member)
  return (
    <Item
      icon="account"
      mark={member.display_name && initials(member.display_name)}
      title={
        <>
          {name}
          {own && <Badge tone="info">{tWork('you')}</Badge>}
          {member.status !== 'active' && <StatusBadge status={member.status} />}
        </>
      }
      note={
        <>
          {statusText(member.role)}
          {owning && tWork(workspace.balance_shared ? (own ? 'pays.own' : 'pays.their') : 'made_it')}
          {member.email && member.display_name && `, ${member.email}`}
        </>
      }
    >
      {!owning && (
        <div className="row row-tight">
          {can('workspace.manage') && !own && (
            <DialogButton
              size="small"
              label={tWork('change.what', { name })}
              dialog={(close) => <ChangeMember member={member} onClose={close} />}
            >
              {tWork('change')}
            </DialogButton>
          )}
          {(can('workspace.manage') || own) && <RemoveMember member={member} />}
        </div>
      )}
    </Item>
  )
}

export const Members = () => (
  <List title={tWork('members')} query={membersQuery} rows={2} empty={<Empty icon="people" title={tWork('members.none')} />}>
    {(member) => <MemberRow member={member} />}
  </List>
)

const ChangeMember = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const { membership } = useSession()
  const [role, setRole] = useState<Role>(member.role)
  const change = useChange(
    (_, body: Body<'/v1/workspaces/current/members/{id}', 'patch'>) =>
      api.PATCH('/v1/workspaces/current/members/{id}', { path: { id: member.id }, body }),
    {
      announcement: (after) =>
        `${memberName(after)}: ${statusText(after.status === 'active' ? after.role : after.status).toLowerCase()}`,
      invalidates: ['members'],
      onDone: onClose,
    },
  )
  // Read once, when the dialog opens. If an answer is lost and the list reloads, a second click must not reverse the first.
  const [suspended] = useState(member.status === 'suspended')
  return (
    <FormDialog
      title={memberName(member)}
      action={tWork('role.save')}
      mutation={{ ...change, mutate: () => change.mutate({ role }) }}
      ready={role !== member.role}
      onClose={onClose}
      keep={
        <Button
          variant={suspended ? 'secondary' : 'danger'}
          busy={change.isPending}
          onClick={() => change.mutate({ status: suspended ? 'active' : 'suspended' })}
        >
          {suspended ? tWork('reinstate') : tWork('suspend')}
        </Button>
      }
    >
      <ChoiceField label={tWork('role')} value={role} onChange={setRole} choices={roleChoices(membership.role)} />
    </FormDialog>
  )
}

const RemoveMember = ({ member }: { member: Member }) => {
  const { account, workspace } = useSession()
  const client = useQueryClient()
  const own = member.account_id === account.id
  const action = own ? tWork('leave') : tWork('remove')
  const name = memberName(member)
  return (
    <ConfirmButton
      button={{
        size: 'small',
        variant: 'danger',
        label: own ? tWork('leave') : tWork('remove.what', { name }),
        children: action,
      }}
      title={own ? tWork('leave.title', { name: workspace.name }) : tWork('remove.title', { name })}
      action={action}
      change={() => api.DELETE('/v1/workspaces/current/members/{id}', { path: { id: member.id } })}
      announcement={() => (own ? tWork('leave.done', { name: workspace.name }) : tWork('remove.done', { name }))}
      invalidates={own ? [] : ['members']}
      onChanged={() => {
        if (!own) return
        chooseWorkspace(null)
        void client.resetQueries()
      }}
    >
      <p>{tWork(own ? 'leave.note' : 'remove.note')}</p>
    </ConfirmButton>
  )
}
