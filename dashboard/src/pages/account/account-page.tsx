import { Page } from '../../ui/layout.tsx'
import { BalanceFacts } from './balance-facts.tsx'
import { Identities } from './identities.tsx'
import { Passkeys } from './passkeys.tsx'
import { Preferences } from './preferences.tsx'
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
