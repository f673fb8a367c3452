import { createStore } from './store.ts'

const storageName = 'notify'

/** How this browser announces a new approval. */
export type NotifyChoices = {
  toast: boolean
  badge: boolean
  /** Who gets notices here while the page is closed, and by which subscription. Off until a person switches them on. */
  push: { account: string; id: string } | null
  /** Someone has approved here. Nobody is asked about notices before that, and nobody twice. */
  approved: boolean
  asked: boolean
}

const standard: NotifyChoices = { toast: true, badge: true, push: null, approved: false, asked: false }

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
