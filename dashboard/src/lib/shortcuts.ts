import { useEffect, useRef } from 'react'
import { createStore } from './store.ts'

const storageName = 'shortcuts'

const enabledAtStart = (): boolean => {
  try {
    return localStorage.getItem(storageName) !== 'off'
  } catch {
    return true
  }
}

/** Single-key shortcuts conflict with some tools (dictation), so they can be turned off. */
export const shortcutsOn = createStore(enabledAtStart())

export const switchShortcuts = (on: boolean): void => {
  shortcutsOn.set(on)
  try {
    localStorage.setItem(storageName, on ? 'on' : 'off')
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

const sequenceMs = 900

/** Keys by name: `a`, `?`, or a sequence such as `g p`. */
export type Shortcuts = Readonly<Record<string, () => void>>

export const useShortcuts = (shortcuts: Shortcuts): void => {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    let first: { key: string; at: number } | null = null
    const onKey = (event: KeyboardEvent) => {
      if (!shortcutsOn.get() || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (isTyping(event.target) || document.querySelector('dialog[open]')) return
      const sequence = first && event.timeStamp - first.at < sequenceMs ? `${first.key} ${event.key}` : null
      const action = (sequence && latest.current[sequence]) || latest.current[event.key]
      first = { key: event.key, at: event.timeStamp }
      if (!action) return
      first = null
      event.preventDefault()
      action()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
