import { api } from '../api/queries.ts'
import { chooseNotify, notifyChoices } from './choices.ts'

const worker = '/push-worker.js'

/** On an iPhone only once the site is on the home screen. */
export const canPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

const subscriptionHere = async (): Promise<PushSubscription | null> =>
  (await (await navigator.serviceWorker.getRegistration(worker))?.pushManager.getSubscription()) ?? null

/** A subscription under another key of the service is of no use any more: it makes room. */
const subscribe = async (key: string): Promise<PushSubscriptionJSON> => {
  await navigator.serviceWorker.register(worker)
  const { pushManager } = await navigator.serviceWorker.ready
  const options = { userVisibleOnly: true, applicationServerKey: key }
  const made = pushManager.subscribe(options).catch(async (error: unknown) => {
    if (!(await (await subscriptionHere())?.unsubscribe())) throw error
    return pushManager.subscribe(options)
  })
  return (await made).toJSON()
}

/** Asks the person where the browser has not asked yet. False: they, or the browser, refused. */
export const switchPushOn = async (account: string): Promise<boolean> => {
  if ((await Notification.requestPermission()) !== 'granted') return false
  const { public_key: key } = await api.GET('/v1/push/key')
  const { endpoint = '', keys } = await subscribe(key)
  const body = { endpoint, keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } }
  const { id } = await api.POST('/v1/accounts/me/push-subscriptions', { body })
  chooseNotify({ push: { account, id }, asked: true })
  return true
}

/** In this browser, also what it shows still. The service is told apart, or ends the subscription with the session. */
export const forgetPush = async (): Promise<void> => {
  chooseNotify({ push: null })
  await (await subscriptionHere())?.unsubscribe()
  for (const notice of (await (await navigator.serviceWorker.getRegistration(worker))?.getNotifications()) ?? []) notice.close()
}

export const switchPushOff = async (id: string): Promise<void> => {
  await api.DELETE('/v1/accounts/me/push-subscriptions/{id}', { path: { id } })
  if (notifyChoices.get().push?.id === id) await forgetPush()
}

/** Switched on by the same person in an earlier session, with which it ended: it is made again. */
export const keepPush = async (account: string): Promise<void> => {
  const { push } = notifyChoices.get()
  if (push?.account !== account || !canPush() || Notification.permission !== 'granted') return
  const { data } = await api.GET('/v1/accounts/me/push-subscriptions')
  if (!data.some(({ id }) => id === push.id)) await switchPushOn(account)
}
