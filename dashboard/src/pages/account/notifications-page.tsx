import { useState } from 'react'
import { allowDesktop, chooseNotify, desktopAvailable, notifyChoices } from '../../lib/notify.ts'
import { useStore } from '../../lib/store.ts'
import { CheckField } from '../../ui/field.tsx'
import { Card, Notice, Page } from '../../ui/layout.tsx'

/** How this browser announces approvals. */
export const NotificationsPage = () => {
  const choices = useStore(notifyChoices)
  const [refused, setRefused] = useState(false)
  const switchDesktop = async (on: boolean) => {
    const allowed = on && (await allowDesktop())
    setRefused(on && !allowed)
    chooseNotify({ desktop: allowed })
  }
  return (
    <Page
      title="Notifications"
      lead="How this browser alerts you when a payment needs your approval, in any of your workspaces."
      back={{ href: '/account', label: 'Account' }}
    >
      <div className="narrow">
        <Card>
          <div className="stack">
            <CheckField
              label="Message on the page"
              hint="A short message with a link to review it."
              checked={choices.toast}
              onChange={(toast) => chooseNotify({ toast })}
            />
            <CheckField
              label="Count in the tab"
              hint="The number in the tab’s title, and a dot on its icon."
              checked={choices.badge}
              onChange={(badge) => chooseNotify({ badge })}
            />
            <CheckField
              label="Desktop notifications"
              hint="While this page is open in the background."
              checked={choices.desktop}
              onChange={(on) => void switchDesktop(on)}
            />
            {refused && (
              <Notice tone="warn" title={desktopAvailable() ? 'Blocked by your browser' : 'Not available in this browser'} live>
                <p className="quiet">Allow notifications for this site in your browser’s settings, then turn this on again.</p>
              </Notice>
            )}
          </div>
        </Card>
      </div>
    </Page>
  )
}
