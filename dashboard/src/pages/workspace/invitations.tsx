import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { adviceFor, messageOf } from '../../api/advice.ts'
import { api, call } from '../../api/client.ts'
import { invitationsQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { shortAddress } from '../../lib/mask.ts'
import { statusText } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { Secret } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { ChoiceField, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty, Notice } from '../../ui/layout.tsx'
import { Listing, Rows } from '../../ui/listing.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'
import { type Role, roleChoices } from './roles.ts'

const InvitationRow = ({ invitation }: { invitation: Schemas['Invitation'] }) => {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => call(api.DELETE('/v1/workspaces/current/invitations/{id}', { params: { path: { id: invitation.id } } })),
    onSuccess: () => {
      announce('Invitation cancelled')
      void client.invalidateQueries({ queryKey: ['invitations'] })
    },
    onError: (error) => announce(`${messageOf(error)} ${adviceFor(error)}`, 'bad'),
  })
  const to = invitation.email ?? (invitation.wallet_address ? shortAddress(invitation.wallet_address) : 'Anyone with the link')
  return (
    <div className="item">
      <span className="avatar">
        <Icon name="link" />
      </span>
      <div className="item-main">
        <p className="item-title">{to}</p>
        <p className="item-note">
          {statusText(invitation.role)} ·{' '}
          {invitation.status === 'pending' ? (
            <>
              expires <Time at={invitation.expires_at} />
            </>
          ) : (
            <Time at={invitation.created_at} />
          )}
        </p>
      </div>
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
    </div>
  )
}

export const Invitations = () => {
  const [inviting, setInviting] = useState(false)
  const invite = (
    <Button size="small" icon="plus" onClick={() => setInviting(true)}>
      Invite
    </Button>
  )
  return (
    <Card title="Invitations" actions={invite} flush>
      <Listing
        query={useInfiniteQuery(invitationsQuery)}
        rows={1}
        empty={
          <Empty icon="link" title="No invitations">
            Invite an approver to have a second person decide payments.
          </Empty>
        }
      >
        {(invitations) => <Rows items={invitations}>{(invitation) => <InvitationRow invitation={invitation} />}</Rows>}
      </Listing>
      {inviting && <Invite onClose={() => setInviting(false)} />}
    </Card>
  )
}

const addressing = (to: string) => {
  const text = to.trim()
  if (text === '') return {}
  return text.startsWith('0x') ? { wallet_address: text } : { email: text }
}

const Invite = ({ onClose }: { onClose: () => void }) => {
  const { membership, workspace } = useSession()
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const [role, setRole] = useState<Role>('approver')
  const [to, setTo] = useState('')
  const create = useMutation({
    mutationFn: () => {
      const body = { role, ...addressing(to) }
      return call(api.POST('/v1/workspaces/current/invitations', { body, headers: keyFor(body) }))
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['invitations'] })
      announce('Invitation created')
    },
  })
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
    <Dialog
      title={`Invite to ${workspace.name}`}
      onClose={onClose}
      onSubmit={() => {
        if (!create.isPending) create.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Submit busy={create.isPending}>Create invitation</Submit>
        </>
      }
    >
      <ChoiceField label="Role" value={role} onChange={setRole} choices={roleChoices(membership.role)} />
      <TextField
        label="Only for"
        optional
        value={to}
        onChange={setTo}
        placeholder="name@example.com or 0x…"
        hint="A verified email or a wallet address. Leave empty to let anyone with the link join."
        error={fieldError(create.error, 'email') ?? fieldError(create.error, 'wallet_address')}
      />
      <Failure error={create.error} />
    </Dialog>
  )
}
