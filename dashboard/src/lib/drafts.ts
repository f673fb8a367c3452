import { useEffect, useRef, useState } from 'react'
import { sessionEnded } from './session-end.ts'

const prefix = 'draft:'

type Draft<Value> = { account: string; value: Value }

const read = <Value>(key: string, account: string): Value | null => {
  try {
    const text = sessionStorage.getItem(key)
    const draft: Draft<Value> | null = text === null ? null : JSON.parse(text)
    return draft?.account === account ? draft.value : null
  } catch {
    return null
  }
}

const write = <Value>(key: string, draft: Draft<Value>): void => {
  try {
    sessionStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // Without storage a form lasts as long as its page.
  }
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
    if (!sent.current) write(key, { account, value })
  }, [key, account, value])
  const clear = () => {
    sent.current = true
    sessionStorage.removeItem(key)
  }
  useEffect(
    () => () => {
      if (!sessionEnded.get()) sessionStorage.removeItem(key)
    },
    [key],
  )
  return { value, set: (change: Partial<Value>) => setValue((before) => ({ ...before, ...change })), clear }
}
