import { useEffect, useState } from 'react'
import { useStore } from '../lib/store.ts'
import { connection } from '../live/live.tsx'

const patienceMs = 1500

/** Over the page, so that nothing moves when it appears. Not shown for a short break. */
export const ConnectionBar = () => {
  const state = useStore(connection)
  const [visible, setVisible] = useState(false)
  useEffect(() => {
    if (state !== 'reconnecting') {
      setVisible(false)
      return undefined
    }
    const timer = setTimeout(() => setVisible(true), patienceMs)
    return () => clearTimeout(timer)
  }, [state])
  return (
    <div role="status" aria-live="polite" className="no-print">
      {visible && (
        <div className="connection">
          <span className="spinner" aria-hidden="true" />
          Reconnecting. This page may be out of date.
        </div>
      )}
    </div>
  )
}
