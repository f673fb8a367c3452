import { createStore } from './store.ts'

const storageName = 'notify'

/** How this browser announces a new approval. Desktop notifications are off until a person turns them on. */
export type NotifyChoices = { toast: boolean; badge: boolean; desktop: boolean }

const standard: NotifyChoices = { toast: true, badge: true, desktop: false }

const stored = (): NotifyChoices => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return { ...standard, ...(typeof stored === 'object' ? stored : {}) }
  } catch {
    return standard
  }
}

export const notifyChoices = createStore<NotifyChoices>(stored())

export const chooseNotify = (change: Partial<NotifyChoices>): void => {
  const next = { ...notifyChoices.get(), ...change }
  notifyChoices.set(next)
  try {
    localStorage.setItem(storageName, JSON.stringify(next))
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

export const desktopAvailable = (): boolean => 'Notification' in window

/** Requests the browser's permission. Returns whether it is granted. */
export const allowDesktop = async (): Promise<boolean> =>
  desktopAvailable() && (await Notification.requestPermission()) === 'granted'

/** One notification for an approval, however many tabs are open. Only while no tab of ours is visible. */
export const notifyDesktop = (title: string, body: string, tag: string, open: () => void): void => {
  if (!notifyChoices.get().desktop || !desktopAvailable() || Notification.permission !== 'granted' || !document.hidden) return
  const notification = new Notification(title, { body, tag, icon: '/icon.svg' })
  notification.onclick = () => {
    window.focus()
    open()
    notification.close()
  }
}
