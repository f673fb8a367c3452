import { useSearchParams } from 'wouter'
import { dayEnd, dayStart } from './time.ts'

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
    /** For a field: what it shows and sets. */
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
    count: names.length,
    clear: () =>
      change((next) => {
        for (const name of names) next.delete(name)
      }),
  }
}
