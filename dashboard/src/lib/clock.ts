import { useEffect, useState } from 'react'

let skewMs = 0

/** The service's clock decides when things expire, not this machine's. Its Date header has whole seconds, so small differences mean nothing. */
export const noteServerTime = (date: string | null): void => {
  const server = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(server)) return
  const difference = server - Date.now()
  skewMs = Math.abs(difference) > 3000 ? difference : 0
}

export const now = (): number => Date.now() + skewMs

/** The current time, rendered anew every `everyMs`. */
export const useNow = (everyMs: number): number => {
  const [time, setTime] = useState(now)
  useEffect(() => {
    const timer = setInterval(() => setTime(now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return time
}
