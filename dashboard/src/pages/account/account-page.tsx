import { useState } from 'react'
import { api } from '../../api/queries.ts'
import { chooseNotify, chooseTheme, notifyChoices, shortcutsOn, switchShortcuts, theme, themes } from '../../lib/choices.ts'
import { useStore } from '../../lib/store.ts'
import { statusText } from '../../lib/words.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, CopyText, Icon, LinkButton } from '../../ui/button.tsx'
import { CheckField, Segments, TextField } from '../../ui/field.tsx'
import { Form, useChange } from '../../ui/form.tsx'
import { Amount, Card, ExactTime, Facts, Failure, fieldError, Page, StatusBadge } from '../../ui/page.tsx'
import { Identities } from './identities.tsx'
import { Passkeys } from './passkeys.tsx'
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
