import { useEffect, useRef } from 'react'

/** A person who is already signed in continues to where they were going. */
export const Leave = ({ go }: { go: () => void }) => {
  const left = useRef(false)
  useEffect(() => {
    if (left.current) return
    left.current = true
    go()
  }, [go])
  return null
}
