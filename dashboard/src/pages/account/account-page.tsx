import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deviceName } from '../../../../src/lib/device-name.ts'
import { api, passkeysQuery, type Schemas } from '../../api/queries.ts'
import { chooseNotify, chooseTheme, notifyChoices, shortcutsOn, switchShortcuts, theme, themes } from '../../lib/choices.ts'
import { useStore } from '../../lib/store.ts'
import { statusText } from '../../lib/words.ts'
import { createPasskey, hasPasskeys } from '../../passkey/passkey.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, CopyText, Icon, LinkButton } from '../../ui/button.tsx'
import { CheckField, Segments, TextField } from '../../ui/field.tsx'
import { ConfirmButton, DialogButton, Form, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import {
  Amount,
  Card,
  Empty,
  ExactTime,
  Facts,
  Failure,
  fieldError,
  Page,
  SkeletonRows,
  StatusBadge,
  Time,
} from '../../ui/page.tsx'
import { Identities } from './identities.tsx'
import { PushDevices } from './push-devices.tsx'
import { Sessions } from './sessions.tsx'

export const AccountPage = () => (
  <Page title="Account" lead="Your profile, sign-in methods, passkeys and sessions.">
    <div className="split">
      <div className="stack">
        <Profile />
        <Identities />
        <Passkeys />
        <PushDevices />
        <Sessions />
      </div>
      <div className="stack split-aside">
        <BalanceFacts />
        <Preferences />
      </div>
    </div>
  </Page>
)

const Preferences = () => {
  const current = useStore(theme)
  const on = useStore(shortcutsOn)
  const { toast, badge } = useStore(notifyChoices)
  return (
    <Card title="This browser">
      <Segments
        label="Theme"
        value={current}
        onChange={chooseTheme}
        choices={themes.map((value) => ({ value, label: statusText(value) }))}
      />
      <CheckField
        label="Message when an approval is needed"
        hint="While this page is open, with a link to review it."
        value={toast}
        onChange={(toast) => chooseNotify({ toast })}
      />
      <CheckField
        label="Count in the tab"
        hint="In the tab’s title, and a dot on its icon."
        value={badge}
        onChange={(badge) => chooseNotify({ badge })}
      />
      <CheckField label="Single-key shortcuts" hint="Press ? to see them." value={on} onChange={switchShortcuts} />
    </Card>
  )
}

const Profile = () => {
  const { account } = useSession()
  const [name, setName] = useState(account.display_name ?? '')
  const save = useChange(() => api.PATCH('/v1/accounts/me', { body: { display_name: name.trim() || null } }), {
    announcement: 'Name saved',
    outdates: ['account'],
  })
  const changed = name.trim() !== (account.display_name ?? '')
  return (
    <Card title="Profile">
      <Form className="stack" ready={changed} busy={save.isPending} onSubmit={() => save.mutate()}>
        <div className="row" style={{ alignItems: 'end' }}>
          <div className="grow">
            <TextField
              label="Display name"
              value={name}
              onChange={setName}
              maxLength={120}
              autoComplete="name"
              placeholder={nameOf(account)}
              error={fieldError(save.error, 'display_name')}
            />
          </div>
          <Button type="submit" busy={save.isPending} disabled={!changed}>
            Save
          </Button>
        </div>
        {save.error && !fieldError(save.error, 'display_name') && <Failure error={save.error} />}
        <Facts
          facts={{
            Email: account.email ?? <span className="faint">None. Link Google or GitHub to add one</span>,
            'Account ID': <CopyText value={account.id} text="Copy" label="account ID" />,
            Status: <StatusBadge status={account.status} />,
            Created: <ExactTime at={account.created_at} />,
          }}
        />
      </Form>
    </Card>
  )
}

const names: Readonly<Record<string, string>> = {
  topups: 'Top up',
  payments: 'Pay',
  api_keys: 'Create API keys',
  oauth: 'Connect agents',
}

const BalanceFacts = () => {
  const { account } = useSession()
  const { balance } = account
  return (
    <Card title="Balance">
      <div>
        <p className="quiet small">Available</p>
        <Amount minor={balance.available_minor} currency={balance.currency} size="medium" />
      </div>
      <p className="quiet small">
        <Amount minor={balance.held_minor} currency={balance.currency} /> held for payments in progress
      </p>
      <ul className="stack-xs" aria-label="What this account can do">
        {Object.entries(account.capabilities).map(([capability, state]) => (
          <li key={capability} className="row row-tight">
            <span className={state === 'active' ? 'good-text' : 'faint'}>
              <Icon name={state === 'active' ? 'check' : 'cross'} size={16} />
            </span>
            <span className={state === 'active' ? undefined : 'faint'}>
              {names[capability] ?? 'Other'}
              {state === 'disabled' && ' (disabled)'}
            </span>
          </li>
        ))}
      </ul>
      <LinkButton href="/top-up" icon="topup" wide>
        Top up
      </LinkButton>
    </Card>
  )
}

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
