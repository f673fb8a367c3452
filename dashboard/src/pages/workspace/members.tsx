import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { chooseWorkspace } from '../../api/chosen-workspace.ts'
import { api, call } from '../../api/client.ts'
import { membersQuery } from '../../api/queries.ts'
import type { Body, Schemas } from '../../api/types.ts'
import { initials, shortAddress } from '../../lib/mask.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ChoiceField } from '../../ui/field.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type Role, roleChoices } from './roles.ts'

type Member = Schemas['Member']

export const memberName = (member: Member): string =>
  member.display_name ?? member.email ?? (member.wallet_address ? shortAddress(member.wallet_address) : 'Member')

const MemberRow = ({ member, onChange, onRemove }: { member: Member; onChange: () => void; onRemove: () => void }) => {
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
            <Button size="small" onClick={onChange} label={`Change ${name}`}>
              Change
            </Button>
          )}
          {(can('workspace.manage') || own) && (
            <Button size="small" variant="danger" onClick={onRemove} label={own ? 'Leave' : `Remove ${name}`}>
              {own ? 'Leave' : 'Remove'}
            </Button>
          )}
        </div>
      )}
    </Item>
  )
}

export const Members = () => {
  const [changing, setChanging] = useState<Member | null>(null)
  const [removing, setRemoving] = useState<Member | null>(null)
  return (
    <Card title="Members" flush>
      <Listing query={useInfiniteQuery(membersQuery)} rows={2} empty={<Empty icon="people" title="No members" />}>
        {(members) => (
          <Rows items={members}>
            {(member) => <MemberRow member={member} onChange={() => setChanging(member)} onRemove={() => setRemoving(member)} />}
          </Rows>
        )}
      </Listing>
      {changing && <ChangeMember member={changing} onClose={() => setChanging(null)} />}
      {removing && <RemoveMember member={removing} onClose={() => setRemoving(null)} />}
    </Card>
  )
}

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
