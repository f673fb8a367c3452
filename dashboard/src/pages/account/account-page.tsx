import { useState } from 'react'
import { deviceName } from '../../../../src/lib/device-name.ts'
import { api, passkeysQuery, type Schemas } from '../../api/queries.ts'
import { chooseNotify, chooseTheme, notifyChoices, shortcutsOn, switchShortcuts, theme, themes } from '../../lib/choices.ts'
import { t } from '../../lib/language.ts'
import { useStore } from '../../lib/store.ts'
import { statusText } from '../../lib/words.ts'
import { createPasskey, hasPasskeys } from '../../passkey/passkey.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { CheckField, Segments, TextField } from '../../ui/field.tsx'
import { ConfirmButton, DialogButton, Form, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Failure, fieldError, Page, StatusBadge, Time } from '../../ui/page.tsx'
import { Identities } from './identities.tsx'
import { MailSettings } from './mail-settings.tsx'
import { PushDevices } from './push-devices.tsx'
import { Sessions } from './sessions.tsx'
import { richAccount, tAccount } from './texts.ts'

export const AccountPage = () => (
  <Page title={t('nav.account')} lead={tAccount('lead')}>
    <div className="split">
      <div className="stack">
        <Profile />
        <Identities />
        <Passkeys />
        <PushDevices />
        <Sessions />
      </div>
      <div className="stack">
        <MailSettings />
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
    <Card title={tAccount('this_browser')}>
      <Segments
        label={tAccount('theme')}
        value={current}
        onChange={chooseTheme}
        choices={themes.map((value) => ({ value, label: statusText(value) }))}
      />
      <CheckField
        label={tAccount('notify.toast')}
        hint={tAccount('notify.toast_hint')}
        value={toast}
        onChange={(toast) => chooseNotify({ toast })}
      />
      <CheckField
        label={tAccount('notify.badge')}
        hint={tAccount('notify.badge_hint')}
        value={badge}
        onChange={(badge) => chooseNotify({ badge })}
      />
      <CheckField label={tAccount('single_keys')} hint={tAccount('single_keys.hint')} value={on} onChange={switchShortcuts} />
    </Card>
  )
}

const Profile = () => {
  const { account } = useSession()
  const [name, setName] = useState(account.display_name ?? '')
  const save = useChange(() => api.PATCH('/v1/accounts/me', { body: { display_name: name.trim() || null } }), {
    announcement: tAccount('name_saved'),
    invalidates: ['account'],
  })
  const changed = name.trim() !== (account.display_name ?? '')
  const disabled = Object.entries(account.capabilities).filter(([, state]) => state === 'disabled')
  return (
    <Card title={tAccount('profile')}>
      <Form className="stack" ready={changed} busy={save.isPending} onSubmit={() => save.mutate()}>
        <div className="row" style={{ alignItems: 'end' }}>
          <div className="grow">
            <TextField
              label={tAccount('display_name')}
              value={name}
              onChange={setName}
              maxLength={120}
              autoComplete="name"
              placeholder={nameOf(account)}
              error={fieldError(save.error, 'display_name')}
            />
          </div>
          <Button type="submit" busy={save.isPending} disabled={!changed}>
            {tAccount('save')}
          </Button>
        </div>
        {save.error && !fieldError(save.error, 'display_name') && <Failure error={save.error} />}
        <Facts
          facts={{
            [tAccount('email')]: account.email ?? <span className="faint">{tAccount('email.none')}</span>,
            [tAccount('account_id')]: <CopyText value={account.id} text={t('copy')} label={tAccount('account_id.it')} />,
            [t('status')]: <StatusBadge status={account.status} />,
            [tAccount('created')]: <ExactTime at={account.created_at} />,
            [tAccount('disabled')]: disabled.map(([capability]) => names[capability] ?? tAccount('other')).join(', '),
          }}
        />
      </Form>
    </Card>
  )
}

const names: Readonly<Record<string, string>> = {
  topups: t('top_up'),
  payments: t('nav.pay'),
  api_keys: tAccount('create_keys'),
  oauth: tAccount('connect_agents'),
}

const PasskeyRow = ({ passkey }: { passkey: Schemas['Passkey'] }) => (
  <Item
    icon="fingerprint"
    title={passkey.name}
    note={richAccount('passkey.added_at', {
      at: <Time at={passkey.created_at} />,
      at2: <Time at={passkey.last_used_at} before={tAccount('last_used')} />,
    })}
  >
    <ConfirmButton
      button={{
        size: 'small',
        variant: 'danger',
        label: tAccount('remove_what', { name: passkey.name }),
        children: tAccount('remove'),
      }}
      title={tAccount('passkey.remove_title', { name: passkey.name })}
      action={tAccount('remove')}
      change={() => api.DELETE('/v1/accounts/me/passkeys/{id}', { path: { id: passkey.id } })}
      announcement={() => tAccount('passkey.removed')}
      invalidates={['passkeys', 'approval', 'approvals', 'inbox']}
    >
      <p>{tAccount('passkey.remove_note')}</p>
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
    { announcement: tAccount('passkey.added'), invalidates: ['passkeys'], onDone: onClose },
  )
  return (
    <FormDialog
      title={t('add_passkey')}
      action={tAccount('continue')}
      mutation={add}
      ready={name.trim() !== ''}
      onClose={onClose}
    >
      <p className="muted">{tAccount('passkey.how')}</p>
      <TextField label={tAccount('name')} value={name} onChange={setName} maxLength={120} hint={tAccount('passkey.name_hint')} />
    </FormDialog>
  )
}

/** Passkeys for approvals, not for sign-in. */
const Passkeys = () => (
  <List
    title={tAccount('passkeys')}
    note={tAccount('passkeys.note')}
    query={passkeysQuery}
    rows={1}
    footer={
      hasPasskeys() ? (
        <DialogButton icon="plus" dialog={(close) => <AddDialog onClose={close} />}>
          {t('add_passkey')}
        </DialogButton>
      ) : (
        <p className="muted small">{tAccount('passkeys.cannot')}</p>
      )
    }
    empty={
      <Empty icon="fingerprint" title={tAccount('passkeys.none')}>
        {tAccount('passkeys.none_note')}
      </Empty>
    }
  >
    {(passkey) => <PasskeyRow passkey={passkey} />}
  </List>
)
