import { useSyncExternalStore } from 'react'

/** A value outside of React that components can follow. */
export const createStore = <Value>(initial: Value) => {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next: Value): void => {
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    isFollowed: () => listeners.size > 0,
  }
}

export const useStore = <Value>(store: ReturnType<typeof createStore<Value>>): Value =>
  useSyncExternalStore(store.subscribe, store.get)

type Kind = 'local' | 'session'

// Named, because a browser without storage refuses the object itself.
const storageOf = (kind: Kind): Storage => (kind === 'local' ? localStorage : sessionStorage)

/** What this browser keeps under a name, or for this tab alone. Null where it keeps nothing. */
export const readStored = (name: string, kind: Kind = 'local'): string | null => {
  try {
    return storageOf(kind).getItem(name)
  } catch {
    return null
  }
}

/** Null deletes it. Without storage it lasts as long as the page. */
export const keepStored = (name: string, text: string | null, kind: Kind = 'local'): void => {
  try {
    if (text === null) storageOf(kind).removeItem(name)
    else storageOf(kind).setItem(name, text)
  } catch {
    // Nothing is kept.
  }
}

/** What was kept as JSON, as it is: whoever reads it looks what it has. */
export const readStoredJson = (name: string, kind: Kind = 'local'): unknown => {
  try {
    return JSON.parse(readStored(name, kind) ?? 'null')
  } catch {
    return null
  }
}
