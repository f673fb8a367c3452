import { useEffect, useRef } from 'react'
import { createStore, keepStored, readStored } from './store.ts'

/** Single-key shortcuts conflict with some tools (dictation), so they can be turned off. */
export const shortcutsOn = createStore(readStored('shortcuts') !== 'off')

export const switchShortcuts = (on: boolean): void => {
  shortcutsOn.set(on)
  keepStored('shortcuts', on ? 'on' : 'off')
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

export const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null

/** Each key that is pressed anywhere on the page. */
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

/** Keys by name: `a`, `?`, or a sequence such as `g p`. */
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
