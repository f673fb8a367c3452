import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { sessionEnded } from './page-state.ts'
import { readStoredJson, writeStored } from './store.ts'
import { dayEnd, dayStart } from './time.ts'

const prefix = 'draft:'

type Draft<Value> = { account: string; address: string; value: Value }

const read = <Value>(key: string, account: string, address: string): Value | null => {
  const draft = readStoredJson(key, 'session') as Draft<Value> | null
  return draft?.account === account && draft.address === address ? draft.value : null
}

/** Deletes all drafts at sign-out: a draft belongs to the person who typed it. */
export const forgetDrafts = (): void => {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key)
  } catch {
    // Without storage there are no drafts.
  }
}

/** State of a form that is quick to fill in again, so it is not kept. */
export const useFields = <Value>(initial: Value | (() => Value)) => {
  const [value, setValue] = useState<Value>(initial)
  return { value, set: (change: Partial<Value>) => setValue((before) => ({ ...before, ...change })) }
}

/**
 * Form state that survives the end of a session. This tab keeps it while the form is open, and restores it after the same
 * person has signed in again. Leaving the page or `clear` deletes it. The draft is bound to its URL, because another URL may
 * name another beneficiary, payment or limit.
 */
export const useDraft = <Value extends object>(name: string, account: string, initial: () => Value) => {
  const key = prefix + name
  const [address] = useState(() => location.pathname + location.search)
  // An earlier release may have stored a draft without some fields.
  const [value, setValue] = useState<Value>(() => ({ ...initial(), ...read<Value>(key, account, address) }))
  const sent = useRef(false)
  useEffect(() => {
    if (!sent.current) writeStored(key, JSON.stringify({ account, address, value }), 'session')
  }, [key, account, address, value])
  const clear = () => {
    sent.current = true
    writeStored(key, null, 'session')
  }
  useEffect(
    () => () => {
      if (!sessionEnded.get()) writeStored(key, null, 'session')
    },
    [key],
  )
  return { value, set: (change: Partial<Value>) => setValue((before) => ({ ...before, ...change })), clear }
}

/** Returns a value once it has been stable for `ms`, so that typing does not send a request for each letter. */
export const useDebounced = <Value>(value: Value, ms = 250): Value => {
  const [settled, setSettled] = useState(value)
  const content = JSON.stringify(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: compared by content, because every render creates new objects
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [content, ms])
  return settled
}

/** Keeps filters in the URL, so that a view can be saved and shared. */
export const useFilters = (excluded: readonly string[] = []) => {
  const [params, setParams] = useSearchParams()
  const change = (apply: (next: URLSearchParams) => void, replace = true) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        apply(next)
        return next
      },
      { replace },
    )
  const put = (next: URLSearchParams, name: string, value: string) => {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }
  const names = [...params.keys()].filter((name) => !excluded.includes(name))
  return {
    get: (name: string) => params.get(name),
    /** `replace`: the back button skips this change. */
    set: (name: string, value: string, replace = true) => change((next) => put(next, name, value), replace),
    field: (name: string) => ({
      value: params.get(name) ?? '',
      onChange: (value: string) => change((next) => put(next, name, value)),
    }),
    setAll: (values: Readonly<Record<string, string>>) =>
      change((next) => {
        for (const [name, value] of Object.entries(values)) put(next, name, value)
      }),
    /** Bounds for a list: the start of the first day and the end of the last. */
    days: { created_after: dayStart(params.get('from')), created_before: dayEnd(params.get('to')) },
    any: names.length > 0,
    clear: () =>
      change((next) => {
        for (const name of names) next.delete(name)
      }),
  }
}
