// Notices of approvals (Web Push). A message names its approval as `tag`, so there is one notice for each; one without a title takes it back.

const tell = async ({ tag, title, body, url }) => {
  const { registration } = self
  // It waits as long as its approval: others a desktop takes down by itself within half a minute.
  if (title)
    return registration.showNotification(title, { tag, body, icon: '/icon-192.png', data: url, requireInteraction: true })
  // A browser that is shown nothing for a message shows a notice of its own, or ends the subscription.
  await registration.showNotification('Decided', { tag, silent: true })
  for (const notice of await registration.getNotifications({ tag })) notice.close()
}

const open = async (url) => {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const page = pages.find((each) => each.url === url)
  return page ? page.focus() : self.clients.openWindow(url)
}

self.addEventListener('push', (event) => event.waitUntil(tell(event.data.json())))
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data))
})
