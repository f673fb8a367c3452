import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Body, chooseWorkspace, invitationsQuery, membersQuery, type Schemas } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { initials, memberName, shortAddress, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, Secret } from '../../ui/button.tsx'
import { ChoiceField, fieldsOf, TextField } from '../../ui/field.tsx'
import { ConfirmButton, Dialog, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Current, Item, List, Listing } from '../../ui/listing.tsx'
import { Badge, Empty, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
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
          {owning &&
            (workspace.balance_shared ? `, payments come from ${own ? 'your' : 'their'} balance` : ', made this workspace')}
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
          {(can('workspace.manage') || own) && <RemoveMember member={member} />}
        </div>
      )}
    </Item>
  )
}

export const Members = () => (
  <List title="Members" query={membersQuery} rows={2} empty={<Empty icon="people" title="No members" />}>
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
        `${memberName(after)}: ${after.status === 'active' ? statusText(after.role).toLowerCase() : after.status}`,
      outdates: ['members'],
      onDone: onClose,
    },
  )
  // What was asked stays what is asked: after a lost answer a second press must not undo the first.
  const [suspended] = useState(member.status === 'suspended')
  return (
    <FormDialog
      title={memberName(member)}
      action="Save role"
      making={{ ...change, mutate: () => change.mutate({ role }) }}
      ready={role !== member.role}
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

const RemoveMember = ({ member }: { member: Member }) => {
  const { account, workspace } = useSession()
  const client = useQueryClient()
  const own = member.account_id === account.id
  const action = own ? 'Leave' : 'Remove'
  const name = memberName(member)
  return (
    <ConfirmButton
      button={{ size: 'small', variant: 'danger', label: own ? 'Leave' : `Remove ${name}`, children: action }}
      title={own ? `Leave ${workspace.name}?` : `Remove ${name}?`}
      action={action}
      change={() => api.DELETE('/v1/workspaces/current/members/{id}', { path: { id: member.id } })}
      announcement={() => (own ? `You left ${workspace.name}` : `${name} removed`)}
      outdates={own ? [] : ['members']}
      onChanged={() => {
        if (!own) return
        chooseWorkspace(null)
        void client.resetQueries()
      }}
    >
      <p>
        {own ? 'You' : 'They'} lose access right away, and the keys and agents {own ? 'you' : 'they'} created here are revoked.
      </p>
    </ConfirmButton>
  )
}

const InvitationRow = ({ invitation }: { invitation: Schemas['Invitation'] }) => {
  const revoke = useChange(() => api.DELETE('/v1/workspaces/current/invitations/{id}', { path: { id: invitation.id } }), {
    announcement: 'Invitation cancelled',
    outdates: ['invitations'],
    announcesFailure: true,
  })
  const pending = invitation.status === 'pending'
  const to = invitation.email ?? (invitation.wallet_address ? shortAddress(invitation.wallet_address) : 'Anyone with the link')
  return (
    <Item
      icon="link"
      title={to}
      note={
        <>
          {statusText(invitation.role)} ·{' '}
          {pending ? <Time at={invitation.expires_at} before="expires " /> : <Time at={invitation.created_at} />}
        </>
      }
    >
      {pending ? (
        <Button
          size="small"
          variant="danger"
          busy={revoke.isPending}
          onClick={() => revoke.mutate()}
          label={`Cancel invitation of ${to}`}
        >
          Cancel invitation
        </Button>
      ) : (
        <StatusBadge status={invitation.status === 'revoked' ? 'cancelled' : invitation.status} />
      )}
    </Item>
  )
}

export const Invitations = () => (
  <Listing
    title="Invitations"
    actions={
      <DialogButton size="small" icon="plus" dialog={(close) => <Invite onClose={close} />}>
        Invite
      </DialogButton>
    }
    query={invitationsQuery}
    rows={1}
    empty={
      <Empty icon="link" title="No invitations">
        Invite an approver to have a second person decide payments.
      </Empty>
    }
  >
    {(invitations) => (
      <Current items={invitations} none="No one is invited at the moment">
        {(invitation) => <InvitationRow invitation={invitation} />}
      </Current>
    )}
  </Listing>
)

const addressing = (to: string) => {
  const text = to.trim()
  if (text === '') return {}
  return text.startsWith('0x') ? { wallet_address: text } : { email: text }
}

const Invite = ({ onClose }: { onClose: () => void }) => {
  const { membership, workspace } = useSession()
  const { value, set } = useFields<{ role: Role; to: string }>({ role: 'approver', to: '' })
  const create = useChange(
    (keyed) => api.POST('/v1/workspaces/current/invitations', keyed({ role: value.role, ...addressing(value.to) })),
    { announcement: 'Invitation created', outdates: ['invitations'] },
  )
  const field = fieldsOf(value, set, create.error)
  if (create.data)
    return (
      <Dialog
        title="Send this link"
        onClose={onClose}
        footer={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <TextNotice tone="info">
          It is shown only once and lets one person join {workspace.name}. We don’t send an email: share it yourself.
        </TextNotice>
        <Secret label="Invitation link" value={`${location.origin}/invitation#${create.data.token ?? ''}`} />
      </Dialog>
    )
  return (
    <FormDialog title={`Invite to ${workspace.name}`} action="Create invitation" making={create} onClose={onClose}>
      <ChoiceField label="Role" {...field('role')} choices={roleChoices(membership.role)} />
      <TextField
        label="Only for"
        optional
        {...field('to', value.to.trim().startsWith('0x') ? 'wallet_address' : 'email')}
        placeholder="name@example.com or 0x…"
        hint="A verified email or a wallet address. Leave empty to let anyone with the link join."
      />
    </FormDialog>
  )
}
