import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { passkeysQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { deviceName } from '../../lib/device-name.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { createPasskey, hasPasskeys } from '../../passkey/passkey.ts'
import { Button, Submit } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty, SkeletonRows } from '../../ui/layout.tsx'
import { Rows } from '../../ui/listing.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toast.tsx'

type Passkey = Schemas['Passkey']

const PasskeyRow = ({ passkey, onRemove }: { passkey: Passkey; onRemove: () => void }) => (
  <div className="item">
    <span className="avatar">
      <Icon name="fingerprint" />
    </span>
    <div className="item-main">
      <p className="item-title">{passkey.name}</p>
      <p className="item-note">
        Added <Time at={passkey.created_at} />
        {passkey.last_used_at && (
          <>
            , last used <Time at={passkey.last_used_at} />
          </>
        )}
      </p>
    </div>
    <Button size="small" variant="danger" onClick={onRemove} label={`Remove ${passkey.name}`}>
      Remove
    </Button>
  </div>
)

const AddDialog = ({ onClose }: { onClose: () => void }) => {
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const [name, setName] = useState(() => deviceName(navigator.userAgent))
  const add = useMutation({
    mutationFn: async () => {
      const credential = await createPasskey(await call(api.POST('/v1/accounts/me/passkeys/options')))
      const body = { name: name.trim(), credential }
      return call(api.POST('/v1/accounts/me/passkeys', { body, headers: keyFor(body) }))
    },
    onSuccess: () => {
      announce('Passkey added')
      void client.invalidateQueries({ queryKey: ['passkeys'] })
      onClose()
    },
  })
  const ready = name.trim() !== ''
  return (
    <Dialog
      title="Add a passkey"
      onClose={onClose}
      onSubmit={() => {
        if (ready && !add.isPending) add.mutate()
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Submit icon="fingerprint" busy={add.isPending} disabled={!ready}>
            Continue
          </Submit>
        </>
      }
    >
      <p className="quiet">
        Your device then asks for Face ID, your fingerprint, its PIN or a security key. From then on you approve payments with it.
      </p>
      <TextField label="Name" value={name} onChange={setName} maxLength={120} hint="To tell your passkeys apart." />
      <Failure error={add.error} />
    </Dialog>
  )
}

/** What the person approves with. Passkeys do not sign in. */
export const Passkeys = () => {
  const passkeys = useQuery(passkeysQuery)
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<Passkey | null>(null)
  const own = passkeys.data?.data ?? []
  return (
    <Card
      title="Passkeys"
      note="Approve payments with Face ID, a fingerprint or a security key. They don’t sign you in."
      footer={
        hasPasskeys() ? (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        ) : (
          <p className="quiet small">
            This browser has no passkeys at this address. Open the page over https, or in another browser.
          </p>
        )
      }
      flush
    >
      {passkeys.isPending && <SkeletonRows rows={1} />}
      {passkeys.isError && (
        <div className="card-body">
          <Failure error={passkeys.error} onRetry={() => void passkeys.refetch()} />
        </div>
      )}
      {passkeys.data && own.length === 0 && (
        <Empty icon="fingerprint" title="No passkeys yet">
          With one, an approval is your own signature over exactly the payment that you see.
        </Empty>
      )}
      {own.length > 0 && (
        <Rows items={own}>{(passkey) => <PasskeyRow passkey={passkey} onRemove={() => setRemoving(passkey)} />}</Rows>
      )}
      {adding && <AddDialog onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}?`}
          action="Remove"
          change={() => call(api.DELETE('/v1/accounts/me/passkeys/{id}', { params: { path: { id: removing.id } } }))}
          announcement={() => 'Passkey removed'}
          outdates={['passkeys', 'approval', 'approvals', 'inbox']}
          onClose={() => setRemoving(null)}
        >
          <p>
            You can’t approve with it any more, and approvals that you gave with it stop counting where the payment was not sent
            yet. Delete it on the device as well.
          </p>
        </Confirm>
      )}
    </Card>
  )
}
