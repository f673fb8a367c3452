// Push notifications of approvals. A message's `tag` is its approval, so each approval has one notification; a message without a title removes it.

const tell = async ({ tag, title, body, url }) => {
  const { registration } = self
  // Stays until the approval ends. Desktops remove other notifications within half a minute.
  if (title)
    return registration.showNotification(title, { tag, body, icon: '/icon-192.png', data: url, requireInteraction: true })
  // If a message shows nothing, the browser shows its own notification or ends the subscription.
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
