import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Answer,
  api,
  type Body,
  chooseWorkspace,
  invitationsQuery,
  membersQuery,
  notificationSettingsQuery,
  type Schemas,
} from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { initials, memberName, shortAddress, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, Secret } from '../../ui/button.tsx'
import { ChoiceField, fieldsOf, TextField } from '../../ui/field.tsx'
import { ConfirmButton, Dialog, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Current, Item, List, Listing } from '../../ui/listing.tsx'
import { Badge, Empty, Failure, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
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
      outdates: ['members'],
      onDone: onClose,
    },
  )
  // Keeps the first question: after a lost answer, a second click must not undo the first.
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
      outdates={own ? [] : ['members']}
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

const revokeInvitation = (id: string) => api.DELETE('/v1/workspaces/current/invitations/{id}', { path: { id } })

const InvitationRow = ({ invitation }: { invitation: Schemas['Invitation'] }) => {
  const revoke = useChange(() => revokeInvitation(invitation.id), {
    announcement: tWork('invitation.cancelled'),
    outdates: ['invitations'],
    announcesFailure: true,
  })
  const pending = invitation.status === 'pending'
  const to =
    invitation.email ?? (invitation.wallet_address ? shortAddress(invitation.wallet_address) : tWork('invitation.anyone'))
  return (
    <Item
      icon="link"
      title={to}
      note={
        <>
          {statusText(invitation.role)} ·{' '}
          {pending ? <Time at={invitation.expires_at} before={tWork('expires_before')} /> : <Time at={invitation.created_at} />}
        </>
      }
    >
      {pending ? (
        <Button
          size="small"
          variant="danger"
          busy={revoke.isPending}
          onClick={() => revoke.mutate()}
          label={tWork('invitation.cancel_of', { to })}
        >
          {tWork('invitation.cancel')}
        </Button>
      ) : (
        <StatusBadge status={invitation.status === 'revoked' ? 'cancelled' : invitation.status} />
      )}
    </Item>
  )
}

export const Invitations = () => (
  <Listing
    title={tWork('invitations')}
    actions={
      <DialogButton
        size="small"
        icon="plus"
        opened={location.search === '?invite'}
        dialog={(close) => <Invite onClose={close} />}
      >
        {tWork('invite')}
      </DialogButton>
    }
    query={invitationsQuery}
    rows={1}
    empty={
      <Empty icon="link" title={tWork('invitations.none')}>
        {tWork('invitations.none_note')}
      </Empty>
    }
  >
    {(invitations) => (
      <Current items={invitations} none={tWork('invitations.no_one')}>
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

const path = '/v1/workspaces/current/invitations'
type Invited = Answer<typeof path, 'post'>

/** Shows the link once. If the first answer was lost, the link is lost too, and the person can replace the invitation. */
const InvitationLink = ({ made, onClose }: { made: Invited; onClose: () => void }) => {
  const { workspace } = useSession()
  const delivery = useQuery(notificationSettingsQuery).data?.delivery ?? 'off'
  const again = useChange(
    async (keyed, { id, role, email, wallet_address: wallet }: Invited): Promise<Invited> => {
      await revokeInvitation(id)
      return api.POST(path, keyed({ role, ...(email && { email }), ...(wallet && { wallet_address: wallet }) }, id))
    },
    { outdates: ['invitations'] },
  )
  const current = again.data ?? made
  const { token, email } = current
  const mailedTo = delivery === 'off' ? null : email
  const isLost = token === undefined && mailedTo === null
  return (
    <Dialog
      title={tWork('invitation.its_link')}
      onClose={onClose}
      stays={token !== undefined}
      footer={
        isLost ? (
          <Button variant="primary" busy={again.isPending} onClick={() => again.mutate(current)}>
            {tWork('invitation.again')}
          </Button>
        ) : (
          <Button variant="primary" onClick={onClose}>
            {tWork('done')}
          </Button>
        )
      }
    >
      {isLost ? (
        <TextNotice tone="warn" title={tWork('invitation.lost')} live>
          {tWork('invitation.lost_note')}
        </TextNotice>
      ) : (
        <TextNotice tone="info">
          {mailedTo === null
            ? tWork('invitation.once', { name: workspace.name })
            : tWork(token === undefined ? 'invitation.mailed_lost' : 'invitation.mailed', { email: mailedTo })}
        </TextNotice>
      )}
      {token !== undefined && <Secret label={tWork('invitation.link')} value={`${location.origin}/invitation#${token}`} />}
      <Failure error={again.error} />
    </Dialog>
  )
}

const Invite = ({ onClose }: { onClose: () => void }) => {
  const { membership, workspace } = useSession()
  const { value, set } = useFields<{ role: Role; to: string }>({ role: 'approver', to: '' })
  const delivery = useQuery(notificationSettingsQuery).data?.delivery ?? 'off'
  const create = useChange((keyed) => api.POST(path, keyed({ role: value.role, ...addressing(value.to) })), {
    announcement: tWork('invitation.created'),
    outdates: ['invitations'],
  })
  const field = fieldsOf(value, set, create.error)
  if (create.data) return <InvitationLink made={create.data} onClose={onClose} />
  return (
    <FormDialog
      title={tWork('invite_to', { name: workspace.name })}
      action={tWork('invitation.create')}
      mutation={create}
      onClose={onClose}
    >
      <ChoiceField label={tWork('role')} {...field('role')} choices={roleChoices(membership.role)} />
      <TextField
        label={tWork('only_for')}
        optional
        {...field('to', value.to.trim().startsWith('0x') ? 'wallet_address' : 'email')}
        placeholder={tWork('only_for.example')}
        hint={tWork(delivery === 'off' ? 'only_for.hint' : 'only_for.hint_mailed')}
      />
    </FormDialog>
  )
}
