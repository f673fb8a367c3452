import { useEffect, useRef, useState } from 'react'
import { sessionEnded } from './session-end.ts'
import { keepStored, readStoredJson } from './storage.ts'

const prefix = 'draft:'

type Draft<Value> = { account: string; value: Value }

const read = <Value>(key: string, account: string): Value | null => {
  const draft = readStoredJson(key, 'session') as Draft<Value> | null
  return draft?.account === account ? draft.value : null
}

/** A draft belongs to the person who typed it: it is deleted when they sign out, and no one else sees it. */
export const forgetDrafts = (): void => {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // Nothing was kept.
  }
}

/** The fields of a form that is soon typed again. */
export const useFields = <Value>(initial: Value | (() => Value)) => {
  const [value, setValue] = useState<Value>(initial)
  return { value, set: (change: Partial<Value>) => setValue((before) => ({ ...before, ...change })) }
}

/**
 * The state of a form that survives the end of a session: kept in this tab while the form is open, restored after the same person has
 * signed in again, and deleted when they leave the page or `clear` it after it was sent.
 */
export const useDraft = <Value>(name: string, account: string, initial: () => Value) => {
  const key = prefix + name
  const [value, setValue] = useState<Value>(() => read<Value>(key, account) ?? initial())
  const sent = useRef(false)
  useEffect(() => {
    if (!sent.current) keepStored(key, JSON.stringify({ account, value }), 'session')
  }, [key, account, value])
  const clear = () => {
    sent.current = true
    keepStored(key, null, 'session')
  }
  useEffect(
    () => () => {
      if (!sessionEnded.get()) keepStored(key, null, 'session')
    },
    [key],
  )
  return { value, set: (change: Partial<Value>) => setValue((before) => ({ ...before, ...change })), clear }
}
