import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deviceName } from '../../../../src/lib/device-name.ts'
import { hasCode } from '../../api/error.ts'
import { pushKeyQuery, pushSubscriptionsQuery } from '../../api/queries.ts'
import { chooseNotify, notifyChoices } from '../../lib/choices.ts'
import { canPush, switchPushOff, switchPushOn } from '../../lib/push.ts'
import { useStore } from '../../lib/store.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Item, Rows } from '../../ui/listing.tsx'
import { Badge, Card, Empty, Failure, Notice, TextNotice, Time } from '../../ui/page.tsx'

const outdates = ['push subscriptions']

/** Switches the notices on in this browser. `refused`: the person or the browser did not allow it. */
const useSwitchOn = () => {
  const { account } = useSession()
  const [refused, setRefused] = useState(false)
  const making = useChange(() => switchPushOn(account.id), { outdates, onDone: (isOn) => setRefused(!isOn) })
  return { ...making, refused }
}

const Refused = () => (
  <TextNotice tone="warn" title="Blocked by your browser" live>
    Allow notifications for this site in your browser’s settings, then switch them on again.
  </TextNotice>
)

const isApple = (): boolean =>
  /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1)

/** Safari on an iPhone offers notifications only to a site that was opened from the home screen. */
const NoPush = () =>
  isApple() ? (
    <div className="stack-xs">
      <p className="strong">On an iPhone or iPad, in this order:</p>
      <ol className="numbered">
        <li>Update to iOS 16.4 or later.</li>
        <li>Open this page in Safari, press Share, then “Add to Home Screen”.</li>
        <li>Open Payments from the home screen and sign in there.</li>
        <li>Go to Account, press “Switch on in this browser” and allow notifications.</li>
      </ol>
    </div>
  ) : (
    <p className="quiet small">This browser can’t show notices. Use a current Chrome, Edge, Firefox or Safari.</p>
  )

/** The browsers that get a notice of each approval while no page of ours is open. */
export const PushDevices = () => {
  const key = useQuery(pushKeyQuery)
  const query = useQuery(pushSubscriptionsQuery)
  const { push } = useStore(notifyChoices)
  const on = useSwitchOn()
  const off = useChange((_, id: string) => switchPushOff(id), { outdates, announcement: 'Notices are off there' })
  if (hasCode(key.error, 'provider_not_configured')) return null
  const devices = query.data?.data ?? []
  const isOn = devices.some(({ id }) => id === push?.id)
  return (
    <Card
      title="Notices of approvals"
      note="A notice on this device for each approval that waits for you, also while this page is closed. It shows the amount and the payee."
      footer={
        canPush() ? (
          !isOn && (
            <Button icon="bell" busy={on.isPending} onClick={() => on.mutate()}>
              Switch on in this browser
            </Button>
          )
        ) : (
          <NoPush />
        )
      }
      flush
    >
      {devices.length === 0 && !query.isPending && <Empty icon="bell" title="Off on every device" />}
      <Rows items={devices}>
        {(device) => (
          <Item
            icon="screen"
            title={
              <>
                {deviceName(device.user_agent)}
                {device.id === push?.id && <Badge tone="good">This browser</Badge>}
              </>
            }
            note={<Time at={device.created_at} before="Since " />}
          >
            <Button
              size="small"
              variant="danger"
              busy={off.isPending && off.variables === device.id}
              label={`Switch off: ${deviceName(device.user_agent)}`}
              onClick={() => off.mutate(device.id)}
            >
              Switch off
            </Button>
          </Item>
        )}
      </Rows>
      {(on.refused || on.isError || off.isError || query.isError) && (
        <div className="card-body">
          {on.refused && <Refused />}
          <Failure error={on.error ?? off.error ?? query.error} />
        </div>
      )}
    </Card>
  )
}

/** Once, after the first approval in this browser. */
export const PushAsk = () => {
  const key = useQuery(pushKeyQuery)
  const on = useSwitchOn()
  if (!canPush() || !key.isSuccess || (Notification.permission === 'denied' && !on.refused)) return null
  return (
    <div className="no-print" style={{ marginBottom: '20px' }}>
      {on.refused ? (
        <Refused />
      ) : (
        <Notice tone="info" title="Hear of the next approval on this device?">
          <p className="quiet">
            A notice with the amount and the payee, also while this page is closed. You can switch it off in your account.
          </p>
          <div className="row">
            <Button size="small" variant="primary" icon="bell" busy={on.isPending} onClick={() => on.mutate()}>
              Switch on
            </Button>
            <Button size="small" onClick={() => chooseNotify({ asked: true })}>
              Not now
            </Button>
          </div>
          <Failure error={on.error} />
        </Notice>
      )}
    </div>
  )
}
