import { api, everyPage, parametersOf } from '../api/queries.ts'
import { chooseNotify, notifyChoices } from './choices.ts'

const worker = '/push-worker.js'

/** Whether this browser supports push notifications. An iPhone does only after the site is on its home screen. */
export const canPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

const subscriptionHere = async (): Promise<PushSubscription | null> =>
  (await (await navigator.serviceWorker.getRegistration(worker))?.pushManager.getSubscription()) ?? null

/** Subscribes this browser. A subscription under an old key of the service is useless, so it is replaced. */
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

/** Session and service key: the end of either ends a subscription. */
const readTerms = async (): Promise<{ session: string; key: string }> => {
  const sessions = everyPage(
    (cursor) => api.GET('/v1/accounts/me/sessions', { query: parametersOf({ limit: 100, cursor }) }),
    (read) => read.some(({ current }) => current),
  )
  const { public_key: key } = await api.GET('/v1/push/key')
  return { session: (await sessions).find(({ current }) => current)?.id ?? '', key }
}

/** Asks for permission if the browser has not asked yet. False: the person or the browser refused. */
export const switchPushOn = async (account: string): Promise<boolean> => {
  if ((await Notification.requestPermission()) !== 'granted') return false
  const terms = await readTerms()
  const { endpoint = '', keys } = await subscribe(terms.key)
  const body = { endpoint, keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } }
  const { id } = await api.POST('/v1/accounts/me/push-subscriptions', { body })
  chooseNotify({ push: { account, id, ...terms }, asked: true })
  return true
}

/** Unsubscribes this browser and closes its notifications. Leaves the subscription at the service unchanged. */
export const unsubscribeHere = async (): Promise<void> => {
  chooseNotify({ push: null })
  await (await subscriptionHere())?.unsubscribe()
  for (const notice of (await (await navigator.serviceWorker.getRegistration(worker))?.getNotifications()) ?? []) notice.close()
}

export const switchPushOff = async (id: string): Promise<void> => {
  await api.DELETE('/v1/accounts/me/push-subscriptions/{id}', { path: { id } })
  if (notifyChoices.get().push?.id === id) await unsubscribeHere()
}

/**
 * Restores push notifications that ended by themselves. If the session and the key are unchanged, either the person switched
 * them off in another browser or the push service ended them: they end here and are offered again.
 */
export const restorePush = async (account: string): Promise<void> => {
  const { push } = notifyChoices.get()
  if (push?.account !== account || !canPush() || Notification.permission !== 'granted') return
  const { data } = await api.GET('/v1/accounts/me/push-subscriptions')
  if (data.some(({ id }) => id === push.id)) return
  const { session, key } = await readTerms()
  if (session !== push.session || key !== push.key || !(await subscriptionHere())) {
    await switchPushOn(account)
    return
  }
  chooseNotify({ asked: false })
  await unsubscribeHere()
}
