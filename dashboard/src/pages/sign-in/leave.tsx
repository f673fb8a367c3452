import { useEffect, useRef } from 'react'

/** Somebody who is signed in already goes where they were going. */
export const Leave = ({ go }: { go: () => void }) => {
  const left = useRef(false)
  useEffect(() => {
    if (left.current) return
    left.current = true
    go()
  }, [go])
  return null
}
