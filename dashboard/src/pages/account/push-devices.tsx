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
import { tAccount } from './texts.ts'

const invalidates = ['push subscriptions']

/** Turns on push notifications in this browser. `refused`: the person or the browser did not allow them. */
const useSwitchOn = () => {
  const { account } = useSession()
  const [refused, setRefused] = useState(false)
  const mutation = useChange(() => switchPushOn(account.id), { invalidates, onDone: (isOn) => setRefused(!isOn) })
  return { ...mutation, refused }
}

const PushBlocked = () => (
  <TextNotice tone="warn" title={tAccount('push.blocked')} live>
    {tAccount('push.blocked_note')}
  </TextNotice>
)

const isApple = (): boolean =>
  /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1)

/** Safari on an iPhone offers notifications only to a site opened from the home screen. */
const NoPush = () =>
  isApple() ? (
    <div className="stack-xs">
      <p className="strong">{tAccount('push.apple')}</p>
      <ol className="numbered">
        <li>{tAccount('push.apple_1')}</li>
        <li>{tAccount('push.apple_2')}</li>
        <li>{tAccount('push.apple_3')}</li>
        <li>{tAccount('push.apple_4')}</li>
      </ol>
    </div>
  ) : (
    <p className="muted small">{tAccount('push.cannot')}</p>
  )

/** Browsers that get a notification of each new approval even while no page is open. */
export const PushDevices = () => {
  const key = useQuery(pushKeyQuery)
  const query = useQuery(pushSubscriptionsQuery)
  const { push } = useStore(notifyChoices)
  const switchOn = useSwitchOn()
  const switchOff = useChange((_, id: string) => switchPushOff(id), { invalidates, announcement: tAccount('push.off_done') })
  if (hasCode(key.error, 'provider_not_configured')) return null
  const devices = query.data?.data ?? []
  const isOn = devices.some(({ id }) => id === push?.id)
  return (
    <Card
      title={tAccount('push.title')}
      note={tAccount('push.note')}
      footer={
        canPush() ? (
          !isOn && (
            <Button icon="bell" busy={switchOn.isPending} onClick={() => switchOn.mutate()}>
              {tAccount('push.on_here')}
            </Button>
          )
        ) : (
          <NoPush />
        )
      }
      flush
    >
      {devices.length === 0 && !query.isPending && <Empty icon="bell" title={tAccount('push.all_off')} />}
      <Rows items={devices}>
        {(device) => (
          <Item
            icon="screen"
            title={
              <>
                {deviceName(device.user_agent)}
                {device.id === push?.id && <Badge tone="good">{tAccount('this_browser')}</Badge>}
              </>
            }
            note={<Time at={device.created_at} before={tAccount('since')} />}
          >
            <Button
              size="small"
              variant="danger"
              busy={switchOff.isPending && switchOff.variables === device.id}
              label={tAccount('push.off_that', { device: deviceName(device.user_agent) })}
              onClick={() => switchOff.mutate(device.id)}
            >
              {tAccount('switch_off')}
            </Button>
          </Item>
        )}
      </Rows>
      {(switchOn.refused || switchOn.isError || switchOff.isError || query.isError) && (
        <div className="card-body">
          {switchOn.refused && <PushBlocked />}
          <Failure error={switchOn.error ?? switchOff.error ?? query.error} />
        </div>
      )}
    </Card>
  )
}

/** Offers push notifications after the first approval in this browser, until the person answers. */
export const PushPrompt = () => {
  const key = useQuery(pushKeyQuery)
  const on = useSwitchOn()
  if (!canPush() || !key.isSuccess || (Notification.permission === 'denied' && !on.refused)) return null
  return (
    <div className="no-print" style={{ marginBottom: '20px' }}>
      {on.refused ? (
        <PushBlocked />
      ) : (
        <Notice tone="info" title={tAccount('push.ask')}>
          <p className="muted">{tAccount('push.ask_note')}</p>
          <div className="row">
            <Button size="small" variant="primary" icon="bell" busy={on.isPending} onClick={() => on.mutate()}>
              {tAccount('switch_on')}
            </Button>
            <Button size="small" onClick={() => chooseNotify({ asked: true })}>
              {tAccount('not_now')}
            </Button>
          </div>
          <Failure error={on.error} />
        </Notice>
      )}
    </div>
  )
}
