import { useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { sessionEnded } from './page-state.ts'
import { keepStored, readStoredJson } from './store.ts'
import { dayEnd, dayStart } from './time.ts'

const prefix = 'draft:'

type Draft<Value> = { account: string; address: string; value: Value }

const read = <Value>(key: string, account: string, address: string): Value | null => {
  const draft = readStoredJson(key, 'session') as Draft<Value> | null
  return draft?.account === account && draft.address === address ? draft.value : null
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
 * signed in again, and deleted when they leave the page or `clear` it after it was sent. Only for the same address: another one may name
 * another beneficiary, payment or limit to start with.
 */
export const useDraft = <Value>(name: string, account: string, initial: () => Value) => {
  const key = prefix + name
  const [address] = useState(() => location.pathname + location.search)
  const [value, setValue] = useState<Value>(() => read<Value>(key, account, address) ?? initial())
  const sent = useRef(false)
  useEffect(() => {
    if (!sent.current) keepStored(key, JSON.stringify({ account, address, value }), 'session')
  }, [key, account, address, value])
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

/** The value once it has not changed for a moment, so that typing does not send a request for each letter. */
export const useDebounced = <Value>(value: Value, ms = 250): Value => {
  const [settled, setSettled] = useState(value)
  const content = JSON.stringify(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: by content, as objects are made anew at every render
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [content, ms])
  return settled
}

/** Filters live in the address, so that a view can be kept and shared. */
export const useFilters = (apart: readonly string[] = []) => {
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
  const names = [...params.keys()].filter((name) => !apart.includes(name))
  return {
    get: (name: string) => params.get(name),
    /** `replace`: going back leads to what was before it. */
    set: (name: string, value: string, replace = true) => change((next) => put(next, name, value), replace),
    field: (name: string) => ({
      value: params.get(name) ?? '',
      onChange: (value: string) => change((next) => put(next, name, value)),
    }),
    setAll: (values: Readonly<Record<string, string>>) =>
      change((next) => {
        for (const [name, value] of Object.entries(values)) put(next, name, value)
      }),
    /** From the first day to the last one, as a list is asked for them. */
    days: { created_after: dayStart(params.get('from')), created_before: dayEnd(params.get('to')) },
    any: names.length > 0,
    clear: () =>
      change((next) => {
        for (const name of names) next.delete(name)
      }),
  }
}
