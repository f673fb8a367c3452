import { useEffect, useState } from 'react'

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
