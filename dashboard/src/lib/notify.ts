import { createStore, keepStored, readStoredJson } from './store.ts'

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

const stored = readStoredJson('notify')

export const notifyChoices = createStore<NotifyChoices>({ ...standard, ...(typeof stored === 'object' && stored) })

export const chooseNotify = (change: Partial<NotifyChoices>): void => {
  const next = { ...notifyChoices.get(), ...change }
  notifyChoices.set(next)
  keepStored('notify', JSON.stringify(next))
}
