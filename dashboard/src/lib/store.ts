import { useSyncExternalStore } from 'react'

/** A value outside React that components can follow. */
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

// A function, because a browser without storage throws as soon as the object is accessed.
const storageOf = (kind: Kind): Storage => (kind === 'local' ? localStorage : sessionStorage)

/** A value stored in this browser, or in this tab alone. Null if nothing is stored. */
export const readStored = (name: string, kind: Kind = 'local'): string | null => {
  try {
    return storageOf(kind).getItem(name)
  } catch {
    return null
  }
}

/** Stores a value; null deletes it. */
export const writeStored = (name: string, text: string | null, kind: Kind = 'local'): void => {
  try {
    if (text === null) storageOf(kind).removeItem(name)
    else storageOf(kind).setItem(name, text)
  } catch {
    // Without storage the value is lost.
  }
}

/** Parsed JSON of a stored value, unchecked: callers validate it. */
export const readStoredJson = (name: string, kind: Kind = 'local'): unknown => {
  try {
    return JSON.parse(readStored(name, kind) ?? 'null')
  } catch {
    return null
  }
}
