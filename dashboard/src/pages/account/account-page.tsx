import { chooseNotify, notifyChoices } from '../../lib/notify.ts'
import { shortcutsOn, switchShortcuts } from '../../lib/shortcuts.ts'
import { statusText } from '../../lib/status-words.ts'
import { useStore } from '../../lib/store.ts'
import { chooseTheme, theme, themes } from '../../lib/theme.ts'
import { CheckField } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/layout.tsx'
import { BalanceFacts } from './balance-facts.tsx'
import { Identities } from './identities.tsx'
import { Passkeys } from './passkeys.tsx'
import { Profile } from './profile.tsx'
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
      <div className="stack">
        <fieldset className="stack-s">
          <legend className="field-label">Theme</legend>
          <div className="segments">
            {themes.map((choice) => (
              <button
                key={choice}
                type="button"
                className="segment"
                aria-pressed={choice === current}
                onClick={() => chooseTheme(choice)}
              >
                {statusText(choice)}
              </button>
            ))}
          </div>
        </fieldset>
        <CheckField
          label="Message when an approval is needed"
          hint="While this page is open, with a link to review it."
          checked={toast}
          onChange={(toast) => chooseNotify({ toast })}
        />
        <CheckField
          label="Count in the tab"
          hint="In the tab’s title, and a dot on its icon."
          checked={badge}
          onChange={(badge) => chooseNotify({ badge })}
        />
        <CheckField label="Single-key shortcuts" hint="Press ? to see them." checked={on} onChange={switchShortcuts} />
      </div>
    </Card>
  )
}
