import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { PushBrowser, Received } from '../harness/push-service.ts'

export type Notice = { title: string; body: string; tag: string; requireInteraction: boolean }

/** Chromium lacks a push service here: pages use the emulated one, and the debugging protocol gives the worker its messages. */
export type PagePush = {
  /** Hands new messages to the worker, and again those that it has not processed, as a push service does (RFC 8030, 6.2). */
  deliver: () => Promise<void>
  shown: () => Promise<Notice[]>
  /** Presses the notification with this tag, and returns its target. */
  press: (tag: string) => Promise<string>
}

/** A script for pages: a browser whose push service answers with this subscription, which outlives the page. */
export const subscribing = (subscription: PushBrowser['subscription']): string => `{
  const subscription = {
    toJSON: () => ({ ...${JSON.stringify(subscription)}, expirationTime: null }),
    unsubscribe: async () => { sessionStorage.removeItem('subscribed'); return true },
  }
  PushManager.prototype.getSubscription = async () => (sessionStorage.getItem('subscribed') ? subscription : null)
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    window.subscribedBy = applicationServerKey
    sessionStorage.setItem('subscribed', 'yes')
    return subscription
  }
}`

/** Call it before the loaded page subscribes. */
export const emulatePush = async (
  context: BrowserContext,
  page: Page,
  { subscription, received }: PushBrowser,
): Promise<PagePush> => {
  await context.grantPermissions(['notifications'])
  await page.evaluate(subscribing(subscription))
  const protocol: CDPSession = await context.newCDPSession(page)
  const registered = Promise.withResolvers<string>()
  protocol.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    const [own] = registrations.filter(({ isDeleted }) => !isDeleted)
    if (own) registered.resolve(own.registrationId)
  })
  await protocol.send('ServiceWorker.enable')
  const origin = new URL(page.url()).origin
  const delivered: Received[] = []
  const worker = async () => {
    const known = context.serviceWorkers().at(-1)
    return known ?? context.waitForEvent('serviceworker')
  }
  const shown = () =>
    page.evaluate<Notice[]>(
      `navigator.serviceWorker.ready.then((registration) => registration.getNotifications()).then((all) => all.map(({ title, body, tag, requireInteraction }) => ({ title, body, tag, requireInteraction })))`,
    )
  const isDone = async ({ tag, title }: Partial<Notice>) =>
    (await shown()).some((notice) => notice.tag === tag) === Boolean(title)
  return {
    deliver: async () => {
      const registrationId = await registered.promise
      for (const message of received.slice(delivered.length)) {
        delivered.push(message)
        await expect
          .poll(
            async () => {
              await protocol.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: message.text })
              return isDone(JSON.parse(message.text))
            },
            { interval: 500 },
          )
          .toBe(true)
      }
    },
    shown,
    // The browser lets a worker open a window, and wait, only for the browser's own press.
    press: async (tag) =>
      (await worker()).evaluate<string>(`(async () => {
        const opened = Promise.withResolvers()
        self.clients.openWindow = async (url) => opened.resolve(url)
        ExtendableEvent.prototype.waitUntil = () => undefined
        const [notification] = await self.registration.getNotifications({ tag: ${JSON.stringify(tag)} })
        self.dispatchEvent(new NotificationEvent('notificationclick', { notification }))
        return opened.promise
      })()`),
  }
}
