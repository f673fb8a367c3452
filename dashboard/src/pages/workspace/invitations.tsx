import { useInfiniteQuery } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { invitationsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useFields } from '../../lib/drafts.ts'
import { shortAddress } from '../../lib/mask.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Secret } from '../../ui/copy.tsx'
import { Dialog, DialogButton, FormDialog } from '../../ui/dialog.tsx'
import { ChoiceField, fieldsOf, TextField } from '../../ui/field.tsx'
import { Card, Empty, Notice } from '../../ui/layout.tsx'
import { Current, Item, Listing } from '../../ui/listing.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { useChange } from '../../ui/use-change.ts'
import { type Role, roleChoices } from './roles.ts'

const InvitationRow = ({ invitation }: { invitation: Schemas['Invitation'] }) => {
  const revoke = useChange(
    () => call(api.DELETE('/v1/workspaces/current/invitations/{id}', { params: { path: { id: invitation.id } } })),
    { announcement: 'Invitation cancelled', outdates: ['invitations'], announcesFailure: true },
  )
  const to = invitation.email ?? (invitation.wallet_address ? shortAddress(invitation.wallet_address) : 'Anyone with the link')
  return (
    <Item
      icon="link"
      title={to}
      note={
        <>
          {statusText(invitation.role)} ·{' '}
          {invitation.status === 'pending' ? (
            <>
              expires <Time at={invitation.expires_at} />
            </>
          ) : (
            <Time at={invitation.created_at} />
          )}
        </>
      }
    >
      {invitation.status === 'pending' ? (
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
  <Card
    title="Invitations"
    actions={
      <DialogButton size="small" icon="plus" dialog={(close) => <Invite onClose={close} />}>
        Invite
      </DialogButton>
    }
    flush
  >
    <Listing
      query={useInfiniteQuery(invitationsQuery)}
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
  </Card>
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
    (keyFor) => {
      const body = { role: value.role, ...addressing(value.to) }
      return call(api.POST('/v1/workspaces/current/invitations', { body, headers: keyFor(body) }))
    },
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
        <Notice tone="info">
          <p className="quiet">
            It is shown only once and lets one person join {workspace.name}. We don’t send an email: share it yourself.
          </p>
        </Notice>
        <Secret label="Invitation link" value={`${location.origin}/invitation#${create.data.token ?? ''}`} />
      </Dialog>
    )
  return (
    <FormDialog
      title={`Invite to ${workspace.name}`}
      action="Create invitation"
      making={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
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
