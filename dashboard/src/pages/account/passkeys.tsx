import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, passkeysQuery, type Schemas } from '../../api/queries.ts'
import { deviceName } from '../../lib/device-name.ts'
import { createPasskey, hasPasskeys } from '../../passkey/passkey.ts'
import { TextField } from '../../ui/field.tsx'
import { ConfirmButton, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Card, Empty, Failure, SkeletonRows, Time } from '../../ui/page.tsx'

const PasskeyRow = ({ passkey }: { passkey: Schemas['Passkey'] }) => (
  <Item
    icon="fingerprint"
    title={passkey.name}
    note={
      <>
        Added <Time at={passkey.created_at} />
        <Time at={passkey.last_used_at} before=", last used " />
      </>
    }
  >
    <ConfirmButton
      button={{ size: 'small', variant: 'danger', label: `Remove ${passkey.name}`, children: 'Remove' }}
      title={`Remove ${passkey.name}?`}
      action="Remove"
      change={() => api.DELETE('/v1/accounts/me/passkeys/{id}', { path: { id: passkey.id } })}
      announcement={() => 'Passkey removed'}
      outdates={['passkeys', 'approval', 'approvals', 'inbox']}
    >
      <p>
        You can’t approve with it any more, and approvals that you gave with it stop counting where the payment was not sent yet.
        Delete it on the device as well.
      </p>
    </ConfirmButton>
  </Item>
)

const AddDialog = ({ onClose }: { onClose: () => void }) => {
  const [name, setName] = useState(() => deviceName(navigator.userAgent))
  const add = useChange(
    async (keyed) => {
      const credential = await createPasskey(await api.POST('/v1/accounts/me/passkeys/options'))
      return api.POST('/v1/accounts/me/passkeys', keyed({ name: name.trim(), credential }))
    },
    { announcement: 'Passkey added', outdates: ['passkeys'], onDone: onClose },
  )
  return (
    <FormDialog title="Add a passkey" action="Continue" making={add} ready={name.trim() !== ''} onClose={onClose}>
      <p className="quiet">
        Your device then asks for Face ID, your fingerprint, its PIN or a security key. From then on you approve payments with it.
      </p>
      <TextField label="Name" value={name} onChange={setName} maxLength={120} hint="To tell your passkeys apart." />
    </FormDialog>
  )
}

/** What the person approves with. Passkeys do not sign in. */
export const Passkeys = () => {
  const passkeys = useQuery(passkeysQuery)
  const own = passkeys.data?.data ?? []
  return (
    <Card
      title="Passkeys"
      note="Approve payments with Face ID, a fingerprint or a security key. They don’t sign you in."
      footer={
        hasPasskeys() ? (
          <DialogButton icon="plus" dialog={(close) => <AddDialog onClose={close} />}>
            Add a passkey
          </DialogButton>
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
      {own.length > 0 && <Rows items={own}>{(passkey) => <PasskeyRow passkey={passkey} />}</Rows>}
    </Card>
  )
}
