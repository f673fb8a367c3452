import { useEffect, useRef } from 'react'
import { createStore, readStored, readStoredJson, writeStored } from './store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const shown = themes.find((name) => name === document.documentElement.dataset.theme)

export const theme = createStore<Theme>(shown ?? 'system')

export const chooseTheme = (choice: Theme): void => {
  if (choice === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = choice
  writeStored('theme', choice === 'system' ? null : choice)
  theme.set(choice)
}

/** Single-key shortcuts conflict with some tools, such as dictation, so a person can turn them off. */
export const shortcutsOn = createStore(readStored('shortcuts') !== 'off')

export const switchShortcuts = (on: boolean): void => {
  shortcutsOn.set(on)
  writeStored('shortcuts', on ? 'on' : 'off')
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

export const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null

export const usePageKey = (onKey: (event: KeyboardEvent) => void): void => {
  const latest = useRef(onKey)
  latest.current = onKey
  useEffect(() => {
    const listen = (event: KeyboardEvent) => latest.current(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

const sequenceMs = 900

/** Actions by key: `a`, `?`, or a sequence such as `g p`. */
export type Shortcuts = Readonly<Record<string, () => void>>

export const useShortcuts = (shortcuts: Shortcuts): void => {
  const first = useRef<{ key: string; at: number } | null>(null)
  usePageKey((event) => {
    if (!shortcutsOn.get() || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (isTyping(event.target) || isDialogOpen()) return
    const before = first.current
    const sequence = before && event.timeStamp - before.at < sequenceMs ? `${before.key} ${event.key}` : null
    const action = (sequence && shortcuts[sequence]) || shortcuts[event.key]
    first.current = action ? null : { key: event.key, at: event.timeStamp }
    if (!action) return
    event.preventDefault()
    action()
  })
}

/** A subscription to push notifications, with the session and the service's key that it ends with. */
export type PushChoice = { account: string; id: string; session?: string; key?: string }

/** Ways in which this browser announces new approvals. */
export type NotifyChoices = {
  toast: boolean
  badge: boolean
  /** Account and subscription that get push notifications in this browser. Null: off. */
  push: PushChoice | null
  /** Whether a person has approved in this browser. Push notifications are offered only then, and until `asked`. */
  approved: boolean
  asked: boolean
}

const defaultChoices: NotifyChoices = { toast: true, badge: true, push: null, approved: false, asked: false }

const stored = readStoredJson('notify')

export const notifyChoices = createStore<NotifyChoices>({ ...defaultChoices, ...(typeof stored === 'object' && stored) })

export const chooseNotify = (change: Partial<NotifyChoices>): void => {
  const next = { ...notifyChoices.get(), ...change }
  notifyChoices.set(next)
  writeStored('notify', JSON.stringify(next))
}
