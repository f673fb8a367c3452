import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { chooseWorkspace } from '../../api/chosen-workspace.ts'
import { api, call } from '../../api/client.ts'
import { membersQuery } from '../../api/queries.ts'
import type { Body, Schemas } from '../../api/types.ts'
import { memberName } from '../../api/use-people.ts'
import { initials } from '../../lib/mask.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { DialogButton, FormDialog } from '../../ui/dialog.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type Role, roleChoices } from './roles.ts'

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
          {own && <Badge tone="info">You</Badge>}
          {member.status !== 'active' && <StatusBadge status={member.status} />}
        </>
      }
      note={
        <>
          {statusText(member.role)}
          {owning && `, payments come from ${own ? 'your' : 'their'} balance`}
          {member.email && member.display_name && `, ${member.email}`}
        </>
      }
    >
      {!owning && (
        <div className="row row-tight">
          {can('workspace.manage') && !own && (
            <DialogButton
              size="small"
              label={`Change ${name}`}
              dialog={(close) => <ChangeMember member={member} onClose={close} />}
            >
              Change
            </DialogButton>
          )}
          {(can('workspace.manage') || own) && (
            <DialogButton
              size="small"
              variant="danger"
              label={own ? 'Leave' : `Remove ${name}`}
              dialog={(close) => <RemoveMember member={member} onClose={close} />}
            >
              {own ? 'Leave' : 'Remove'}
            </DialogButton>
          )}
        </div>
      )}
    </Item>
  )
}

export const Members = () => (
  <Card title="Members" flush>
    <List query={useInfiniteQuery(membersQuery)} rows={2} empty={<Empty icon="people" title="No members" />}>
      {(member) => <MemberRow member={member} />}
    </List>
  </Card>
)

const ChangeMember = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const { membership } = useSession()
  const [role, setRole] = useState<Role>(member.role)
  const change = useChange(
    (_, body: Body<'/v1/workspaces/current/members/{id}', 'patch'>) =>
      call(api.PATCH('/v1/workspaces/current/members/{id}', { params: { path: { id: member.id } }, body })),
    {
      announcement: (after) =>
        `${memberName(after)}: ${after.status === 'active' ? statusText(after.role).toLowerCase() : after.status}`,
      outdates: ['members'],
      onDone: onClose,
    },
  )
  const suspended = member.status === 'suspended'
  return (
    <FormDialog
      title={memberName(member)}
      action="Save role"
      making={change}
      ready={role !== member.role}
      onSubmit={() => change.mutate({ role })}
      onClose={onClose}
      keep={
        <Button
          variant={suspended ? 'secondary' : 'danger'}
          onClick={() => change.mutate({ status: suspended ? 'active' : 'suspended' })}
        >
          {suspended ? 'Reinstate' : 'Suspend'}
        </Button>
      }
    >
      <ChoiceField label="Role" value={role} onChange={setRole} choices={roleChoices(membership.role)} />
    </FormDialog>
  )
}

const RemoveMember = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const { account, workspace } = useSession()
  const client = useQueryClient()
  const own = member.account_id === account.id
  return (
    <Confirm
      title={own ? `Leave ${workspace.name}?` : `Remove ${memberName(member)}?`}
      action={own ? 'Leave' : 'Remove'}
      change={() => call(api.DELETE('/v1/workspaces/current/members/{id}', { params: { path: { id: member.id } } }))}
      announcement={() => (own ? `You left ${workspace.name}` : `${memberName(member)} removed`)}
      outdates={own ? [] : ['members']}
      onChanged={() => {
        if (!own) return
        chooseWorkspace(null)
        void client.resetQueries()
      }}
      onClose={onClose}
    >
      <p>
        {own ? 'You' : 'They'} lose access right away, and the keys and agents {own ? 'you' : 'they'} created here are revoked.
      </p>
    </Confirm>
  )
}
