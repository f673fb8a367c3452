import { useQuery } from '@tanstack/react-query'
import { type Answer, api, invitationsQuery, notificationSettingsQuery, type Schemas } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { shortAddress, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Secret } from '../../ui/copy.tsx'
import { ChoiceField, fieldsOf, TextField } from '../../ui/field.tsx'
import { Dialog, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Current, Item, Listing } from '../../ui/listing.tsx'
import { Empty, Failure, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { type Role, roleChoices } from './roles.ts'
import { tWork } from './texts.ts'

const revokeInvitation = (id: string) => api.DELETE('/v1/workspaces/current/invitations/{id}', { path: { id } })

const InvitationRow = ({ invitation }: { invitation: Schemas['Invitation'] }) => {
  const revoke = useChange(() => revokeInvitation(invitation.id), {
    announcement: tWork('invitation.cancelled'),
    invalidates: ['invitations'],
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
const InvitationLink = ({ invitation, onClose }: { invitation: Invited; onClose: () => void }) => {
  const { workspace } = useSession()
  const delivery = useQuery(notificationSettingsQuery).data?.delivery ?? 'off'
  const replace = useChange(
    async (keyed, { id, role, email, wallet_address: wallet }: Invited): Promise<Invited> => {
      await revokeInvitation(id)
      return api.POST(path, keyed({ role, ...(email && { email }), ...(wallet && { wallet_address: wallet }) }, id))
    },
    { invalidates: ['invitations'] },
  )
  const current = replace.data ?? invitation
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
          <Button variant="primary" busy={replace.isPending} onClick={() => replace.mutate(current)}>
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
      <Failure error={replace.error} />
    </Dialog>
  )
}

const Invite = ({ onClose }: { onClose: () => void }) => {
  const { membership, workspace } = useSession()
  const { value, set } = useFields<{ role: Role; to: string }>({ role: 'approver', to: '' })
  const delivery = useQuery(notificationSettingsQuery).data?.delivery ?? 'off'
  const create = useChange((keyed) => api.POST(path, keyed({ role: value.role, ...addressing(value.to) })), {
    announcement: tWork('invitation.created'),
    invalidates: ['invitations'],
  })
  const field = fieldsOf(value, set, create.error)
  if (create.data) return <InvitationLink invitation={create.data} onClose={onClose} />
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
